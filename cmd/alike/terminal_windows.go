package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// obeysEscapes tells whether a terminal moves its cursor when it is told to by escape sequences. Windows wants to be asked.
func obeysEscapes(terminal *os.File) bool {
	var mode uint32
	h := windows.Handle(terminal.Fd())
	return windows.GetConsoleMode(h, &mode) == nil &&
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
