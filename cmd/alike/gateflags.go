package main

import (
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/gate"
	"github.com/alike-dev/alike/internal/version"
)

// gateFlags are the flags of a gate for new pairs.
type gateFlags struct {
	baseline, write, sarif string

	known *gate.Baseline // nil: every pair is new
	texts string         // see gate.Baseline
	pairs []alike.Pair
	all   []gate.Pair // the same
	fresh int
	gone  int
	files []outputFile // of write and sarif
}

func (g *gateFlags) add(own *pflag.FlagSet) {
	own.StringVar(&g.baseline, "baseline", "", "`file` of known pairs: list only new ones, and exit with 4 if there are any")
	own.StringVar(&g.write, "write-baseline", "", "write the pairs of today to this `file`, for --baseline")
	own.StringVar(&g.sarif, "sarif", "", "write the listed pairs to this `file` too, as SARIF 2.1.0, for code hosts and editors")
}

func (g *gateFlags) wanted() bool { return g.baseline != "" || g.write != "" || g.sarif != "" }

// prepare reads the baseline, and tells the run what is wanted of it.
func (g *gateFlags) prepare(c *alike.Config) error {
	if !g.wanted() {
		return nil
	}
	r, err := c.Recipe()
	if err != nil {
		return err
	}
	c.Places, g.texts = true, r.Signature()
	for _, of := range []struct{ flag, name string }{{"--write-baseline", g.write}, {"--sarif", g.sarif}} {
		if err := checkEnding(of.flag, of.name, append(jsonEndings, ".sarif")); err != nil {
			return err
		}
		c.Outputs = append(c.Outputs, named(of.name)...)
	}
	if g.baseline == "" {
		return nil
	}
	if g.baseline != g.write { // which replaces it in the end
		c.Reads = append(c.Reads, g.baseline)
	}
	file, err := os.Open(bucketurl.LocalPath(g.baseline))
	if err != nil {
		return fmt.Errorf("--baseline %s: %w; --write-baseline makes one of the pairs of today", fault.Shown(g.baseline), fault.File(err))
	}
	defer file.Close()
	if g.known, err = gate.Read(file); err != nil {
		return fmt.Errorf("--baseline %s: %w", fault.Shown(g.baseline), err)
	}
	if g.known.Texts != g.texts {
		return usagef("--baseline %s is of texts that were read in another way,\n  %s\nand not\n  %s\ngive the flags with which it was written, or write it again", fault.Shown(g.baseline), g.known.Texts, g.texts)
	}
	return nil
}

// open opens the files, when it is clear that none is an input.
func (g *gateFlags) open(cmd *cobra.Command) error {
	g.files = make([]outputFile, 2)
	for i, name := range []string{g.write, g.sarif} {
		if name == "" {
			continue
		}
		if err := g.files[i].open(cmd, name); err != nil {
			return err
		}
	}
	return nil
}

func (g *gateFlags) discard() {
	for i := range g.files {
		g.files[i].discard()
	}
}

// take keeps a pair until all are known.
func (g *gateFlags) take(p alike.Pair) error {
	a, b := p.Places[0], p.Places[1]
	p.A, p.B = append([]byte{}, p.A...), append([]byte{}, p.B...)
	g.pairs = append(g.pairs, p)
	g.all = append(g.all, gate.Pair{
		A: gate.Document{Name: string(p.A), Path: a.Path, Line: a.Line, Text: a.Text}, B: gate.Document{Name: string(p.B), Path: b.Path, Line: b.Line, Text: b.Text},
		Similarity: p.Similarity,
	})
	return nil
}

// end lists the pairs that are new, and writes the files.
func (g *gateFlags) end(list func(alike.Pair) error) error {
	fresh := g.all
	if g.known != nil {
		isNew, gone := g.known.Match(g.all)
		g.gone, fresh = gone, nil
		for i, p := range g.all {
			if isNew[i] {
				fresh = append(fresh, p)
			} else {
				g.pairs[i].A = nil
			}
		}
	}
	g.fresh = len(fresh)
	for _, p := range g.pairs {
		if p.A == nil { // known
			continue
		}
		if err := list(p); err != nil {
			return err
		}
	}
	if g.write != "" {
		if err := g.commit(0, gate.Of(g.texts, g.all).Write); err != nil {
			return err
		}
	}
	if g.sarif == "" {
		return nil
	}
	return g.commit(1, func(w io.Writer) error { return gate.WriteSARIF(w, version.Text(), fresh, g.known != nil) })
}

func (g *gateFlags) commit(i int, write func(io.Writer) error) error {
	if err := write(&g.files[i]); err != nil {
		return err
	}
	return g.files[i].commit()
}

// tell says what is new.
func (g *gateFlags) tell(w io.Writer) {
	if g.known == nil {
		return
	}
	fmt.Fprintf(w, "%s new, %s known", count(int64(g.fresh), "pair"), humanize.Comma(int64(len(g.all)-g.fresh)))
	if g.gone > 0 {
		fmt.Fprintf(w, ", %s of the baseline gone", humanize.Comma(int64(g.gone)))
	}
	if fmt.Fprintln(w); g.fresh > 0 && g.write == "" {
		fmt.Fprintf(w, "alike: keep one of the two texts and refer to it, or accept the pairs with --write-baseline %s\n", fault.Shown(g.baseline))
	}
}

// verdict is errAlike if there are new pairs that this run does not accept.
func (g *gateFlags) verdict() error {
	if g.known != nil && g.fresh > 0 && g.write == "" {
		return errAlike
	}
	return nil
}
