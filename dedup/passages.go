package dedup

import (
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/passages"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Unit is what CutPassages compares and cuts.
type Unit = pieces.Unit

// The units. Their words are compared: normalised, folded, without what stands between them.
const (
	// UnitLine is a line. Lines end with LF, CRLF, CR, NEL, U+2028 and U+2029, and take their end with them.
	UnitLine = pieces.Line
	// UnitSentence is a sentence by UAX #29, which takes the space behind it. The lines of a paragraph are joined, except
	// for headings and items of lists, which are units of their own, and for lines of Thai and Lao.
	UnitSentence = pieces.Sentence
	// UnitParagraph is the lines between lines of white space, none of which stands in a code fence.
	UnitParagraph = pieces.Paragraph
	// UnitSubstring is any run of tokens. A token goes if it lies in a window of the least number of tokens that stands
	// first in an earlier document. What is cut begins and ends with a token, splits no character and joins no letters:
	// otherwise it is shorter.
	UnitSubstring = pieces.Substring
)

// Units are all of them.
var Units = pieces.Units

// Passages say what CutPassages cuts.
type Passages struct {
	Unit      Unit `json:"unit"`
	MinTokens int  `json:"min_tokens"` // least number of tokens of a unit; 0: by unit 3, 5, 8 and 50
	MinCount  int  `json:"min_count"`  // least number of documents that have it; 0: 2
	// Threshold, if it is not 0, makes similar units count as one: a unit is compared with the different ones before it,
	// and joins the first of a group from that Jaccard similarity of their shingles on, up to 1. So of a group the units
	// in its first document stay. Not of substrings.
	Threshold float64 `json:"threshold,omitempty"`
	NGram     int     `json:"ngram,omitempty"`      // words in a shingle of Threshold; 0: 1, so that the order of words does not count
	Code      bool    `json:"code,omitempty"`       // code fences and rows of tables are cut too
	FoundOnly bool    `json:"found_only,omitempty"` // nothing is cut: no records are written
}

// PassageCounts are the numbers of a run of CutPassages.
type PassageCounts struct {
	Unit      Unit `json:"unit"`
	MinTokens int  `json:"min_tokens"`
	MinCount  int  `json:"min_count"`
	// Threshold and NGram are those of similar units; 0: only equal ones were found.
	Threshold float64 `json:"threshold,omitempty"`
	NGram     int     `json:"ngram,omitempty"`

	Found   int64 `json:"found"` // rows of FoundFile
	Bytes   int64 `json:"bytes"` // of texts, that go
	Changed int64 `json:"changed"`
	Emptied int64 `json:"emptied"` // of the changed documents, those of which no word stays
	Little  int64 `json:"little"`  // of the changed documents, those left with fewer than 50 words, which LittleFile names
}

// Files of CutPassages, beside KeptFolder and SummaryFile.
const (
	FoundFile  = write.FoundFile  // document,start,end,first_document,first_start
	LittleFile = write.LittleFile // document,words
)

// CutPassages keeps a repeated unit in the first document that has it, where it may repeat, and cuts it out of all others.
// It writes the documents to config.Output as Run does, also those that are files of their own; all bytes but those of
// what is cut stay as they are. Of config it uses Inputs, Output, Outputs, Reads, Corpus, Threads, Memory, OnError, OnSkip,
// OnNotice, Progress and Work. With a WorkFolder the pieces that were read, and those that go, are kept for another process,
// which writes the output again.
//
// Pieces are compared by 96-bit hashes of their words. The input is read three times, for substrings four times; what
// exceeds Memory goes to disk, 16 bytes a unit, or a token of substrings, and three times that for what is cut. With a
// Threshold the different units are written to disk as well, and compared by a Run, by LSH where that costs less.
func CutPassages(ctx context.Context, config Config, o Passages) (summary *Summary, err error) {
	if config.Output == "" {
		return nil, fmt.Errorf("%w: no output folder", ErrUsage)
	}
	s, err := settle(config)
	if err == nil {
		err = asUsage(o.settle(s))
	}
	if err != nil {
		return nil, err
	}
	out, err := write.Open(ctx, s.fs, s.Output, s.Corpus)
	if err != nil {
		return nil, err
	}
	out.Needs = []string{FoundFile, LittleFile, SummaryFile}
	j, in, err := begin(ctx, s, o.identity(), func() error { return out.CheckEmpty(ctx, s.Folder != "") })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close(err == nil)) }()
	if o.Threshold > 0 {
		j.space.Leave(j.Memory / 2) // to the run that compares units
	}
	return runInto(ctx, j, in, out, write.AllWritten(in.sources), &Summary{}, func(in *inputs) (*Summary, error) {
		s, err := cutPassages(ctx, j, in, o, out)
		if err != nil {
			return nil, err
		}
		return s, publish(ctx, j, out, write.AllWritten(in.sources), s, nil, nothing)
	}, nothing)
}

