package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/stage"
)

// Run runs one task of a stage, unless its object is there, and the results that it has written. After stage.Publish
// it returns the summary of the run, also if the task had been done before, else nil.
func Run(ctx context.Context, p *Plan, name string, number int, o Options) (s *Summary, err error) {
	if p.Engine && (p.Work == "" || name == stage.Publish) {
		return nil, errEngine
	}
	of, err := p.Find(name, number)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, p, o.Buckets, name, number)
	if err != nil {
		return nil, err
	}
	if o.Blocks == nil && !o.Again {
		if done, err := st.done(ctx, of, number, o.Buckets); err != nil || done != nil {
			return done.summary(), err
		}
	}
	if o.Begin != nil {
		if err := o.Begin(); err != nil {
			return nil, err
		}
	}
	space := o.space(p, name, number)
	defer func() { err = errors.Join(err, space.Close()) }()
	if p.Join != nil && name != p.Stages()[0].Name && name != stage.Write {
		o.OnSkip = nil // the first stage has reported these records
	}
	h := p.header(of, number)
	in := &input{plan: p, number: number, store: st, header: h, o: &o}
	run := func(to stage.Output) error {
		if name == stage.Publish {
			s, err := in.publish(ctx)
			if err == nil {
				removeRemains(p)
			}
			h.Summary = s
			return err
		}
		err := stage.Run(ctx, &p.Plan, name, number, in, to, space)
		if err == nil && name == stage.Write && p.Command != stage.Join {
			err = in.tellRepeats(ctx)
		}
		return err
	}
	if o.Blocks != nil {
		to := &frames{to: bufio.NewWriterSize(o.Blocks, 256<<10)}
		err := errors.Join(run(to), to.to.Flush())
		return h.Summary, err
	}
	if err := st.leave(ctx, space, of, h, run); err != nil {
		return nil, err
	}
	return h.Summary, nil
}

var errEngine = fmt.Errorf("%w: %w", dedup.ErrUsage,
	setting.Errorf("the plan is for an engine, which hands over documents and blocks itself: use %s", setting.Pipe))

// tellRepeats reports the documents of the task that are skipped because an earlier one has their name.
func (in *input) tellRepeats(ctx context.Context) error {
	return in.Blocks(ctx, stage.Repeats, func(block []byte) error {
		return stage.EachRow(block, in.plan.ID(), stage.Repeats, func(words []uint64, _ []byte) error {
			place := func(position uint64) string {
				if file := position >> 32; file < uint64(len(in.plan.Files)) {
					return in.plan.Files[file].Path
				}
				return ""
			}
			p := &corpus.Problem{Path: place(words[0]), Err: fault.Because(fault.ErrRepeatedName,
				"record %d has the name of record %d of %s; make ids unique, or name documents by file and line with %s %s",
				uint32(words[0])+1, uint32(words[1])+1, fault.Shown(place(words[1])), setting.IDField, corpus.NoID,
			)}
			if in.plan.Reading.Fail {
				return p
			}
			if in.o.OnSkip != nil {
				in.o.OnSkip(p)
			}
			return nil
		})
	})
}
