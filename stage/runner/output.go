package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/stage"
)

// Keep implements stage.Input: it copies the kept records of the task's files.
func (in *input) Keep(ctx context.Context, kept func(position uint64) bool, tag func(position uint64) (stage.Tag, error)) error {
	if in.plan.Engine { // the engine drops documents itself
		return nil
	}
	k := &keeper{kept: kept}
	if tag != nil {
		k.fields = in.plan.tags()
		k.tag = func(position uint64) (tagging.Tag, error) {
			t, err := tag(position)
			if t.Duplicate && int(t.KeptFile) < len(in.plan.Files) {
				t.In = in.plan.Files[t.KeptFile].label()
			}
			return t.Tag, err
		}
	}
	return in.eachFile(ctx, func(file uint64, source corpus.Source, o corpus.Options) error {
		return in.keep(ctx, source, file, o, k)
	})
}

// A keeper says which records of a file are copied, and what is added to them.
type keeper struct {
	kept   func(position uint64) bool
	fields *tagging.Fields // nil: nothing
	tag    func(position uint64) (tagging.Tag, error)
}

// told ignores damage, which the first stage has reported.
func told(*corpus.Problem) error { return nil }

func (in *input) keep(ctx context.Context, source corpus.Source, file uint64, o corpus.Options, k *keeper) (err error) {
	if source.Format == corpus.Text { // it is listed
		return nil
	}
	f, err := corpus.Open(ctx, source, o)
	if err != nil {
		return broken(ctx, err, told)
	}
	to, err := in.create(ctx, path.Join(dedup.KeptFolder, source.Name))
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w, err := corpus.NewWriter(to, source.Compression, 1)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer w.Abort()
	if source.Format == corpus.Parquet {
		_ = f.Close() // it was opened only to see whether it can be read
		err = corpus.CopyRows(ctx, w, source, o, k.rows(file), func(row int64) bool { return k.kept(file<<32 | uint64(row)) })
	} else {
		err = errors.Join(copyRecords(ctx, f, file, w, o, k), f.Close())
	}
	if err != nil {
		return err
	}
	return w.Commit()
}

// rows says how the rows of a Parquet file are copied.
func (k *keeper) rows(file uint64) corpus.RowCopy {
	how := corpus.RowCopy{Threads: 1}
	if k.fields != nil {
		tags := k.fields.Rows()
		how.Extra = func(rows []int64) ([]byte, error) {
			return tags.File(rows, func(row int64) (tagging.Tag, error) { return k.tag(file<<32 | uint64(row)) })
		}
	}
	return how
}

func copyRecords(ctx context.Context, f *corpus.File, file uint64, w *corpus.Writer, o corpus.Options, k *keeper) error {
	parser := corpus.NewParser(o)
	var record corpus.Record
	number, headed := uint64(0), false
	var tags *tagging.RecordTagger // nil: records are copied as they are
	head := func() error {         // a byte order mark is known only when a block was read
		if headed {
			return nil
		}
		headed = true
		header := f.Header()
		if k.fields != nil {
			tags = k.fields.Records(f)
			header = tags.Header(header)
		}
		_, err := w.Write(header)
		return err
	}
	err := eachBlockOf(ctx, f, told, func(b *corpus.Block) error {
		if err := head(); err != nil {
			return err
		}
		parser.Start(f, b)
		for ; parser.NextRaw(&record); number++ {
			if !k.kept(file<<32 | number) {
				continue
			}
			raw := record.Raw
			if tags != nil {
				t, err := k.tag(file<<32 | number)
				if err != nil {
					return err
				}
				raw = tags.Record(raw, &t)
			}
			if _, err := w.Write(raw); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return cmp.Or(err, head())
}

// Summary adds up the counts of all tasks. Dedup writes it to its output folder.
type Summary struct {
	Read          int64  `json:"read"`
	Kept          int64  `json:"kept"`
	Removed       int64  `json:"removed"`
	Tagged        *int64 `json:"tagged,omitempty"` // with tags: kept, and a near-duplicate of another one
	Skipped       int64  `json:"skipped"`
	Empty         int64  `json:"empty"`
	Candidates    int64  `json:"candidates"` // compared
	Verified      int64  `json:"verified"`
	Clusters      int64  `json:"clusters"`
	Pairs         int64  `json:"pairs,omitempty"`
	BucketsCapped int64  `json:"buckets_capped"`
	// References are the documents to compare with, ReferencesSkipped those of them that cannot be used.
	References        int64  `json:"references,omitempty"`
	ReferencesSkipped int64  `json:"references_skipped,omitempty"`
	Missed            int64  `json:"missed,omitempty"` // documents that were compared with the hubs of their buckets only
	Recipe            string `json:"recipe,omitempty"`
	Plan              string `json:"plan"`
	// Within counts by the values of the field within which texts are compared.
	Within *dedup.Within `json:"within,omitempty"`
	// Join is the report of stage.Match.
	Join *linkage.Report `json:"join,omitempty"`
}

// publish writes the lists and returns the summary. For Dedup it writes the summary too.
func (in *input) publish(ctx context.Context) (*Summary, error) {
	p := in.plan
	type textList struct {
		stream       stage.Stream
		name, header string
	}
	lists := []textList{{stage.PairsText, "", "a,b,similarity\n"}}
	switch {
	case p.Command == stage.Join && p.Join.Format == linklist.Packed:
		lists = nil
		if err := in.writeParquet(ctx); err != nil {
			return nil, err
		}
	case p.Command == stage.Join:
		var header strings.Builder
		if err := linklist.WriteHeader(&header, p.Join.Format, p.Join.List()); err != nil {
			return nil, err
		}
		lists = []textList{{stage.LinksText, "", header.String()}}
	case p.Command == stage.Dedup:
		members := "id,cluster\n"
		if p.Join != nil {
			members = "id,cluster,probability\n"
		}
		lists = []textList{{stage.RemovedText, dedup.RemovedFile, "id,kept_id,similarity\n"}, {stage.ClustersText, dedup.ClustersFile, members}}
		if p.Listed {
			lists = append(lists, textList{stage.KeptText, dedup.KeptList, ""})
		}
	}
	for _, l := range lists {
		if err := in.writeList(ctx, l.stream, l.name, l.header); err != nil {
			return nil, err
		}
	}
	s, err := in.summarize(ctx)
	if err != nil || p.Command != stage.Dedup {
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
	}
	if p.Plan.Tags != nil {
		s.Tagged, s.Removed = new(s.Removed), 0
	}
	s.Kept = s.Read - s.Removed - s.Skipped
	if err == nil && p.Join != nil && p.Join.Rule != nil {
		s.Join, err = in.told(ctx)
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