// identity is what the result depends on, in the journal. Its number changes with the rules of package passages.
func (o *Passages) identity() string {
	return fmt.Sprintf("passages 1, %s of %d, %d documents, code %v, similar %v of %d", o.Unit, o.MinTokens, o.MinCount, o.Code, o.Threshold, o.NGram)
}

// Settled returns the passages with their defaults. Its error says what does not go together.
func (o Passages) Settled() (Passages, error) {
	if o.MinTokens == 0 {
		o.MinTokens = o.Unit.Least()
	}
	if o.MinCount == 0 {
		o.MinCount = 2
	}
	if o.Threshold > 0 && o.NGram == 0 {
		o.NGram = 1
	} else if o.Threshold == 0 && o.NGram == 1 { // the default, said without need
		o.NGram = 0
	}
	if o.Threshold != 0 {
		if _, err := measure.NewThreshold(measure.Jaccard, o.Threshold); err != nil {
			return o, fmt.Errorf("the threshold of units: %w", err)
		}
	}
	switch {
	case o.Threshold > 0 && o.Unit == UnitSubstring:
		return o, errors.New("substrings are found word for word: similar units are lines, sentences or paragraphs")
	case o.Threshold == 0 && o.NGram > 1:
		return o, errors.New("shingles are those of similar units, for which there is no threshold")
	case o.NGram < 0 || o.NGram > shingle.MostN:
		return o, fmt.Errorf("shingles of %d words: take 1 to %d", o.NGram, shingle.MostN)
	case o.MinCount < 2:
		return o, fmt.Errorf("passages of at least %d documents: take 2 or more", o.MinCount)
	}
	return o, o.cut().Validate()
}

// settle fills in the defaults, and refuses what does not go together.
func (o *Passages) settle(s *settings) (err error) {
	if *o, err = o.Settled(); err != nil {
		return err
	}
	if s.Known != nil || s.Link != nil || len(s.Against)+len(s.With) > 0 || s.Fingerprints || s.Tags != nil || s.IDsOnly || s.Rarity != nil {
		return errors.New("passages are cut out of texts alone: no index, links, references, second side, fingerprints, tags, lists of ids or weights")
	}
	return nil
}

func (o *Passages) cut() pieces.Options {
	return pieces.Options{Unit: o.Unit, Tokens: o.MinTokens, Code: o.Code}
}

// cutPassages does the work, everything except the summary.
func cutPassages(ctx context.Context, j *job, in *inputs, o Passages, out *write.Folder) (summary *Summary, err error) {
	seen := j.Corpus.Watch()
	p := &passages.Job{
		Cut: o.cut(), Least: o.MinCount, Sources: in.sources, Corpus: j.Corpus, Space: j.space, Progress: j.Progress,
		Problem: func(problem *corpus.Problem) error { return j.account.skip(problem, false) },
	}
	var d *passages.Documents
	var g *passages.Groups
	err = j.account.stage("read", in.bytes(), func() (items, bytes int64, err error) {
		if d, g, err = findPassages(ctx, j, p, o); err != nil {
			return 0, 0, err
		}
		return d.Count, d.Bytes, nil
	})
	if d != nil {
		defer func() { err = errors.Join(err, d.Close()) }()
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close(j.space)) }()
	if seen.LacksIDs(j.Corpus) {
		j.OnNotice(j.Corpus.NoIDs())
	}
	kept := out
	if o.FoundOnly {
		kept = nil
	}
	var rows *passages.Rows
	err = j.account.stage("write", in.bytes(), func() (items, bytes int64, err error) {
		if err := out.Restart(); err != nil {
			return 0, 0, err
		}
		rows, err = passages.Write(ctx, p, d, g, kept)
		return d.Count, d.Bytes, err
	})
	defer func() { err = errors.Join(err, rows.Close(p)) }()
	if err != nil {
		return nil, err
	}
	err = j.account.stage("list", 0, func() (items, bytes int64, err error) {
		return rows.Counts.Rows, 0, passages.List(ctx, p, d, rows, out)
	})
	a := j.account
	a.Read, a.Kept, a.TextScheme, a.SketchScheme, a.Verify = d.Count+a.Skipped, d.Count, text.Options{}.String(), "", ""
	a.Passages = &PassageCounts{
		Unit: o.Unit, MinTokens: o.MinTokens, MinCount: o.MinCount, Threshold: o.Threshold, NGram: o.NGram, Found: rows.Counts.Rows, Bytes: rows.Bytes,
		Changed: rows.Changed, Emptied: rows.Emptied, Little: rows.Little,
	}
	return a.finish(j.space), err
}

