package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// errSkipped says that a command has done its work but left some input out.
var errSkipped = errors.New("some input was skipped")

// skips reports records that were skipped, each by file and line. If consecutive records lack what
// the first one lacks, as all do under a wrong --text-field, their lines are reported together.
type skips struct {
	say  func(message string)
	told *corpus.Problem // the last one that was reported in full; nil: none that others may be like
	last int64           // line of the last one like it
	more int64           // records like it that were not reported yet
}

// newSkips reports on w.
func newSkips(w io.Writer) *skips {
	return &skips{say: func(message string) { fmt.Fprintf(w, "alike: skipped %s\n", visible(message)) }}
}

// add reports the next one, in the order of the input.
func (s *skips) add(p *corpus.Problem) {
	if s.told != nil && p.Path == s.told.Path && p.Line == s.last+1 && p.Err.Error() == s.told.Err.Error() {
		s.last, s.more = p.Line, s.more+1
		return
	}
	s.flush()
	s.say(alike.Explain(p, flagOf))
	if p.Line > 0 && (errors.Is(p, corpus.ErrMissingField) || errors.Is(p, corpus.ErrNotString)) {
		s.told, s.last = p, p.Line
	}
}

// flush reports the records that were not reported yet.
func (s *skips) flush() {
	if p := s.told; s.more == 1 {
		s.say(alike.Explain(&corpus.Problem{Path: p.Path, Line: s.last, Err: p.Err}, flagOf))
	} else if s.more > 1 {
		s.say(fmt.Sprintf("%s:%d to %d: the same, %s", fault.Shown(p.Path), p.Line+1, s.last, count(s.more, "record")))
	}
	s.told, s.more = nil, 0
}
