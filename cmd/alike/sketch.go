package main

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/measure"
)

const sketchHelp = `Print the fingerprint of every document.

The output is a JSON object a line: id, scheme, and signature. The scheme is one line
that says all the signature depends on: how text becomes tokens and shingles, and
how these become a signature. Signatures may be compared only if their schemes are
equal. A signature is the components packed at their width, least significant
bit first, in base64; with bottomk it is the hashes, ascending, little-endian. If an id
is not UTF-8, id_bytes has its bytes as base64. alike pairs and alike dedup take
such a file instead of the texts. The schemes of other commands are oph, kmins and
bottomk; fingerprints can also be simhash and fastsimhash, of any number of bits.

With --measure weighted-jaccard a shingle counts as often as it occurs, in signatures of
any MinHash scheme, and pairs and dedup of such fingerprints estimate that similarity.

With --preset, the fingerprint is that of another program, byte for byte:
  hash4j-fastsimhash, hash4j-simhash
      SimHash of hash4j. The elements of the set are the text's words, cut at
      white space, hashed by komihash 5.0 over UTF-16. Takes --bits.
  exlsh-word, exlsh-char
      ExLSH's, for documents and for short strings: NFC, lower case, every run of
      bytes other than word characters of Latin-1 one space; words or characters;
      the SimHash of shingles of three (--ngram) by MD5 (--hash). Text flags that
      are given take the place of the preset's choice.`

const sketchExamples = `  alike sketch news.jsonl > fingerprints.jsonl
  alike sketch notes/ --scheme 'kmins k=256 bits=8' --hex
  alike sketch news.jsonl --ngram 3 --scheme 'bottomk k=128 bits=32 hash=fnv1a'
  alike sketch news.jsonl --scheme 'fastsimhash bits=256'
  alike sketch news.jsonl --preset hash4j-fastsimhash --bits 1024
  alike sketch names.jsonl --preset exlsh-char --ngram 2 --hash xxh3`

func newSketch() *cobra.Command {
	var (
		text    textFlags
		scheme  schemeFlags
		preset  presetFlags
		input   inputFlags
		output  string
		asHex   bool
		counts  choice
		written fingerprintWriter
	)
	cmd := &cobra.Command{
		Use:     "sketch INPUT... [-o FILE]",
		Short:   "Print the fingerprint of every document",
		Long:    sketchHelp,
		Example: sketchExamples,
		Args:    inputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c := alike.Config{Inputs: args}
			var err error
			if c.Features, err = text.options(); err != nil {
				return err
			}
			if c.Texts, err = preset.scheme(&text, cmd.Flags()); err != nil {
				return err
			}
			if err := scheme.apply(&c, cmd.Flags()); err != nil {
				return err
			}
			if err := estimated(&c, counts.value, scheme.isSimHash()); err != nil {
				return err
			}
			if err := input.apply(&c); err != nil {
				return err
			}
			useObjects(cmd, &c.Corpus)
			c.Reads = append(text.reads(), scheme.reads()...)
			var out outputFile
			c.Outputs = append(c.Outputs, cmp.Or(output, "-"))
			c.Begin = func() error { return out.open(cmd, output) }
			defer out.discard()
			done := input.follow(cmd, &c)
			buffer := bufio.NewWriterSize(&out, 1<<16)
			signatures, err := c.SketchRecipe()
			if err != nil {
				return err
			}
			written = fingerprintWriter{scheme: signatures.Signature(), encoder: json.NewEncoder(buffer), hex: asHex}
			c.Commit = func() error { return errors.Join(buffer.Flush(), out.commit()) }
			summary, err := alike.Sketch(cmd.Context(), c, written.write)
			done(err)
			if err != nil {
				return err
			}
			return input.finish(cmd, summary)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` for the fingerprints (default: standard output)")
	cmd.Flags().BoolVar(&asHex, "hex", false, "signatures in hexadecimal")
	text.add(cmd.Flags())
	scheme.add(cmd.Flags())
	counts = choose(measure.Jaccard.String(), measure.WeightedJaccard.String())
	cmd.Flags().Var(&counts, "measure", "the similarity that signatures estimate: jaccard, or weighted-jaccard, where a shingle counts as often as it occurs")
	preset.add(cmd.Flags())
	input.add(cmd.Flags())
	cmd.Flags().SortFlags = false // in the order of the work
	completeChoices(cmd)
	return cmd
}

// estimated sets the measure that signatures estimate.
func estimated(c *alike.Config, name string, simHash bool) (err error) {
	if c.Measure, err = measure.Parse(name); err != nil {
		return err
	}
	if c.Measure == measure.WeightedJaccard && (c.Texts != nil || simHash) {
		return usagef("--measure weighted-jaccard is for MinHash: Hamming distances estimate no such similarity, leave it out")
	}
	return nil
}

// fingerprintWriter writes fingerprints as JSON lines.
type fingerprintWriter struct {
	scheme  string
	encoder *json.Encoder
	hex     bool
}

func (w *fingerprintWriter) write(f alike.Fingerprint) error {
	signature := base64.StdEncoding.EncodeToString(f.Packed)
	if w.hex {
		signature = hex.EncodeToString(f.Packed)
	}
	return w.encoder.Encode(struct {
		ID        string `json:"id"`
		Scheme    string `json:"scheme"`
		Signature string `json:"signature"`
		IDBytes   []byte `json:"id_bytes,omitempty"`
	}{string(f.ID), w.scheme, signature, rawID(f.ID)})
}