// findPassages finds the pieces that go, and where they stand first. Of a run that goes on only the documents are read
// again.
func findPassages(ctx context.Context, j *job, p *passages.Job, o Passages) (d *passages.Documents, g *passages.Groups, err error) {
	groups, _, err := j.log.Step(ctx, "gone", func() (_ []*extsort.Sorted, _ int64, err error) {
		var all *extsort.Sorted
		if d, all, err = readPieces(ctx, j, p); err != nil {
			return nil, 0, err
		}
		g, err := groupPieces(ctx, j, p, o, d, all)
		if err != nil {
			return nil, 0, err
		}
		return []*extsort.Sorted{g.Firsts, g.Places}, 0, nil
	}, j.space.Sorting("firsts", 8, 0), j.space.Sorting("places", 8, 0))
	if err == nil && d == nil {
		d, err = passages.Read(ctx, p, nil)
	}
	if err != nil {
		return d, nil, err
	}
	return d, &passages.Groups{Firsts: groups[0], Places: groups[1]}, nil
}

// readPieces reads the documents, and their pieces unless an earlier process has.
func readPieces(ctx context.Context, j *job, p *passages.Job) (d *passages.Documents, all *extsort.Sorted, err error) {
	sorting := j.space.Sorting("pieces", 2, 0)
	made, _, err := j.log.Step(ctx, "pieces", func() (_ []*extsort.Sorted, _ int64, err error) {
		all, err := j.space.Sorted(ctx, sorting, func(to *extsort.Appender) (err error) {
			d, err = passages.Read(ctx, p, to)
			return err
		})
		return []*extsort.Sorted{all}, 0, err
	}, sorting)
	if err == nil && d == nil {
		d, err = passages.Read(ctx, p, nil)
	}
	if err != nil {
		return d, nil, errors.Join(err, j.space.ReleaseAll(made...))
	}
	return d, made[0], nil
}

// groupPieces finds the pieces that go, and where they stand first. It takes the pieces.
func groupPieces(ctx context.Context, j *job, p *passages.Job, o Passages, d *passages.Documents, all *extsort.Sorted) (g *passages.Groups, err error) {
	if o.Threshold > 0 {
		g, err = findNear(ctx, j, p, o, d, all)
		err = errors.Join(err, j.space.Release(all))
	} else {
		var gone *extsort.Sorted
		g, gone, err = passages.Group(ctx, p, all)
		if err = errors.Join(err, j.space.Release(all)); err == nil {
			err = passages.Place(ctx, p, d, g, gone)
		}
	}
	if err != nil && g != nil {
		err = errors.Join(err, g.Close(j.space))
	}
	return g, err
}

// findNear finds the pieces that go if those that are similar count as one.
func findNear(ctx context.Context, j *job, p *passages.Job, o Passages, d *passages.Documents, all *extsort.Sorted) (g *passages.Groups, err error) {
	name := j.space.Unique("units", ".part")
	file, err := j.space.Create(name)
	if err != nil {
		return nil, err
	}
	units, err := passages.Unite(ctx, p, d, all, file)
	defer func() { err = errors.Join(err, units.Close()) }()
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	path, err := j.space.PathOf(name)
	if err != nil {
		return nil, err
	}
	like, err := compareUnits(ctx, j, o, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.space.Release(like)) }()
	if err := j.space.Remove(name); err != nil {
		return nil, fault.InWorkFolder(err)
	}
	return passages.GroupNear(ctx, p, units, all, like)
}

// compareUnits returns, of each unit that joins an earlier one, the number of that one: number → number.
func compareUnits(ctx context.Context, j *job, o Passages, units string) (like *extsort.Sorted, err error) {
	out, err := j.space.PathOf(j.space.Unique("near", ".part"))
	if err != nil {
		return nil, err
	}
	c := Config{Inputs: []string{units}, Output: out, Threads: j.Threads, Progress: j.Progress, fs: j.fs, limits: j.limits}
	if j.Memory > 0 { // half of what is for data is left by the other stages: see CutPassages
		c.Memory = j.Memory/2 + scratch.Outside(j.Threads)
	}
	return j.space.Sorted(ctx, j.space.Sorting("like", 8, 32), func(to *extsort.Appender) error {
		return SimilarUnits(ctx, c, o, to.Add)
	})
}
