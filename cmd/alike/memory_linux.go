package main

import (
	"bytes"
	"os"
	"strconv"

	"github.com/dustin/go-humanize"
)

// residentMemory returns the process's resident size for people.
func residentMemory() string {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return "memory unknown"
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return "memory unknown"
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return "memory unknown"
	}
	return humanize.IBytes(pages * uint64(os.Getpagesize()))
}
