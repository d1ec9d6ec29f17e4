package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// namedOfKind is how many problems of a kind are named on standard error.
const namedOfKind = 5

// skips receives the problems of a command in the order of the input. It names the first ones of each kind, counts
// all of them, and lists all of them in the file of --skipped. Its methods are safe for concurrent use.
type skips struct {
	say  func(message string) // nil: with --quiet
	list *skipList            // nil: without --skipped
	fail bool                 // take returns the first problem: --on-error fail

	mu      sync.Mutex
	counts  map[string]int64 // by kind
	unnamed int64            // problems that were counted only
	told    int64            // of them, those in the counts that were printed last
}

// newSkips returns skips that reports on w, unless it is to be quiet.
func newSkips(w io.Writer, quiet bool, list *skipList) *skips {
	s := &skips{list: list, counts: map[string]int64{}}
	if !quiet {
		s.say = func(message string) { fmt.Fprintf(w, "alike: skipped %s\n", visible(message)) }
	}
	return s
}

func (s *skips) add(p *corpus.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := p.Kind()
	s.counts[kind]++
	if s.list != nil {
		s.list.write(p)
	}
	switch {
	case s.say == nil:
	case s.counts[kind] <= namedOfKind:
		s.say(alike.Explain(p, flagOf))
	default:
		s.unnamed++
	}
}

// take is add for callers that can end the command: with --on-error fail, or if the list cannot be written.
func (s *skips) take(p *corpus.Problem) error {
	if s.fail {
		return p
	}
	s.add(p)
	if s.list != nil {
		return s.list.err
	}
	return nil
}

// takeAll takes the problems of finding the inputs.
func (s *skips) takeAll(problems []corpus.Problem) error {
	for i := range problems {
		if err := s.take(&problems[i]); err != nil {
			return err
		}
	}
	return nil
}

// soFar prints the counts of a command that goes on, if problems were not named since they were printed last.
func (s *skips) soFar() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unnamed > s.told {
		s.tell("so far")
	}
}

// end ends the report of a command that has ended with err, and returns err, or why the list is incomplete. The counts
// are printed if some problem was not named.
func (s *skips) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unnamed > 0 {
		s.tell("in all")
	}
	if s.list == nil {
		return err
	}
	return s.list.end(err)
}

// tell prints the counts by kind, the most frequent one first.
func (s *skips) tell(when string) {
	all, kinds := int64(0), make([]string, 0, len(s.counts))
	for _, kind := range slices.SortedFunc(maps.Keys(s.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.counts[b], s.counts[a]), cmp.Compare(a, b))
	}) {
		all += s.counts[kind]
		kinds = append(kinds, fmt.Sprintf("%s (%s)", kind, humanize.Comma(s.counts[kind])))
	}
	where := "--skipped FILE lists all of them"
	if s.list != nil {
		where = s.list.path + " lists all of them"
	}
	s.told = s.unnamed
	s.say(fmt.Sprintf("%s %s: %s; %s", humanize.Comma(all), when, strings.Join(kinds, ", "), where))
}

// skipList is the file of --skipped: a JSON object a line for each problem.
type skipList struct {
	path string
	// open begins the file. It is called for the first problem or at the end: by then the command has checked that the
	// file is none of its inputs.
	open   func() (io.Writer, error)
	commit func() error // completes the file
	abort  func()       // leaves nothing behind; after commit it does nothing

	lines *json.Encoder // nil: not open
	err   error         // the first one
}

// onErrorHelp is the help of --on-error.
const onErrorHelp = "bad input: skip it, count it, name the first ones and continue (exit status 3), or fail"

// skippedHelp is the help of --skipped.
const skippedHelp = "list all that was skipped in this `file`, a JSON object a line: place, kind, reason and, if it is known, the record's id"

// addSkipped adds the flag of the list.
func addSkipped(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "skipped", "", skippedHelp)
}

// checkSkipped refuses a file of --skipped that no list can be written to, before the work that it is about.
func checkSkipped(path string) error {
	if _, at := resolve(path); path != "" && at != nil && at.IsDir() {
		return usagef("--skipped %s is a folder: name a file", fault.Shown(path))
	}
	return nil
}

// newSkipList returns a list that appears at path when it is complete; nil for "".
func newSkipList(cmd *cobra.Command, path string) *skipList {
	if path == "" {
		return nil
	}
	var out outputFile
	var buffer *bufio.Writer
	return &skipList{
		path: path,
		open: func() (io.Writer, error) {
			err := out.open(cmd, path)
			buffer = bufio.NewWriter(&out)
			return buffer, err
		},
		commit: func() error { return errors.Join(buffer.Flush(), out.commit()) },
		abort:  out.discard,
	}
}

// begin opens the file, unless it is open.
func (l *skipList) begin() error {
	if l.lines != nil || l.err != nil {
		return l.err
	}
	to, err := l.open()
	if err != nil {
		return l.failed(err)
	}
	l.lines = json.NewEncoder(to)
	l.lines.SetEscapeHTML(false)
	return nil
}

func (l *skipList) failed(err error) error {
	l.err = fmt.Errorf("--skipped: %w", err)
	return l.err
}

// skippedObject is a record that was not used, as JSON.
type skippedObject struct {
	Place   string `json:"place"`
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
	ID      string `json:"id,omitempty"`
	IDBytes []byte `json:"id_bytes,omitempty"`
}

// write lists a problem. An error is returned by end.
func (l *skipList) write(p *corpus.Problem) {
	if l.begin() != nil {
		return
	}
	err := l.lines.Encode(skippedObject{p.Place(), p.Kind(), alike.Explain(p.Err, flagOf), p.ID, rawID([]byte(p.ID))})
	if err != nil {
		_ = l.failed(err)
	}
}

// end completes the file if the command has succeeded, with or without records skipped.
func (l *skipList) end(err error) error {
	defer l.abort()
	if err != nil && !errors.Is(err, errSkipped) {
		return err
	}
	if e := l.begin(); e != nil {
		return e
	}
	if e := l.commit(); e != nil {
		return l.failed(e)
	}
	return err
}
