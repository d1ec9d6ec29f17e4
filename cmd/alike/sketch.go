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
	"github.com/alike-dev/alike/internal/recipeflags"
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

With --preset it is the fingerprint of another program: see alike help presets.`

const sketchExamples = `  alike sketch news.jsonl > fingerprints.jsonl
  alike sketch notes/ --scheme 'kmins k=256 bits=8' --hex
  alike sketch news.jsonl --scheme 'fastsimhash bits=256'`

// sketching are the flags of alike sketch.
type sketching struct {
	made   recipeflags.Signatures
	input  inputFlags
	output string
	hex    bool
}

func newSketch() *cobra.Command {
	var f sketching
	cmd := &cobra.Command{
		Use:     "sketch INPUT... [-o FILE]",
		Short:   "Print the fingerprint of every document",
		Long:    sketchHelp,
		Example: sketchExamples,
		Args:    inputs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`file` for the fingerprints (default: standard output)")
	cmd.Flags().BoolVar(&f.hex, "hex", false, "signatures in hexadecimal")
	f.made.Add(cmd.Flags())
	f.input.add(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

func (f *sketching) run(cmd *cobra.Command, inputs []string) error {
	c, err := f.config(cmd, inputs)
	if err != nil {
		return err
	}
	var out outputFile
	c.Outputs = append(c.Outputs, cmp.Or(f.output, "-"))
	c.Begin = func() error { return out.open(cmd, f.output) }
	defer out.discard()
	done := f.input.follow(cmd, &c)
	buffer := bufio.NewWriterSize(&out, 1<<16)
	signatures, err := c.SketchRecipe()
	if err != nil {
		return err
	}
	written := fingerprintWriter{scheme: signatures.Signature(), encoder: json.NewEncoder(buffer), hex: f.hex}
	c.Commit = func() error { return errors.Join(buffer.Flush(), out.commit()) }
	summary, err := alike.Sketch(cmd.Context(), c, written.write)
	if err := done(err); err != nil {
		return err
	}
	return f.input.finish(cmd, summary)
}

// config builds the configuration for inputs, without their outputs.
func (f *sketching) config(cmd *cobra.Command, inputs []string) (alike.Config, error) {
	c := alike.Config{Inputs: inputs}
	err := checkEnding("-o", f.output, lineEndings)
	if err != nil {
		return c, err
	}
	if err := f.made.Apply(&c, cmd.Flags()); err != nil {
		return c, err
	}
	if err := f.input.apply(&c); err != nil {
		return c, err
	}
	useObjects(&c.Corpus)
	c.Reads = f.made.Reads()
	return c, nil
}

// fingerprintWriter writes fingerprints as JSON lines.
type fingerprintWriter struct {
	scheme  string
	encoder *json.Encoder
	hex     bool
}

// fingerprintObject is a fingerprint as JSON.
type fingerprintObject struct {
	ID        string `json:"id"`
	Scheme    string `json:"scheme"`
	Signature string `json:"signature"`
	IDBytes   []byte `json:"id_bytes,omitempty"`
}

func (w *fingerprintWriter) write(f alike.Fingerprint) error {
	signature := base64.StdEncoding.EncodeToString(f.Packed)
	if w.hex {
		signature = hex.EncodeToString(f.Packed)
	}
	return w.encoder.Encode(fingerprintObject{string(f.ID), w.scheme, signature, rawID(f.ID)})
}
