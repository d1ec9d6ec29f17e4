//go:build !linux

package main

// releaseStartPages does nothing where it is not known how to.
func releaseStartPages() {}
