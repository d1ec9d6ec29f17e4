package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
)

// errSkipped says that a command has done its work but left some input out.
var errSkipped = errors.New("some input was skipped")

// skips reports records that were skipped, each by file and line. If consecutive records lack what
// the first one lacks, as all do under a wrong --text-field, or have names of documents in the index,
// their lines are reported together.
type skips struct {
	say  func(message string)
	told *corpus.Problem // the last one that was reported in full; nil: none that others may be like
	last *corpus.Problem // the last one like it
	more int64           // records like it that were not reported yet
}

// newSkips reports on w.
func newSkips(w io.Writer) *skips {
	return &skips{say: func(message string) { fmt.Fprintf(w, "alike: skipped %s\n", visible(message)) }}
}

// add reports the next one, in the order of the input.
func (s *skips) add(p *corpus.Problem) {
	if s.told != nil && p.Path == s.told.Path && p.Line == s.last.Line+1 && sameReason(p, s.told) {
		s.last, s.more = p, s.more+1
		return
	}
	s.flush()
	s.say(alike.Explain(p, flagOf))
	if p.Line > 0 && (errors.Is(p, corpus.ErrMissingField) || errors.Is(p, corpus.ErrNotString) || errors.Is(p, dedup.ErrKnownName)) {
		s.told, s.last = p, p
	}
}

func sameReason(a, b *corpus.Problem) bool {
	return a.Err.Error() == b.Err.Error() || errors.Is(a, dedup.ErrKnownName) && errors.Is(b, dedup.ErrKnownName)
}

// flush reports the records that were not reported yet.
func (s *skips) flush() {
	if s.more == 1 {
		s.say(alike.Explain(s.last, flagOf))
	} else if p := s.told; s.more > 1 {
		s.say(fmt.Sprintf("%s:%d to %d: the same, %s", fault.Shown(p.Path), p.Line+1, s.last.Line, count(s.more, "record")))
	}
	s.told, s.more = nil, 0
}
