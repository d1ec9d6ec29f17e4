package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
)

const compareHelp = `Compare two texts.

Prints the exact Jaccard similarity of their shingle sets, what signatures of each scheme
estimate it at, and the passages that both texts share, the longest first. A passage has its
line and its range of bytes in each file, where a byte order mark counts; of a compressed file
they are bytes of what it holds. UTF-16 with a mark is decoded.

With another --measure its value comes first; for containment both that of A in B and that of
B in A. Estimates are always those of the Jaccard similarity. With weighted-jaccard a shingle
counts as often as it occurs, in all figures.`

const compareExamples = `  alike compare draft.txt published.txt
  alike compare a.txt b.txt --tokens chars --ngram 20 --json
  curl -s https://example.com/ | alike compare - page.html`

func newCompare() *cobra.Command {
	var (
		by     string
		text   recipeflags.Text
		scheme recipeflags.Sketch
		most   int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "compare A B",
		Short:   "Compare two texts: similarity, estimates, shared passages",
		Long:    compareHelp,
		Example: compareExamples,
		Args:    arguments(2, 2, "name two texts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := text.Options()
			if err != nil {
				return err
			}
			m, err := measure.Parse(by)
			if err != nil {
				return usageError{err}
			}
			options.Multiset = m.IsWeighted()
			one, err := scheme.MinHash(cmd.Flags())
			if err != nil {
				return err
			}
			if hash := one.FeatureHash(); hash != "" {
				options.Hash = shingle.Hash(hash)
			}
			schemes := []minhash.Scheme{one}
			if !cmd.Flags().Changed("scheme") {
				if schemes, err = alike.ComparisonSchemes(one.K(), one.Seed()); err != nil {
					return err
				}
			}
			if args[0] == "-" && args[1] == "-" {
				return usagef("only one of the two texts can come from standard input")
			}
			if _, err := keepApart([]string{"-"}, append(slices.Concat(text.Reads(), scheme.Reads()), args...)); err != nil {
				return err
			}
			a, b, err := readTexts(cmd, args)
			if err != nil {
				return err
			}
			comparison, err := unless(cmd.Context(), func() (*alike.Comparison, error) { return alike.Compare(a, b, options, schemes...) })
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, measured(comparison, m))
			}
			out := printed(cmd)
			printMeasure(out, comparison, m)
			printComparison(out, comparison, most)
			return nil
		},
	}
	recipeflags.AddMeasure(cmd.Flags(), &by)
	cmd.Flags().IntVar(&most, "passages", 10, "shared passages to print; 0: all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON on standard output, with all passages")
	text.Add(cmd.Flags())
	scheme.Add(cmd.Flags())
	sayDefault(cmd.Flags(), "scheme", "one after the other oph of 32, 8 and 1 bits, kmins by multiplyshift and by xor, of k=128 and the seed")
	completeChoices(cmd)
	return cmd
}

// measuredComparison is a comparison with the value of a measure other than Jaccard.
type measuredComparison struct {
	*alike.Comparison
	Measure    string   `json:"measure"`
	Similarity float64  `json:"similarity"`        // of a in b for a measure with a direction
	Reverse    *float64 `json:"reverse,omitempty"` // of b in a
}

func measured(c *alike.Comparison, m measure.Measure) any {
	if m == measure.Jaccard {
		return c
	}
	v := measuredComparison{Comparison: c, Measure: m.String(), Similarity: c.Similarity(m)}
	if m == measure.Containment {
		_, reverse := c.Containments()
		v.Reverse = &reverse
	}
	return v
}

// printMeasure prints the value of a measure other than Jaccard.
func printMeasure(w io.Writer, c *alike.Comparison, m measure.Measure) {
	switch m {
	case measure.Jaccard:
	case measure.Containment:
		aInB, bInA := c.Containments()
		fmt.Fprintf(w, "containment %.6f  (of A in B)\ncontainment %.6f  (of B in A)\n", aInB, bInA)
	default:
		fmt.Fprintf(w, "%s %.6f\n", m, c.Similarity(m))
	}
}

// readTexts reads the two texts.
func readTexts(cmd *cobra.Command, args []string) (a, b []byte, err error) {
	if a, err = readText(cmd, args[0]); err == nil {
		b, err = readText(cmd, args[1])
	}
	return a, b, err
}

// readText reads the bytes of a document as a corpus would: a file, decompressed according to its name, a pipe,
// or - for standard input.
func readText(cmd *cobra.Command, path string) ([]byte, error) {
	options := corpus.Options{Format: corpus.Text, MaxRecord: math.MaxInt32}
	useObjects(&options)
	path = bucketurl.LocalPath(path)
	if at, err := os.Stat(path); err == nil && at.IsDir() {
		return nil, fmt.Errorf("%s: a folder, not a text; name a file", fault.Shown(path))
	}
	sources, _, err := corpus.Find(cmd.Context(), []string{path}, options)
	if err != nil {
		return nil, err
	}
	if len(sources) != 1 {
		return nil, fmt.Errorf("%s: the pattern matches %d files; name one", fault.Shown(path), len(sources))
	}
	file, err := corpus.Open(cmd.Context(), sources[0], options)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var block corpus.Block
	if err := file.Next(&block); err != nil {
		return nil, err
	}
	var record corpus.Record
	parser := corpus.NewParser(options)
	parser.Start(file, &block)
	parser.Next(&record)
	return record.Raw, record.Err
}

func printComparison(w io.Writer, c *alike.Comparison, most int) {
	fmt.Fprintf(w, "similarity  %.6f  (Jaccard: %d of %d shingles; %d and %d)\n",
		c.Jaccard, c.Intersection, c.Union, c.FeaturesA, c.FeaturesB)
	for _, e := range c.Estimates {
		fmt.Fprintf(w, "estimate    %.6f  ± %.4f  %s\n", e.Similarity, e.StandardError, e.Scheme)
	}
	if len(c.Passages) == 0 {
		fmt.Fprintln(w, "no shared passages")
		return
	}
	fmt.Fprintf(w, "%s, longest first\n", count(int64(len(c.Passages)), "shared passage"))
	for i, p := range c.Passages {
		if most > 0 && i == most {
			fmt.Fprintf(w, "and %s (--passages 0 prints all)\n", count(int64(len(c.Passages)-most), "shorter one"))
			return
		}
		fmt.Fprintf(w, "%6d tokens  A line %d bytes %d-%d  B line %d bytes %d-%d\n        %s\n",
			p.Tokens, p.A.Line, p.A.Start, p.A.End, p.B.Line, p.B.Start, p.B.End, excerpt(p.Text))
	}
}

// excerptRunes is how much of a passage is printed.
const excerptRunes = 72

// excerpt returns the beginning and the end of a passage on one line.
func excerpt(s string) string {
	s = visible(strings.Join(strings.Fields(s), " "))
	if utf8.RuneCountInString(s) <= excerptRunes {
		return s
	}
	runes := []rune(s)
	return string(runes[:excerptRunes/2]) + " … " + string(runes[len(runes)-excerptRunes/2:])
}
