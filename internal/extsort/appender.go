package extsort

// Appender adds entries to a sorter, from one goroutine.
type Appender struct {
	chunk []Entry // full when n is its length
	n     int
	s     *Sorter
}

// Add adds an entry. It copies 16 B, and hands over a chunk of entries to the sorter when the chunk
// is full. If memory is used up then, it sorts and writes a run, or waits for another appender that
// does. After an error the sorter can only be closed. Filling a sorter again after Reset allocates
// nothing.
func (a *Appender) Add(key, value uint64) error {
	if a.n == len(a.chunk) {
		return a.addSlow(key, value)
	}
	a.chunk[a.n] = Entry{key, value}
	a.n++
	return nil
}

func (a *Appender) addSlow(key, value uint64) error {
	chunk, err := a.s.exchange(a.chunk[:a.n])
	a.chunk, a.n = chunk, 0
	if err != nil {
		return err
	}
	a.chunk[0] = Entry{key, value}
	a.n = 1
	return nil
}

// Flush hands over what was added so far. It is needed before Save and Sort; more entries may be
// added after it.
func (a *Appender) Flush() error {
	n := a.n
	a.n = 0
	return a.s.collect(a.chunk[:n])
}
