//go:build !windows

package main

import "os"

// obeysEscapes tells whether a terminal moves its cursor when it is told to by escape sequences.
func obeysEscapes(*os.File) bool { return os.Getenv("TERM") != "dumb" }
