package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/stage"
)

// Summary adds up the counts of all tasks. Dedup and Cut write it to their output folder.
type Summary struct {
	Read          int64  `json:"read"`
	Kept          int64  `json:"kept"`
	Removed       int64  `json:"removed"`
	Tagged        *int64 `json:"tagged,omitempty"` // with tags: kept, and a near-duplicate of another one
	Skipped       int64  `json:"skipped"`
	Empty         int64  `json:"empty"`
	Candidates    int64  `json:"candidates"` // compared
	Verified      int64  `json:"verified"`
	Partial       *int64 `json:"partial,omitempty"` // with Plan.Whole, of these: no text stands in the other one
	Clusters      int64  `json:"clusters"`
	Pairs         int64  `json:"pairs,omitempty"`
	BucketsCapped int64  `json:"buckets_capped"`
	// References are the documents to compare with, ReferencesSkipped those of them that cannot be used.
	References        int64 `json:"references,omitempty"`
	ReferencesSkipped int64 `json:"references_skipped,omitempty"`
	Missed            int64 `json:"missed,omitempty"` // documents that were compared with the hubs of their buckets only
	// ExpectedRecall, of texts, is the share of the pairs at the threshold that is found: a range if documents are Missed, as
	// if these found nothing. Of records it and ExpectedPrecision are those of Join.
	ExpectedRecall    dedup.Expected `json:"expected_recall,omitzero"`
	ExpectedPrecision dedup.Expected `json:"expected_precision,omitzero"`
	Recipe            string         `json:"recipe,omitempty"`
	Undecided         bool           `json:"undecided,omitempty"` // of records: the data do not tell which are the same, and nothing was removed
	Plan              string         `json:"plan"`
	// Within counts by the values of the field within which texts are compared.
	Within *dedup.Within `json:"within,omitempty"`
	// Passages are the counts of what was cut.
	Passages *dedup.PassageCounts `json:"passages,omitempty"`
	// Join is the report of stage.Match.
	Join *linkage.Report `json:"join,omitempty"`
}

// publish writes the lists and returns the summary. Into a folder it writes the summary too.
func (in *input) publish(ctx context.Context) (*Summary, error) {
	p := in.plan
	if p.Command == stage.Join && p.Join.Format == linklist.Packed {
		if err := in.writeParquet(ctx); err != nil {
			return nil, err
		}
	} else {
		for _, l := range listsOf(p) {
			if err := in.writeList(ctx, l.stream, l.name, l.header); err != nil {
				return nil, err
			}
		}
	}
	s, err := in.summarize(ctx)
	if err != nil || !fillsFolder(p) {
		return s, err
	}
	to, err := in.create(ctx, dedup.SummaryFile)
	if err != nil {
		return nil, err
	}
	defer to.Abort()
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return s, to.Commit()
}

// writeList writes the lines of a stream to a file.
func (in *input) writeList(ctx context.Context, s stage.Stream, name, header string) error {
	p := in.plan
	to, err := in.create(ctx, name)
	if err != nil {
		return err
	}
	if name == "" {
		name = p.Output
	}
	_, compression, _ := corpus.NameFormat(name)
	w, err := corpus.NewWriter(to, compression, 1)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	err = in.Blocks(ctx, s, func(block []byte) error {
		return stage.EachRow(block, p.ID(), s, func(_ []uint64, payload []byte) error {
			_, err := w.Write(payload)
			return err
		})
	})
	if err != nil {
		return err
	}
	return w.Commit()
}

