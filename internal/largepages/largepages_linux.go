// Package largepages asks the kernel for pages of 2 MiB for memory that is read at random places. With pages of 4 KiB each
// access misses the processor's cache of addresses as well. It is advice: nothing depends on it.
package largepages

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const size = 2 << 20 // of a page

// asked has the pages that the kernel was asked for, by their addresses; last has some of them in a form that is quick.
var (
	asked sync.Map
	last  [1 << 8]atomic.Uintptr
)

// Ask asks for the pages on which an array lies, if that has not been done. It works best before the array is used.
// Other memory of the heap on the same pages gains as well.
func Ask(words []uint64) {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	for page := begin &^ (size - 1); page < begin+uintptr(len(words)*8); page += size {
		known := &last[page/size%uintptr(len(last))]
		if known.Load() == page {
			continue
		}
		if _, done := asked.LoadOrStore(page, true); !done {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, page, size, unix.MADV_HUGEPAGE)
		}
		known.Store(page)
	}
}
