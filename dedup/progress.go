package dedup

// Progress receives the progress of a run. Its methods are called from several goroutines and must
// be quick.
type Progress interface {
	// Stage begins a stage; total is the size of the files that it reads (0: unknown).
	Stage(name string, total int64)
	// Advance adds the work done since the last call: items, and bytes of the files in their stored
	// form, compressed or not.
	Advance(items, bytes int64)
}

type noProgress struct{}

func (noProgress) Stage(string, int64)  {}
func (noProgress) Advance(int64, int64) {}
