//go:build !linux

package main

// releaseStartPages does nothing: only Linux tells a process which pages it could give back.
func releaseStartPages() {}
