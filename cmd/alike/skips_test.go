package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

// problems returns n problems of a kind, from a line on.
func problems(n int, line int64, kind error) (all []corpus.Problem) {
	for i := range n {
		all = append(all, corpus.Problem{Path: "a.jsonl", Line: line + int64(i), Err: kind})
	}
	return all
}

func TestTheFirstSkipsOfAKindAreNamedAndAllAreCounted(t *testing.T) {
	var out bytes.Buffer
	s := newSkips(&out, false, nil)
	told := func() string {
		defer out.Reset()
		return strings.ReplaceAll(out.String(), "alike: skipped ", "")
	}
	for _, step := range []struct {
		add  []corpus.Problem
		want string
	}{
		{problems(2, 1, corpus.ErrMalformed), "a.jsonl:1: malformed record\na.jsonl:2: malformed record\n"},
		{nil, ""}, // all were named
		{problems(4, 3, corpus.ErrMalformed), "a.jsonl:3: malformed record\na.jsonl:4: malformed record\na.jsonl:5: malformed record\n6 so far: malformed record (6); --skipped FILE lists all of them\n"},
		{nil, ""}, // nothing new
		{problems(1, 7, errors.New("x")), "a.jsonl:7: x\n"},
		{problems(2000, 8, corpus.ErrTooLong), "a.jsonl:8: record too long\na.jsonl:9: record too long\na.jsonl:10: record too long\na.jsonl:11: record too long\na.jsonl:12: record too long\n" +
			"2,007 so far: record too long (2,000), malformed record (6), other (1); --skipped FILE lists all of them\n"},
	} {
		if err := s.takeAll(step.add); err != nil {
			t.Fatal(err)
		}
		s.soFar()
		if got := told(); got != step.want {
			t.Errorf("told\n%s, want\n%s", got, step.want)
		}
	}
	if err := s.end(nil); err != nil || told() != "2,007 in all: record too long (2,000), malformed record (6), other (1); --skipped FILE lists all of them\n" {
		t.Errorf("%v", err)
	}

	few := newSkips(&out, false, nil)
	if err := errors.Join(few.takeAll(problems(namedOfKind, 1, corpus.ErrBomb)), few.end(nil)); err != nil || strings.Count(told(), "\n") != namedOfKind {
		t.Error("counts of what was named")
	}
	few.fail = true
	if err := few.take(&problems(1, 9, corpus.ErrBomb)[0]); !errors.Is(err, corpus.ErrBomb) || out.Len() > 0 {
		t.Errorf("%v: %s", err, &out)
	}
}

// full is a device without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestTheListOfSkipsIsWholeOrTheCommandFails(t *testing.T) {
	list := func(to io.Writer, done *string) *skipList {
		return &skipList{
			path: "list", open: func() (io.Writer, error) { return to, nil },
			commit: func() error { *done += "committed "; return nil }, abort: func() { *done += "ended" },
		}
	}
	for _, c := range []struct {
		name string
		err  error
		to   io.Writer
		done string
		fail bool
	}{
		{"done", nil, &bytes.Buffer{}, "committed ended", false},
		{"done, with records skipped", errSkipped, &bytes.Buffer{}, "committed ended", true},
		{"failed", io.EOF, &bytes.Buffer{}, "ended", true},
		{"no room", nil, full{}, "ended", true},
	} {
		done := ""
		s := newSkips(io.Discard, true, list(c.to, &done))
		s.add(&corpus.Problem{Path: "a\n", Line: 3, ID: "\xff<", Err: corpus.ErrBomb})
		if err := s.end(c.err); (err != nil) != c.fail || done != c.done {
			t.Errorf("%s: %v, %s", c.name, err, done)
		}
		if b, ok := c.to.(*bytes.Buffer); ok && b.String() != `{"place":"\"a\\n\":3","kind":"decompression bomb","reason":"decompression bomb","id":"\ufffd<","id_bytes":"/zw="}`+"\n" {
			t.Errorf("%s: %s", c.name, b)
		}
	}
}
