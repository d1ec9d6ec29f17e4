//go:build !linux

package main

// releaseStartPages does nothing on systems for which it is not implemented.
func releaseStartPages() {}
