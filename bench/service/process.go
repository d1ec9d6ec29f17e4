package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// processor returns the processor time that a process has taken so far; 0 without one.
func processor(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(rest)
	const user, system = 11, 12 // behind the name
	ticks := 0
	for _, at := range []int{user, system} {
		n, err := strconv.Atoi(words[at])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// resident returns the memory of a process in bytes; 0 without one.
func resident(pid int) (int64, error) {
	if pid == 0 {
		return 0, nil
	}
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
