package extsort

import "errors"

// Visit calls visit for every entry in order.
func (s *Sorted) Visit(visit func(e Entry) error) error {
	in := s.Reader()
	for e, ok := in.Next(); ok; e, ok = in.Next() {
		if err := visit(e); err != nil {
			return errors.Join(err, in.Close())
		}
	}
	return errors.Join(in.Err(), in.Close())
}

// VisitOnce is Visit, but calls visit only for the first of equal entries.
func (s *Sorted) VisitOnce(visit func(e Entry) error) error {
	begun, last := false, Entry{}
	return s.Visit(func(e Entry) error {
		if begun && e == last {
			return nil
		}
		begun, last = true, e
		return visit(e)
	})
}

// EachKey calls visit for every group of sorted entries with equal keys.
func EachKey(entries []Entry, visit func(run []Entry) error) error {
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

// A Lookup finds ascending keys in sorted entries with distinct keys. Its caller checks Err and
// then closes it.
type Lookup struct{ *Reader }

// NewLookup returns a Lookup of sorted entries.
func NewLookup(s *Sorted) Lookup { return Lookup{s.Reader()} }

// Find returns the value of a key, which must not be below that of the call before.
func (l Lookup) Find(key uint64) (value uint64, ok bool) {
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

// Appenders returns an appender for each of n goroutines.
func (s *Sorter) Appenders(n int) []*Appender {
	to := make([]*Appender, n)
	for i := range to {
		to[i] = s.Appender()
	}
	return to
}

// Flush flushes appenders, after err.
func Flush(to []*Appender, err error) error {
	for _, a := range to {
		err = errors.Join(err, a.Flush())
	}
	return err
}
