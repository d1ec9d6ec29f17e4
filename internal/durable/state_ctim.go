//go:build unix && !(darwin || freebsd || netbsd || ios)

package durable

import "syscall"

func changeTime(st *syscall.Stat_t) *syscall.Timespec { return &st.Ctim }
