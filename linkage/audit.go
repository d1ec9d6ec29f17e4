package linkage

import (
	"cmp"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/explain"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
)

// An Audit is a sample of the candidates of a join, stratified by probability. What a person says of them measures the
// links, whatever the model believes.
type Audit struct {
	Questions []Question // in the order in which to ask
	strata    []decide.Stratum
	of        []int // stratum of each question
	links     int
	others    int     // candidates that are no links, of a probability of at least 0.05
	rest      float64 // matches that are expected among all other candidates
}

// Measured is the quality of links as answers show it. It can be written as JSON.
type Measured struct {
	Pairs  int `json:"pairs"` // that were drawn
	Yes    int `json:"yes"`
	No     int `json:"no"`
	Unsure int `json:"unsure"`
	Links  int `json:"links"`
	Others int `json:"others"` // candidates that are no links, among which were drawn: those of a probability of at least 0.05
	// Precision is that of the links, Recall their share of the matches among links and others; nil: nothing was measured.
	Precision *Interval `json:"precision,omitempty"`
	Recall    *Interval `json:"recall,omitempty"`
	// Rest is how many matches the model expects among all candidates that are neither links nor others.
	Rest float64 `json:"expected_elsewhere"`
}

// An Interval is a measured share with its interval of 95 %. All are from 0 to 1.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// newAudit draws n pairs among the candidates of an examiner, of which links are links.
func newAudit(e *judge.Examiner, t *held.Tables, compared []Column, links []int, n int) *Audit {
	pairs := e.Found.Pairs
	order := func(i int) uint64 { return hashing.Mix(hashing.Mix(uint64(pairs[i].A)+1) + uint64(pairs[i].B)) }
	a := &Audit{links: len(links)}
	a.strata, a.rest = decide.Draw(links, e.Probability, n, order)
	a.rest += e.Shed
	type drawn struct{ candidate, stratum int }
	var all []drawn
	for s := range a.strata {
		if !a.strata[s].Linked {
			a.others += a.strata[s].Size
		}
		for _, i := range a.strata[s].Drawn {
			all = append(all, drawn{i, s})
		}
	}
	// So whoever ends early has answered a smaller sample of the same kind.
	sorting.Func(all, func(x, y drawn) int {
		return cmp.Or(cmp.Compare(hashing.Mix(order(x.candidate)), hashing.Mix(order(y.candidate))), cmp.Compare(x.candidate, y.candidate))
	})
	names := namesOf(compared)
	for _, d := range all {
		p := pairs[d.candidate]
		left, right := t.IDs(p)
		a.of = append(a.of, d.stratum)
		a.Questions = append(a.Questions, Question{left, right, e.Probability[d.candidate], explain.ValuesOf(t, names, e.Comparer, p)})
	}
	return a
}

// An Answer is what a person has said of a pair.
type Answer int

const (
	Unasked Answer = iota
	Yes
	No
	Unsure
)

// Measure returns what answers to the questions show. Pairs without a clear answer count as not drawn.
func (a *Audit) Measure(answer func(q *Question) Answer) *Measured {
	m := &Measured{Pairs: len(a.Questions), Links: a.links, Others: a.others, Rest: a.rest}
	answers := make([]decide.Answers, len(a.strata))
	for i := range a.strata {
		answers[i].Stratum = a.strata[i]
	}
	for i := range a.Questions {
		switch of := &answers[a.of[i]]; answer(&a.Questions[i]) {
		case Yes:
			m.Yes++
			of.Yes++
		case No:
			m.No++
			of.No++
		case Unsure:
			m.Unsure++
		}
	}
	if m.Yes+m.No == 0 {
		return m
	}
	if precision, recall, ok := decide.Measure(answers); ok {
		m.Precision = &Interval{precision.Likely, precision.Low, precision.High}
		m.Recall = &Interval{recall.Likely, recall.Low, recall.High}
	}
	return m
}
