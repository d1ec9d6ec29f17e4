package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/version"
	"github.com/alike-dev/alike/mcpserver"
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
		Args:    exactly(0, "standard input is for requests: name no file"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	own := cmd.Flags()
	own.SortFlags = false
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
