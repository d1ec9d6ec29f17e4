//go:build !linux

package index

func preallocate(int, int64, int64) error { return nil }
func prefetch(int, int64, int64) error    { return nil }
func startWriting(int, int64) error       { return nil }
