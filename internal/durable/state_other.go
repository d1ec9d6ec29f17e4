//go:build !unix

package durable

import "io/fs"

func status(fs.FileInfo) (inode uint64, changed int64) { return 0, 0 }

func number(fs.FileInfo) (device, inode uint64) { return 0, 0 }

func linkCount(fs.FileInfo) uint64 { return 1 }
