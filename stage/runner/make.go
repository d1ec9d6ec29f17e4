package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/stage"
)

// PlanOptions say how to divide the work and where the results go.
type PlanOptions struct {
	Command    string // for Make stage.Dedup or stage.Pairs, for MakeJoin stage.Join or stage.Dedup
	Work       string // folder or URL for the blocks; "": beside the output
	Output     string
	Partitions int    // 0: by the size of the input and the memory of a task; 1: stages are joined where they can be
	Memory     int64  // bytes of a task's process; 0: 1 GiB
	Engine     []int  // parts in which an engine passes in the documents: one number, for MakeJoin one for each table
	Prices     Prices // for the estimate
	// Probability adds a column to the list of MakeJoin: the probability that a link is right.
	Probability bool
	// For MakeJoin with the Command stage.Dedup. Connected makes clusters of all that links connect, in place of those that hold, and
	// Accept removes records even if the data do not tell which are the same.
	Keep              cluster.Keep
	Connected, Accept bool
}

const defaultMemory = 1 << 30

// Make makes the plan of a run. It finds the inputs, chooses the settings that the configuration leaves
// open, and estimates the work from a sample of the input. If a setting works on one machine only, the
// error wraps dedup.ErrUsage.
func Make(ctx context.Context, c dedup.Config, o PlanOptions) (*Plan, error) {
	if err := check(&c, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", dedup.ErrUsage, err)
	}
	r, err := c.Recipe()
	if err != nil {
		return nil, err
	}
	p := o.plan()
	p.Recipe, p.BucketCap = r.String(), cmp.Or(c.BucketCap, dedup.DefaultBucketCap)
	decision, _ := c.Decide.(dedup.Similarity)
	if decision.Candidates == dedup.Candidates(dedup.Exact{}) { // a caller that asks for exact wants every pair
		p.BucketCap = 0
	}
	kept, _ := c.Survivors.(dedup.OnePerCluster)
	p.Reading = reading(&c)
	p.Reading.Within = c.Within
	if o.Command == stage.Dedup {
		p.Keep, p.Star, p.Reading.Field = kept.Keep.String(), kept.Star, kept.Keep.Field()
		p.Whole = kept.Whole
		if c.Tags != nil {
			p.Plan.Tags = &stage.Tags{Prefix: c.Tags.Prefix, Rows: len(o.Engine) > 0}
		}
	}
	if err := p.Decide(); err != nil {
		return nil, fmt.Errorf("%w: %w", dedup.ErrUsage, err)
	}
	if len(o.Engine) > 0 {
		p.divideParts(o.Engine)
		p.Joined = p.Work != "" && p.Partitions == 1
		return p.made()
	}
	if err := p.findFiles(ctx, c); err != nil {
		return nil, err
	}
	if err := p.divide(ctx, c, r.Keys(), o.Prices); err != nil {
		return nil, err
	}
	return p.made()
}

// plan returns a plan with the fields that the options give.
func (o *PlanOptions) plan() *Plan {
	return &Plan{
		Plan: stage.Plan{Version: stage.PlanVersion, Command: o.Command, Partitions: o.Partitions},
		Work: absolute(o.Work), Output: absolute(o.Output), Memory: cmp.Or(o.Memory, defaultMemory),
	}
}

// divideParts makes a task for each part that an engine passes in.
func (p *Plan) divideParts(parts []int) {
	p.Engine, p.Run = true, strconv.FormatUint(durable.NewID(), 16)
	for _, n := range parts {
		for range n {
			p.FirstFiles = append(p.FirstFiles, len(p.FirstFiles))
		}
	}
	if p.Partitions == 0 {
		p.Partitions = len(p.FirstFiles)
	}
}

// check refuses settings that stages do not support, and completes the others.
func check(c *dedup.Config, o *PlanOptions) error {
	_, with := c.Beside.(dedup.With)
	_, against := c.Beside.(dedup.Against)
	_, known := c.Survivors.(dedup.NewTo)
	_, records := c.Decide.(dedup.ByLinks)
	decision, bySimilarity := c.Decide.(dedup.Similarity)
	switch {
	case with:
		return errors.New("second collections are compared on one machine only: leave them out, or put all into one collection")
	case against && len(o.Engine) > 0:
		return errors.New("an engine hands over one collection: leave references out, or put them into it")
	case c.Fingerprints || decision.Shared:
		return errors.New("fingerprints of sketch are compared on one machine only: take texts")
	case decision.ThirdTexts:
		return setting.Errorf("%s asks texts that are spread over all tasks, so it is for one machine only: leave it out, and take a larger %s", setting.ThirdTexts, setting.Threshold)
	case records:
		return errors.New("links are no part of this plan: plan a join of tables")
	case known:
		return errors.New("an index grows on one machine only: leave it out")
	case c.IDsOnly:
		return errors.New("lists of ids in place of records are written on one machine only")
	case len(o.Engine) == 0 && o.Output == "":
		return errors.New("no place for the results: name a folder, a file or a URL")
	}
	auto, ok := decision.Candidates.(dedup.Auto)
	if (bySimilarity || c.Decide == nil) && (ok || decision.Candidates == nil) && !decision.Measure.IsCount() {
		decision.Candidates = dedup.LSH(auto) // to decide for auto, all sets would have to be read before planning
		c.Decide = decision
	}
	for _, in := range c.Inputs {
		if in == "-" {
			return errors.New("standard input can be read by one task only: put it into files")
		}
	}
	if o.Work == "" && len(o.Engine) == 0 {
		o.Work = beside(o.Output)
	}
	return nil
}

