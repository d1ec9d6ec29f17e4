package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/among"
	"github.com/alike-dev/alike/internal/version"
	"github.com/alike-dev/alike/mcpserver"
	"github.com/alike-dev/alike/shingle"
)

const mcpHelp = `Answer agents, by the Model Context Protocol on standard input and output.

Tools: check (is this text new?), search, compare, clusters (what is there twice, with --among)
and, with --add, add. Documents are resources, alike://document/ID. The answers are those of
alike check; nothing is changed without --add. The folder of --among is read again when it has
changed. It needs no model and no key.

  claude mcp add notes -- alike mcp --among ~/notes`

// answering are the flags of the command.
type answering struct {
	checking
	add bool
}

func newMCP() *cobra.Command {
	var f answering
	cmd := &cobra.Command{
		Use:     "mcp --among FOLDER | --index DIR",
		Short:   "Answer agents: is this new, what is like it?",
		Long:    mcpHelp,
		Example: "  alike mcp --among notes/\n  alike mcp --index wiki.index --add",
		Args:    none("standard input is for requests: name no file"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	own := cmd.Flags()
	f.addPlaces(own)
	own.BoolVar(&f.add, "add", false, "with --index: offer a tool that adds a text if it is new")
	f.text.Add(own)
	f.input.addReading(own)
	f.input.pre.add(own)
	completeChoices(cmd)
	return cmd
}

func (f *answering) run(cmd *cobra.Command) error {
	f.top, f.checking.add = 1, f.add
	if err := f.validate(cmd); err != nil {
		return err
	}
	features, err := f.text.Options()
	if err != nil {
		return err
	}
	o := mcpserver.Options{Name: "alike", Version: version.Text(), Threshold: f.threshold, Features: features}
	var c mcpserver.Collection
	if f.index != "" {
		x, err := f.openIndex()
		if err != nil {
			return err
		}
		defer x.Close()
		c = &openIndex{x: x}
		if f.add {
			o.Add = addTo(x)
		}
	} else {
		how, err := f.amongOptions(cmd)
		if err != nil {
			return err
		}
		folder := &openFolder{o: how, config: alike.Config{Inputs: how.Inputs, Corpus: how.Corpus, Threads: how.Threads, Memory: how.Memory}, features: features}
		defer folder.close()
		if err := folder.Use(cmd.Context(), func(*index.Searcher, *index.Index) error { return nil }); err != nil {
			return err // at the start, where somebody reads it
		}
		c = folder
	}
	err = mcpserver.New(c, o).Run(cmd.Context(), mcpserver.Lines(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout()))
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) { // so clients end it: by a signal, or the end of input
		return nil
	}
	return err
}

// openIndex opens the index, for reading unless texts may be added.
func (f *answering) openIndex() (*index.Index, error) {
	if f.add {
		if _, err := keepApartFromIndex(f.index, []string{"-"}, nil); err != nil {
			return nil, err
		}
	} else if _, err := keepApart([]string{"-"}, filesBelow(f.index)); err != nil {
		return nil, err
	}
	memory, err := f.input.budget()
	if err != nil {
		return nil, err
	}
	return index.Open(f.index, index.OpenOptions{ReadOnly: !f.add, Memory: memory})
}

// addTo returns addText for an index, one call at a time.
func addTo(x *index.Index) func(ctx context.Context, id string, text []byte) error {
	var one sync.Mutex
	return func(_ context.Context, id string, text []byte) error {
		one.Lock()
		defer one.Unlock()
		return addText(x, id, text)
	}
}

// openIndex is an index as a collection.
type openIndex struct {
	x         *index.Index
	searchers sync.Pool
}

func (c *openIndex) Use(_ context.Context, f func(*index.Searcher, *index.Index) error) error {
	s, ok := c.searchers.Get().(*index.Searcher)
	if !ok {
		s = c.x.NewSearcher()
	}
	defer c.searchers.Put(s)
	return f(s, c.x)
}

func (c *openIndex) Clusters(context.Context, float64) ([]mcpserver.Cluster, error) {
	return nil, mcpserver.ErrNoClusters
}

// freshFor is how long a folder is not looked at again.
const freshFor = 2 * time.Second

// openFolder is a folder as a collection. One question is answered at a time: an answer takes milliseconds.
type openFolder struct {
	o        among.Options
	config   alike.Config
	features shingle.Options

	mu       sync.Mutex
	opened   *among.Opened
	searcher *index.Searcher
	looked   time.Time
}

func (c *openFolder) Use(ctx context.Context, f func(*index.Searcher, *index.Index) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.look(ctx); err != nil {
		return err
	}
	return f(c.searcher, c.opened.Index)
}

// look opens the folder's index unless it is open and was looked at a moment ago, or is as it was. A searcher knows the sizes
// of documents by then, and its caches are warm: what it has is given up for a change only.
func (c *openFolder) look(ctx context.Context) error {
	if c.opened != nil {
		if time.Since(c.looked) <= freshFor {
			return nil
		}
		current, err := c.opened.Current(ctx)
		if err != nil {
			return err
		}
		if current {
			c.looked = time.Now()
			return nil
		}
	}
	opened, err := among.Open(ctx, c.o)
	if err != nil {
		return err
	}
	if err := c.closeOpened(); err != nil {
		return errors.Join(err, opened.Index.Close())
	}
	c.opened, c.searcher, c.looked = opened, opened.Index.NewSearcher(), time.Now()
	c.searcher.UseSizes(opened.Sizes)
	return nil
}

func (c *openFolder) closeOpened() error {
	if c.opened == nil {
		return nil
	}
	x := c.opened.Index
	c.opened, c.searcher = nil, nil
	return x.Close()
}

func (c *openFolder) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.closeOpened() // it was only read
}

func (c *openFolder) Clusters(ctx context.Context, threshold float64) ([]mcpserver.Cluster, error) {
	config := c.config
	config.Signatures, config.Decide = dedup.OfShingles{Options: c.features}, dedup.Similarity{Threshold: threshold}
	config.OnSkip = nil
	groups, err := alike.Groups(ctx, config)
	if err != nil {
		return nil, err
	}
	var all []mcpserver.Cluster
	for _, g := range groups {
		all = append(all, mcpserver.Cluster(g))
	}
	return all, nil
}
