package keytable

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// advised has the large pages that the kernel was asked for.
var advised sync.Map // of uintptr

// askForLargePages asks the kernel for a page of 2 MiB where an array begins, if that has not been done. The entries of a
// document are on as many pages as it has keys: with pages of 4 KiB the addresses of all of them miss the processor's
// cache of addresses. Other memory of the heap on the same page gains as well. It is advice: an error changes nothing.
func askForLargePages(entries []uint64) {
	const size = 2 << 20
	page := uintptr(unsafe.Pointer(unsafe.SliceData(entries))) &^ (size - 1)
	if _, done := advised.LoadOrStore(page, true); !done {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, page, size, unix.MADV_HUGEPAGE)
	}
}
