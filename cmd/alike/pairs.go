package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
)

const pairsHelp = `List every pair of documents at or above the threshold.

The output is CSV: a,b,similarity, where a comes before b in the input, sorted
by a, then b, in input order; with --json, an object a line.`

const pairsExamples = `  alike pairs news.jsonl > pairs.csv
  alike pairs sets.txt --format lines --tokens space --ngram 1 --candidates exact
  alike pairs corpus/ -o pairs.csv --threshold 0.5`

func newPairs() *cobra.Command {
	var flags corpusFlags
	var output string
	cmd := &cobra.Command{
		Use:     "pairs INPUT... [-o FILE]",
		Short:   "List every pair of similar documents",
		Long:    pairsHelp,
		Example: pairsExamples,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.config(cmd, args)
			if err != nil {
				return err
			}
			out, err := createOutput(cmd, output, args)
			if err != nil {
				return err
			}
			done := flags.input.follow(cmd, &c)
			rows := newPairWriter(out, flags.input.json)
			summary, err := alike.Pairs(cmd.Context(), c, rows.write)
			done()
			if err = errors.Join(err, rows.flush()); err != nil {
				return errors.Join(err, out.discard())
			}
			if err := out.commit(); err != nil {
				return err
			}
			if !flags.input.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d pairs among %d documents; %s, %s\n",
					rows.n, summary.Read-summary.Skipped, describeSearch(summary), describeCost(summary))
			}
			return flags.input.finish(summary)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` for the pairs (default: standard output)")
	flags.add(cmd.Flags())
	cmd.Flags().SortFlags = false // in the order of the work
	return cmd
}

// pairWriter writes pairs as CSV or JSON lines.
type pairWriter struct {
	buffer *bufio.Writer
	rows   *csv.Writer // nil: JSON
	json   *json.Encoder
	n      int64
}

func newPairWriter(w io.Writer, asJSON bool) *pairWriter {
	p := &pairWriter{buffer: bufio.NewWriterSize(w, 1<<16)}
	if asJSON {
		p.json = json.NewEncoder(p.buffer)
		p.json.SetEscapeHTML(false)
		return p
	}
	p.rows = csv.NewWriter(p.buffer)
	_ = p.rows.Write([]string{"a", "b", "similarity"}) // flush tells of errors
	return p
}

func (p *pairWriter) write(pair alike.Pair) error {
	p.n++
	similarity := string(dedup.AppendSimilarity(nil, pair.Similarity))
	if p.rows != nil {
		return p.rows.Write([]string{string(pair.A), string(pair.B), similarity})
	}
	return p.json.Encode(struct {
		A          string      `json:"a"`
		B          string      `json:"b"`
		Similarity json.Number `json:"similarity"`
	}{string(pair.A), string(pair.B), json.Number(similarity)})
}

func (p *pairWriter) flush() error {
	if p.rows != nil {
		p.rows.Flush()
		if err := p.rows.Error(); err != nil {
			return err
		}
	}
	return p.buffer.Flush()
}

// outputFile is standard output, or a file that gets its name when it is whole.
type outputFile struct {
	io.Writer
	file *os.File // nil: standard output
	path string
}

// createOutput opens the output of a command that reads inputs.
func createOutput(cmd *cobra.Command, path string, inputs []string) (*outputFile, error) {
	if path == "" || path == "-" {
		return &outputFile{Writer: cmd.OutOrStdout()}, nil
	}
	if at, err := os.Stat(path); err == nil {
		for _, input := range inputs {
			if in, err := os.Stat(input); err == nil && os.SameFile(at, in) {
				return nil, fmt.Errorf("output %s is also an input: name another file", path)
			}
		}
		if at.IsDir() {
			return nil, fmt.Errorf("output %s is a folder: name a file", path)
		}
	}
	file, err := os.Create(path + ".partial")
	if err != nil {
		return nil, err
	}
	return &outputFile{Writer: file, file: file, path: path}, nil
}

func (o *outputFile) commit() error {
	if o.file == nil {
		return nil
	}
	if err := errors.Join(o.file.Sync(), o.file.Close()); err != nil {
		return errors.Join(err, os.Remove(o.file.Name()))
	}
	return os.Rename(o.file.Name(), o.path)
}

func (o *outputFile) discard() error {
	if o.file == nil {
		return nil
	}
	_ = o.file.Close() // what is in it is given up
	return os.Remove(o.file.Name())
}
