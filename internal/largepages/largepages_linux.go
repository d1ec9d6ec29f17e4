// Package largepages asks the kernel for pages of 2 MiB for memory that is read at random places. With pages of 4 KiB each
// access misses the processor's cache of addresses as well. It is advice: nothing depends on it.
package largepages

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asked has the pages that the kernel was asked for.
var asked sync.Map // of uintptr

// Ask asks for the pages on which an array lies, if that has not been done. It works best before the array is used.
// Other memory of the heap on the same pages gains as well.
func Ask(words []uint64) {
	const size = 2 << 20
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	for page := begin &^ (size - 1); page < begin+uintptr(len(words)*8); page += size {
		if _, done := asked.LoadOrStore(page, true); !done {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, page, size, unix.MADV_HUGEPAGE)
		}
	}
}
