package durable

import "io/fs"

// State tells one state of a file's bytes from another: size, time of change and, where
// the system has them, the number of the file (inode) and the time when the system has last
// changed anything of it. That time cannot be set by a program. It changes with the
// file's name, links, owner and permissions too.
type State struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Inode    uint64
	Changed  int64 // nanoseconds since 1970; 0: not known
}

// StateOf returns the state of a file.
func StateOf(info fs.FileInfo) State {
	s := State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.Inode, s.Changed = status(info)
	return s
}

// SameFile tells whether two looks met one file, whatever has happened to its bytes in
// between. Where files have no numbers it is always true.
func SameFile(a, b fs.FileInfo) bool {
	deviceA, inodeA := number(a)
	deviceB, inodeB := number(b)
	return deviceA == deviceB && inodeA == inodeB
}
