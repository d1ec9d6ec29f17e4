// Package roomtest helps the tests of the engine's packages: it takes entries made by hand, and
// returns entries to compare.
package roomtest

import (
	"context"

	"github.com/alike-dev/alike/internal/extsort"
)

// T is a test, of package testing or of package rapid.
type T interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func Sorted(t T, entries []extsort.Entry) *extsort.Sorted {
	t.Helper()
	sorter, err := extsort.New(extsort.Options{Threads: 1})
	if err != nil {
		t.Fatalf("%v", err)
	}
	to := sorter.Appender()
	for _, e := range entries {
		if err := to.Add(e.Key, e.Value); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := to.Flush(); err != nil {
		t.Fatalf("%v", err)
	}
	sorted, err := sorter.Sort(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return sorted
}

func Entries(t T, s *extsort.Sorted) (all []extsort.Entry) {
	t.Helper()
	err := s.Visit(func(e extsort.Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}
