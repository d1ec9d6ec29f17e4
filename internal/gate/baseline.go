// Package gate tells new pairs of similar documents from those that are known.
//
// A baseline is a list of known pairs, in a file for people and for version control. A pair of today is known if an
// entry has both of its documents, each by its text or by its name; an entry knows one pair only. So a document may move
// or be renamed, or be edited, and its pairs stay known, but those of one more copy are new.
package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/sorting"
)

type Document struct {
	Name string
	Path string // of its file
	Line int64  // from 1; 0: it is all of the file
	Text uint64 // equal for equal texts
}

// A Pair is two similar documents.
type Pair struct {
	A, B       Document
	Similarity float64
}

// A Baseline is the content of a file of known pairs.
type Baseline struct {
	Version int     `json:"alike_baseline"` // baselineVersion
	Texts   string  `json:"texts"`          // how texts are made features: the values of other ways say nothing
	Pairs   []known `json:"pairs"`
}

const baselineVersion = 1

// known is an entry: names and texts of two documents.
type known struct {
	A     string `json:"a"`
	B     string `json:"b"`
	TextA string `json:"a_text"`
	TextB string `json:"b_text"`

	numbered bool // of a pair of today: a name is the line of its document, which moves when others come and go
}

func knownOf(p *Pair) known {
	hex := func(text uint64) string { return fmt.Sprintf("%016x", text) }
	return known{p.A.Name, p.B.Name, hex(p.A.Text), hex(p.B.Text), p.A.numbered() || p.B.numbered()}
}

// numbered tells whether the name was made of file and line.
func (d *Document) numbered() bool {
	return d.Line > 0 && d.Name == fmt.Sprintf("%s:%d", d.Path, d.Line)
}

func Of(texts string, pairs []Pair) *Baseline {
	b := &Baseline{Version: baselineVersion, Texts: texts, Pairs: []known{}}
	for i := range pairs {
		b.Pairs = append(b.Pairs, knownOf(&pairs[i]))
	}
	sorting.Func(b.Pairs, func(x, y known) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(x.TextA, y.TextA), cmp.Compare(x.TextB, y.TextB))
	})
	return b
}

func Read(r io.Reader) (*Baseline, error) {
	b := &Baseline{}
	if err := fault.Decode(bom.NewReader(r), b, false); err != nil {
		return nil, fmt.Errorf("it is no baseline: %w", err)
	}
	switch b.Version {
	case baselineVersion:
		return b, nil
	case 0:
		return nil, errors.New("it is no baseline: alike_baseline is missing")
	}
	return nil, fmt.Errorf("it is a baseline of version %d, and this program knows %d: write it again", b.Version, baselineVersion)
}

// Write writes the baseline, a line for each pair, so that its changes are easy to read.
func (b *Baseline) Write(w io.Writer) error {
	texts, err := json.Marshal(b.Texts)
	if err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "{\n \"alike_baseline\": %d,\n \"texts\": %s,\n \"pairs\": [", b.Version, texts)
	for i, k := range b.Pairs {
		line, err := json.Marshal(k)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n  %s", line)
	}
	out.WriteString("\n ]\n}\n")
	_, err = io.WriteString(w, out.String())
	return err
}

// Match returns which pairs are new, and how many entries know no pair any more. O(pairs + entries).
func (b *Baseline) Match(pairs []Pair) (fresh []bool, gone int) {
	today := make([]known, len(pairs))
	fresh = make([]bool, len(pairs))
	for i := range pairs {
		today[i], fresh[i] = knownOf(&pairs[i]), true
	}
	used := make([]bool, len(b.Pairs))
	gone = len(b.Pairs)
	for _, as := range ways {
		entries := map[[2]string][]int{} // by each of their keys, the first entry first
		for i := range b.Pairs {
			if !used[i] {
				for _, key := range as(&b.Pairs[i]) {
					entries[key] = append(entries[key], i)
				}
			}
		}
		for i := range today {
			if !fresh[i] {
				continue
			}
			for _, key := range as(&today[i]) {
				left := entries[key]
				for len(left) > 0 && used[left[0]] {
					left = left[1:]
				}
				if entries[key] = left; len(left) > 0 {
					used[left[0]], fresh[i] = true, false
					gone--
					break
				}
			}
		}
	}
	return fresh, gone
}

// ways are the ways in which an entry knows a pair, the surest first. Each returns keys, of which both have one.
var ways = []func(k *known) [][2]string{
	func(k *known) [][2]string {
		return [][2]string{unordered("both "+k.TextA+k.A, "both "+k.TextB+k.B)}
	},
	func(k *known) [][2]string {
		if k.numbered {
			return nil
		}
		return [][2]string{unordered("name "+k.A, "name "+k.B)}
	},
	func(k *known) [][2]string { return [][2]string{unordered("text "+k.TextA, "text "+k.TextB)} },
	func(k *known) [][2]string { return [][2]string{unordered("name "+k.A, "name "+k.B)} },
	func(k *known) [][2]string {
		return [][2]string{unordered("name "+k.A, "text "+k.TextB), unordered("text "+k.TextA, "name "+k.B)}
	},
}

// unordered returns two keys in their order: a document that has moved may come first now.
func unordered(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }
