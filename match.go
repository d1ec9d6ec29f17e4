package alike

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/linkage"
)

// A Matcher finds the records of a table that are one thing with a record. See linkage.Matcher.
type Matcher = linkage.Matcher

// MatchConfig says among which records a Matcher finds those of a record, and how.
type MatchConfig = linkage.MatchConfig

// MatchAnswer says which records, or entities, are one thing with a record.
type MatchAnswer = linkage.MatchAnswer

// OpenMatcher reads and indexes a table. See linkage.OpenMatcher.
func OpenMatcher(ctx context.Context, c MatchConfig) (*Matcher, error) {
	return linkage.OpenMatcher(ctx, c)
}

// ReadMatchModel reads a model for a Matcher: of LearnJoin, or from a file of settings that alike join --save-config has
// written, which may have a least similarity, too; 0: it has none.
func ReadMatchModel(path string) (m *JoinModel, threshold float64, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	data, _ = bom.Text(data)
	if m, threshold, err = linkage.ReadSaved(data); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return m, threshold, err
}

// MatchRecords answers the records of a source, in their order, as they arrive. Their ids are those of o.IDField, else in
// the column of the table's ids, else their numbers from 1 on. skip gets each record that cannot be read, between the answers before and after it. An error of either
// function ends the work, and so does the end of ctx, without waiting for a read that is under way. threads 0: all processors.
func MatchRecords(ctx context.Context, m *Matcher, source corpus.Source, o corpus.Options, threads int, answer func(*MatchAnswer) error, skip func(*corpus.Problem) error) error {
	o.AtOnce, o.NoText, o.Fields = true, true, m.Columns()
	if column := m.IDColumn(); column != "" && o.IDField == "" {
		o.Fields = append(o.Fields[:len(o.Fields):len(o.Fields)], column)
	}
	o.BlockSize = cmp.Or(o.BlockSize, matchedBlock)
	threads = cmp.Or(max(0, threads), runtime.GOMAXPROCS(0))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	blocks := make(chan []asked)
	var failed error // is set before blocks is closed
	go func() {
		defer close(blocks)
		failed = eachAsked(ctx, source, o, len(m.Columns()), func(some []asked) error {
			select {
			case blocks <- some:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case some, more := <-blocks:
			if !more {
				return failed
			}
			for at := 0; at < len(some); at += matchedTogether * threads {
				if err := matchSome(ctx, m, some[at:min(at+matchedTogether*threads, len(some))], threads, answer, skip); err != nil {
					return err
				}
			}
		}
	}
}

const (
	// matchedBlock is how many bytes of records are read at once from a stream that never pauses.
	matchedBlock = 128 << 10
	// matchedTogether is how many records for each thread are matched before their answers are given.
	matchedTogether = 4
)

// asked is a record of a source, or why it cannot be read.
type asked struct {
	id      string
	values  [][]byte
	problem *corpus.Problem
}

// eachAsked calls visit for the records of each block of a source. The first columns of o.Fields are their values; another one
// is a column with their ids.
func eachAsked(ctx context.Context, source corpus.Source, o corpus.Options, columns int, visit func([]asked) error) (err error) {
	f, err := corpus.Open(ctx, source, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p := corpus.NewParser(o)
	var b corpus.Block
	defer b.Release()
	number := 0
	for line := int64(0); ; line += b.Lines {
		if err := f.Next(&b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		p.Start(f, &b)
		var some []asked
		for r := (corpus.Record{}); p.Next(&r); {
			number++
			if r.Err != nil {
				some = append(some, asked{problem: f.RecordProblem(line, &r, r.Err)})
				continue
			}
			of := asked{id: string(r.ID)}
			if len(r.Fields) > columns && of.id == "" {
				of.id = string(r.Fields[columns])
			}
			if of.id == "" {
				of.id = strconv.Itoa(number)
			}
			for _, value := range r.Fields[:columns] {
				of.values = append(of.values, bytes.Clone(value))
			}
			some = append(some, of)
		}
		if err := visit(some); err != nil {
			return err
		}
	}
}

// matchSome answers some records, several at a time, and gives the answers in their order.
func matchSome(ctx context.Context, m *Matcher, some []asked, threads int, answer func(*MatchAnswer) error, skip func(*corpus.Problem) error) error {
	answers := make([]*MatchAnswer, len(some))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, of := range some {
		if of.problem == nil {
			g.Go(func() (err error) {
				answers[i], err = m.Match(ctx, of.id, of.values)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, of := range some {
		var err error
		if of.problem != nil {
			err = skip(of.problem)
		} else {
			err = answer(answers[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadEntitiesOf reads the entities of a table's records from a file of alike entities, for MatchConfig.Entities.
func ReadEntitiesOf(ctx context.Context, path, table string) (map[string]string, error) {
	list, err := linkage.ReadEntities(ctx, path, corpus.Options{})
	if err != nil {
		return nil, err
	}
	entities, err := linkage.EntitiesOfTable(list, table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entities, nil
}
