//go:build !linux

package main

import (
	"runtime"

	"github.com/dustin/go-humanize"
)

// residentMemory returns what the runtime has obtained from the system.
func residentMemory() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return humanize.IBytes(m.Sys - m.HeapReleased)
}
