package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// releaseStartPages gives back the pages of the program's code and constants that
// have come into memory before main. Most were touched once, by the
// initialisation of packages that this run may never use, foremost the clients
// of object stores: 10 MiB of 20, which would count against --memory to the end.
// What is used comes back from the page cache. It takes less than a millisecond;
// where it does not work, nothing changes.
func releaseStartPages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		// address-address permissions offset device inode path
		fields := bytes.SplitN(lines.Bytes(), []byte(" "), 3)
		if len(fields) < 3 || len(fields[1]) < 2 || fields[1][1] == 'w' || !bytes.HasSuffix(fields[2], []byte(" "+exe)) {
			continue
		}
		from, to, _ := bytes.Cut(fields[0], []byte("-"))
		start, err := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err != nil || err2 != nil {
			continue
		}
		// Read-only pages of a file: dropping them loses nothing.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(start), uintptr(end-start), syscall.MADV_DONTNEED)
	}
}
