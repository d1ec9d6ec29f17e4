package linkage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
)

// A Kind is a kind of pairs that the candidates show, such as one person, people of one household, or namesakes.
type Kind struct {
	Agree      []string    `json:"agree"`      // columns in which most of its pairs agree
	Candidates int         `json:"candidates"` // about so many are of this kind
	Taken      bool        `json:"taken"`      // its pairs are taken for one thing
	Examples   [][2]string `json:"examples"`   // ids of up to three pairs
}

// placesOf returns the places of the named columns among those that are compared.
func (r *Report) placesOf(names []string) (places []int, err error) {
	for _, name := range names {
		found := len(places)
		for place, c := range r.Columns {
			left, right := c.Names()
			if slices.Contains([]string{c.Left, c.Right, left, right}, name) {
				places = append(places, place)
			}
		}
		if found == len(places) {
			var compared []string
			for _, c := range r.Columns {
				left, _ := c.Names()
				compared = append(compared, left)
			}
			return nil, setting.Errorf("%s names %s, which is not compared; compared are %s", setting.Same, fault.Shown(name), fault.List(compared))
		}
	}
	return places, nil
}

// describeKinds lists the kinds of pairs.
func (r *Report) describeKinds(e *judge.Examiner, t *held.Tables) {
	r.Kinds = nil
	for _, k := range e.Kinds {
		kind := Kind{Candidates: int(math.Round(k.Share * float64(e.Candidates))), Taken: k.Taken}
		for _, f := range k.Agree {
			name, _ := r.Columns[f].Names()
			kind.Agree = append(kind.Agree, name)
		}
		for _, p := range k.Examples {
			a, b := t.IDs(p)
			kind.Examples = append(kind.Examples, [2]string{a, b})
		}
		r.Kinds = append(r.Kinds, kind)
	}
}

// TellsKinds reports whether it matters which kinds of pairs are the same thing: the user has said it, or the data leave two notions
// of it.
func (r *Report) TellsKinds() bool { return r.Disputed || r.Wider || len(r.Same) > 0 }

// Told returns what a user should know of the tables: the kinds of pairs, where it matters, and the notes.
func (r *Report) Told() []string {
	if !r.TellsKinds() {
		return r.Notes
	}
	return slices.Concat(r.KindLines(), r.Notes)
}

// KindLines says in a line each which kinds of pairs there are, the most frequent first.
func (r *Report) KindLines() (lines []string) {
	for _, k := range r.Kinds {
		taken, agree := "kind of pairs", "no column"
		if k.Taken {
			taken += ", taken for one thing"
		}
		if len(k.Agree) > 0 {
			agree = fault.List(k.Agree)
		}
		var examples []string
		for _, p := range k.Examples {
			examples = append(examples, fault.Shown(p[0])+" and "+fault.Shown(p[1]))
		}
		lines = append(lines, fmt.Sprintf("%s: about %s candidates agree in %s, such as %s", taken, humanize.Comma(int64(k.Candidates)), agree, strings.Join(examples, "; ")))
	}
	return lines
}
