package durable

import "io/fs"

// State identifies a state of a file's bytes: size, time of modification and, where the system has
// them, the number of the file (inode) and the time of the last change of its status. No program
// can set that time. It also changes with the file's name, links, owner and permissions.
type State struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Inode    uint64
	Changed  int64 // nanoseconds since 1970; 0: unknown
}

func StateOf(info fs.FileInfo) State {
	s := State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.Inode, s.Changed = status(info)
	return s
}

// SameFile tells whether a and b describe one file, even if its bytes have changed in between.
// Where files have no numbers it is always true.
func SameFile(a, b fs.FileInfo) bool {
	deviceA, inodeA := number(a)
	deviceB, inodeB := number(b)
	return deviceA == deviceB && inodeA == inodeB
}
