package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/recipe"
)

// lengths is a text scheme of three bytes: the text's length, and its first and
// last byte.
type lengths struct{}

func (lengths) String() string                   { return "lengths/v1" }
func (lengths) Size() int                        { return 3 }
func (lengths) NewSketcher() recipe.TextSketcher { return lengths{} }

func (lengths) AppendSketch(dst, text []byte) ([]byte, int) {
	if len(text) == 0 {
		return append(dst, 0, 0, 0), 0
	}
	return append(dst, byte(len(text)), text[0], text[len(text)-1]), len(text)
}

func TestTextSchemesSeeTheBytesOfTheTextAndKeepTheirSize(t *testing.T) {
	var in strings.Builder
	var want []string
	for i := range 3000 {
		text := strings.Repeat("é", i%50) + "x"
		if i%7 == 0 {
			text = ""
		}
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"text\":%q}\n", i, text)
		sketch, features := lengths{}.AppendSketch(nil, []byte(text))
		want = append(want, fmt.Sprint(i, sketch, features))
	}
	path := filepath.Join(t.TempDir(), "in.jsonl")
	writeFile(t, path, []byte(in.String()))
	for _, c := range []Config{{Threads: 1}, {Threads: 3}, {Threads: 2, limits: limits{memory: 1, segment: 1 << 10}}} {
		c.Inputs, c.Signatures = []string{path}, OfTexts{lengths{}}
		var got []string
		summary, err := Sketch(context.Background(), c, func(f Fingerprint) error {
			if f.Signature != nil {
				t.Error("a text scheme has no components")
			}
			got = append(got, fmt.Sprint(string(f.ID), " ", bytes.Clone(f.Packed), " ", f.Features))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("threads %d: %v, %d fingerprints that are not those of the scheme", c.Threads, err, len(got))
		}
		if summary != nil && (summary.TextScheme != "" || summary.SketchScheme != "lengths/v1") {
			t.Errorf("the summary names %q and %q", summary.TextScheme, summary.SketchScheme)
		}
	}
}

func TestPairsOfATextSchemeNeedADistance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	writeFile(t, path, []byte(`{"text":"a"}`))
	c := Config{Inputs: []string{path}, Signatures: OfTexts{lengths{}}}
	_, err := Pairs(context.Background(), c, func(Pair) error { return nil })
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "Hamming distance") {
		t.Errorf("pairs under a text scheme: %v", err)
	}
}
