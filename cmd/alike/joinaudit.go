package main

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/linkage"
)

// runAudit asks about the pairs that an audit has drawn, unless their answers are known, and tells what they show. The
// probability of a pair is not shown: it would tell what the model wants to hear.
func (f *joinFlags) runAudit(cmd *cobra.Command, stderr io.Writer, r *alike.JoinResult) error {
	if r.Audit == nil {
		return nil
	}
	s, err := newLabelling(f.audited, cmd.ErrOrStderr(), labelNames(r.OneTable))
	if err != nil {
		return err
	}
	answer := func(q *linkage.Question) linkage.Answer { return s.answer(q.A, q.B, r.OneTable) }
	s.next = func() (q linkage.Question, title string, ok bool) {
		for i := range r.Audit.Questions {
			if q := r.Audit.Questions[i]; answer(&q) == linkage.Unasked {
				return q, fmt.Sprintf("%d of %d", i+1, len(r.Audit.Questions)), true
			}
		}
		return q, "", false
	}
	if _, _, ask := s.next(); ask {
		if err := s.run(cmd); err != nil {
			return err
		}
	}
	r.Measured = r.Audit.Measure(answer)
	tellMeasured(stderr, r.Measured)
	return nil
}

// answer returns what the last answer about a pair says.
func (s *labelling) answer(a, b string, oneTable bool) (last linkage.Answer) {
	for _, v := range s.verdicts {
		switch same := v.A == a && v.B == b || oneTable && v.A == b && v.B == a; {
		case !same:
		case v.Unsure:
			last = linkage.Unsure
		case v.Match:
			last = linkage.Yes
		default:
			last = linkage.No
		}
	}
	return last
}

// tellMeasured prints what an audit has shown.
func tellMeasured(w io.Writer, m *linkage.Measured) {
	fmt.Fprintf(w, "audit of %s: %d yes, %d no, %d unsure, %d not answered\n", count(int64(m.Pairs), "pair"),
		m.Yes, m.No, m.Unsure, m.Pairs-m.Yes-m.No-m.Unsure)
	if m.Precision == nil {
		fmt.Fprintln(w, "alike: the answers measure nothing")
		return
	}
	fmt.Fprintf(w, "measured precision %.3f (%.3f to %.3f) of %s, with an interval of 95 %%\n",
		m.Precision.Value, m.Precision.Low, m.Precision.High, count(int64(m.Links), "link"))
	fmt.Fprintf(w, "measured recall %.3f (%.3f to %.3f) among these and %s of a probability of at least 0.05; among all others %s more are expected\n",
		m.Recall.Value, m.Recall.Low, m.Recall.High, count(int64(m.Others), "candidate"), humanize.CommafWithDigits(m.Rest, 1))
}