// summarize adds up the counts of all tasks.
func (in *input) summarize(ctx context.Context) (*Summary, error) {
	p := in.plan
	var n [stage.CountsEnd]int64
	err := in.Blocks(ctx, stage.Counts, func(block []byte) error {
		return stage.EachRow(block, p.ID(), stage.Counts, func(words []uint64, _ []byte) error {
			if words[0] >= uint64(stage.CountsEnd) {
				return fmt.Errorf("%w: a count without a name", stage.ErrBlock)
			}
			n[words[0]] += int64(words[1])
			return nil
		})
	})
	s := &Summary{
		Read: n[stage.CountRead] + p.Skipped, Removed: n[stage.CountRemoved], Skipped: n[stage.CountSkipped] + p.Skipped, Empty: n[stage.CountEmpty],
		Candidates: n[stage.CountCompared], Verified: n[stage.CountVerified], Clusters: n[stage.CountClusters], Pairs: n[stage.CountPairs],
		References: n[stage.CountReferences], ReferencesSkipped: n[stage.CountReferencesSkipped], BucketsCapped: n[stage.CountCapped], Missed: n[stage.CountMissed], Recipe: p.Recipe, Plan: p.Digest,
		Undecided: n[stage.CountUndecided] > 0,
	}
	if recall, ok := stage.Recall(&p.Plan); ok {
		s.ExpectedRecall = dedup.Promised(recall).WithoutAll(s.Missed, n[stage.CountRepresentatives])
	}
	if p.Whole {
		s.Partial = new(n[stage.CountPartial])
	}
	if p.Plan.Tags != nil {
		s.Tagged, s.Removed = new(s.Removed), 0
	}
	if c := p.Passages; c != nil {
		s.Pairs, s.Passages = 0, &dedup.PassageCounts{
			Unit: c.Unit, MinTokens: c.MinTokens, MinCount: c.MinCount, Threshold: c.Threshold, NGram: c.NGram, Found: n[stage.CountPairs], Bytes: n[stage.CountCutBytes],
			Changed: n[stage.CountChanged], Emptied: n[stage.CountEmptied], Little: n[stage.CountLittle],
		}
	}
	s.Kept = s.Read - s.Removed - s.Skipped
	if err == nil && p.Join != nil && p.Join.Rule != nil {
		if s.Join, err = in.told(ctx); err == nil {
			s.ExpectedPrecision = dedup.Between(s.Join.ExpectedPrecision[0], s.Join.ExpectedPrecision[1])
			s.ExpectedRecall = dedup.Between(s.Join.ExpectedRecall[0], s.Join.ExpectedRecall[1])
		}
	}
	if err == nil && p.Reading.Within != "" {
		s.Within, err = in.countedWithin(ctx)
	}
	return s, err
}

// countedWithin adds up the counts by values of all tasks.
func (in *input) countedWithin(ctx context.Context) (*dedup.Within, error) {
	w := dedup.NewWithin(in.plan.Reading.Within)
	err := in.Blocks(ctx, stage.ValueCounts, func(block []byte) error {
		return stage.EachRow(block, in.plan.ID(), stage.ValueCounts, func(n []uint64, value []byte) error {
			w.Add(value, int64(n[0]), int64(n[1]), int64(n[2]))
			return nil
		})
	})
	w.Order()
	return w, err
}

// Told returns the report of stage.Match, which must have run.
func Told(ctx context.Context, p *Plan, o Options) (*linkage.Report, error) {
	st, err := openStore(ctx, p, o.Buckets, stage.Publish, 0)
	if err != nil {
		return nil, err
	}
	return (&input{plan: p, store: st, o: &o}).told(ctx)
}

// told returns the report of stage.Match.
func (in *input) told(ctx context.Context) (*linkage.Report, error) {
	r := &linkage.Report{}
	err := in.Blocks(ctx, stage.Told, func(block []byte) error {
		return stage.EachRow(block, in.plan.ID(), stage.Told, func(_ []uint64, payload []byte) error { return json.Unmarshal(payload, r) })
	})
	return r, err
}

// writeParquet writes the list of links as Parquet. It reads the links twice, because the type of a column depends
// on all its values.
func (in *input) writeParquet(ctx context.Context) error {
	p := in.plan
	columns := p.Join.List()
	row, bytes := make([]string, len(columns)), make([]bool, len(columns))
	each := func(visit func() error) error {
		return in.Blocks(ctx, stage.LinksText, func(block []byte) error {
			return stage.EachRow(block, p.ID(), stage.LinksText, func(_ []uint64, payload []byte) error {
				if err := linklist.Unpack(row, payload); err != nil {
					return err
				}
				return visit()
			})
		})
	}
	err := each(func() error {
		for i, value := range row {
			bytes[i] = bytes[i] || !utf8.ValidString(value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	to, err := in.create(ctx, "")
	if err != nil {
		return err
	}
	defer to.Abort()
	w := linklist.NewParquet(to, columns, bytes)
	if err := each(func() error { return w.Write(row) }); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return to.Commit()
}