// beside returns the default place of work files: beside the output.
func beside(output string) string {
	at, ok := bucketurl.Parse(output)
	if !ok || at.Scheme == "file" {
		return strings.TrimRight(output, `/\`) + ".work"
	}
	at.Key = strings.TrimRight(at.Key, "/") + ".work"
	return at.Address()
}

func reading(c *dedup.Config) Reading {
	return Reading{
		Format: c.Corpus.Format, TextField: c.Corpus.TextField, IDField: c.Corpus.IDField, MaxRecord: c.Corpus.MaxRecord, Fail: c.OnError == dedup.OnErrorFail,
	}
}

// absolute returns a path that is valid in every working folder.
func absolute(where string) string {
	if bucketurl.Is(where) || where == "" {
		return where
	}
	if path, err := filepath.Abs(bucketurl.LocalPath(where)); err == nil {
		return path
	}
	return where
}

// findFiles finds the inputs and puts them into the plan.
func (p *Plan) findFiles(ctx context.Context, c dedup.Config) error {
	if fillsFolder(p) {
		c.Output = p.Output
	} else {
		c.Outputs = append(c.Outputs, p.Output)
	}
	sources, references, skipped, err := dedup.Sources(ctx, c)
	if err != nil {
		return err
	}
	p.References, p.Skipped = references, skipped
	for i, s := range sources {
		if s.Stream {
			return fmt.Errorf("%w: %s is a stream, which one task only could read: put it into a file", dedup.ErrUsage, s.Label())
		}
		if p.Plan.Tags != nil && i >= references && !tagging.Carry(s.Format) {
			return fmt.Errorf("%w: %s has documents that are files or lines of their own, which can carry no tags: tag them on one machine", dedup.ErrUsage, s.Label())
		}
		p.Listed = p.Listed || s.Format == corpus.Text && p.Command == stage.Dedup && i >= references
		f, err := fileOf(ctx, s, c.Corpus)
		if err != nil {
			return err
		}
		p.Files = append(p.Files, f)
	}
	return p.checkEmpty(ctx, c.Corpus.Buckets)
}

// checkEmpty refuses an output folder that is not empty. An output file is replaced instead.
func (p *Plan) checkEmpty(ctx context.Context, buckets Buckets) error {
	if !fillsFolder(p) {
		return nil
	}
	full := ""
	if bucketurl.Is(p.Output) {
		at, err := remote.Open(ctx, p.Output, buckets)
		if err == nil {
			full, err = at.First(ctx)
		}
		if err != nil {
			return err
		}
	} else {
		entries, err := os.ReadDir(p.Output)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(entries) > 0 {
			full = entries[0].Name()
		}
	}
	if full != "" {
		return fmt.Errorf("%w: the output %s is not empty: it has %s; name another folder", dedup.ErrUsage, p.Output, full)
	}
	return nil
}

// MakePassages makes the plan of a run that cuts passages, as dedup.CutPassages does. It finds the inputs, and estimates the
// work from a sample of them. If a plan cannot express a setting, the error wraps dedup.ErrUsage.
func MakePassages(ctx context.Context, c dedup.Config, what dedup.Passages, o PlanOptions) (*Plan, error) {
	o.Command = stage.Cut
	err := check(&c, &o)
	if err == nil {
		what, err = what.Settled()
	}
	if err == nil && len(o.Engine) > 0 {
		err = errors.New("an engine has no place for texts that were cut: read files and write files")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dedup.ErrUsage, err)
	}
	p := o.plan()
	p.Passages, p.Reading = &what, reading(&c)
	if err := p.findFiles(ctx, c); err != nil {
		return nil, err
	}
	if err := p.divide(ctx, c, 0, o.Prices); err != nil {
		return nil, err
	}
	return p.made()
}
