package dedup

import (
	"errors"

	"github.com/alike-dev/alike/internal/extsort"
)

// lookup finds ascending keys in sorted entries, of which each key has one.
type lookup struct{ *extsort.Reader }

func newLookup(s *extsort.Sorted) lookup { return lookup{s.Reader()} }

// find returns the value of a key, which must not be below that of the call
// before.
func (l lookup) find(key uint64) (value uint64, ok bool) {
	for {
		e, there := l.Peek()
		if !there || e.Key > key {
			return 0, false
		}
		if e.Key == key {
			return e.Value, true
		}
		l.Next()
	}
}

// label finds the label of a document in a table of labels: its own if it has none
// there.
func (l lookup) label(doc uint32) uint32 {
	if label, ok := l.find(uint64(doc)); ok {
		return uint32(label)
	}
	return doc
}

// eachRun calls visit for every run of sorted entries with one key.
func eachRun(entries []extsort.Entry, visit func(run []extsort.Entry) error) error {
	for start := 0; start < len(entries); {
		end := start + 1
		for end < len(entries) && entries[end].Key == entries[start].Key {
			end++
		}
		if err := visit(entries[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// each calls visit for every entry in order.
func each(s *extsort.Sorted, visit func(e extsort.Entry) error) error {
	in := s.Reader()
	for e, ok := in.Next(); ok; e, ok = in.Next() {
		if err := visit(e); err != nil {
			return errors.Join(err, in.Close())
		}
	}
	return errors.Join(in.Err(), in.Close())
}

// appenders returns an appender for each worker.
func appenders(s *extsort.Sorter, threads int) []*extsort.Appender {
	to := make([]*extsort.Appender, threads)
	for i := range to {
		to[i] = s.Appender()
	}
	return to
}

// flush flushes appenders, after err.
func flush(to []*extsort.Appender, err error) error {
	for _, a := range to {
		err = errors.Join(err, a.Flush())
	}
	return err
}
