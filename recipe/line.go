package recipe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// separator separates the parts of a line.
const separator = " | "

// The first words of the parts of a line.
const (
	exlshFamily   = "exlsh/"
	simHashFamily = "simhash/"
	bandsField    = "bands"
	rowsField     = "rows"
	agreeField    = "agree"
	sampleField   = "sample"
	seedField     = "seed"
	blocksKeys    = "blocks keys="
	noKeys        = "no keys"
	hammingSign   = "hamming<="
)

// String returns the canonical line.
func (r Recipe) String() string {
	parts := []string{r.Signature()}
	if r.decision != byNothing {
		parts = append(parts, keysLine(&r), r.Decision())
	}
	if r.within != "" {
		parts = append(parts, withinLine(r.within))
	}
	return strings.Join(parts, separator)
}

// Signature returns the part of the line that names everything on which a signature depends,
// apart from the text: signatures may be compared only if this part is equal.
func (r Recipe) Signature() string {
	if r.texts != nil {
		return r.texts.String()
	}
	return r.features.String() + separator + r.sketch.String()
}

// Lines returns the two halves of Signature; under a scheme of texts the first is empty.
func (r Recipe) Lines() (features, scheme string) {
	if r.texts != nil {
		return "", r.texts.String()
	}
	return r.features.String(), r.sketch.String()
}

// keysLine returns the part of the line that names the keys.
func keysLine(r *Recipe) string {
	switch {
	case r.decision == byDistance:
		return blocksKeys + strconv.Itoa(r.blocks.Keys())
	case r.sample.Size > 0:
		line := fmt.Sprintf("%s=%d %s=%d", sampleField, r.sample.Size, agreeField, r.sample.Agree)
		if seed := r.SampleSeed(); seed != minhash.DefaultSeed { // lines without it are of the time when samples had no other
			line += fmt.Sprintf(" %s=%d", seedField, seed)
		}
		return line
	case r.banding.Bands == 0:
		return noKeys
	case r.banding.MinBands > 1:
		return fmt.Sprintf("%s=%d %s=%d %s=%d", bandsField, r.banding.Bands, rowsField, r.banding.Rows, agreeField, r.banding.MinBands)
	}
	return fmt.Sprintf("%s=%d %s=%d", bandsField, r.banding.Bands, rowsField, r.banding.Rows)
}

// Decision returns the last part of the line, which says which pairs match.
func (r Recipe) Decision() string {
	if r.decision == byDistance {
		return hammingSign + strconv.Itoa(r.blocks.Distance())
	}
	return r.threshold.String() + " " + string(r.verify)
}

// Parse reads a line that String has printed, or the part of it that Signature returns. A
// line holds only a hash or a name of lists and functions (stop words, filters, numbers of
// permutations, schemes of a caller's own); for those, Parse returns an error. A line of
// another version of a step or of Unicode is an error too.
func Parse(line string) (Recipe, error) {
	line, within, err := cutWithin(line)
	if err != nil {
		return Recipe{}, err
	}
	parts := strings.Split(line, separator)
	head := 2
	if strings.HasPrefix(line, exlshFamily) {
		head = 1
	}
	switch len(parts) {
	case head, head + 2:
	case 1:
		return Recipe{}, fmt.Errorf("recipe: %q holds only one half: want how to make features and how to make a signature of them, with %q between them", line, separator)
	default:
		return Recipe{}, fmt.Errorf("recipe: %q has %d parts: want features, signature and, if it decides, keys and decision, with %q between them", line, len(parts), separator)
	}
	o, err := parseSignature(parts[:head])
	if err != nil {
		return Recipe{}, err
	}
	o.Within = within
	if len(parts) > head {
		if err := o.parseDecision(parts[head], parts[head+1]); err != nil {
			return Recipe{}, err
		}
	}
	r, err := New(o)
	if err == nil && len(parts) > head && keysLine(&r) != parts[head] {
		return Recipe{}, fmt.Errorf("recipe: keys %q do not go with %s: it has %q", parts[head], parts[head+1], keysLine(&r))
	}
	return r, err
}

// parseSignature reads the part of Signature.
func parseSignature(parts []string) (o Options, err error) {
	switch {
	case len(parts) == 1:
		var options exlsh.Options
		if options, err = exlsh.ParseOptions(parts[0]); err == nil {
			o.Texts, err = ExLSH(options)
		}
		return o, err
	case strings.HasPrefix(parts[1], simHashFamily):
		var scheme simhash.Scheme
		if scheme, err = simhash.ParseScheme(parts[1]); err != nil {
			return o, err
		}
		if parts[0] == hash4jText {
			o.Texts = Hash4jWords(scheme)
			return o, nil
		}
		o.Sketch = SimHash(scheme)
	default:
		var scheme minhash.Scheme
		if scheme, err = minhash.ParseScheme(parts[1]); err != nil {
			return o, err
		}
		o.Sketch = scheme
	}
	if o.Features, err = shingle.ParseOptions(parts[0]); err != nil {
		return o, err
	}
	return o, Fits(o.Sketch, o.Features) // New would add the hash, but the line must name it
}

// parseDecision reads the last two parts.
func (o *Options) parseDecision(keys, decision string) (err error) {
	if number, ok := strings.CutPrefix(decision, hammingSign); ok {
		d, err := strconv.Atoi(number)
		if err != nil || d < 0 {
			return fmt.Errorf("recipe: %q: want a Hamming distance from 0 on, such as %s3", decision, hammingSign)
		}
		o.Distance = &d
		return nil
	}
	threshold, verify, ok := strings.Cut(decision, " ")
	if !ok {
		return fmt.Errorf("recipe: %q: want a threshold and how it is verified, such as \"jaccard>=0.8 %s\", or %s3", decision, Exact, hammingSign)
	}
	if o.Threshold, err = measure.ParseThreshold(threshold); err != nil {
		return err
	}
	o.Verify, o.Keys = Verify(verify), LSH
	switch {
	case keys == noKeys:
		o.Keys = NoKeys
		return nil
	case o.Threshold.Measure().ByParts():
		keys, _, _ = strings.Cut(keys, " "+seedField+"=") // the scheme has it, and Parse compares
		return parseNumbers(keys, "sample=7 agree=3", map[string]*int{sampleField: &o.Sample.Size, agreeField: &o.Sample.Agree})
	}
	o.Banding.MinBands = 1
	return parseNumbers(keys, "bands=16 rows=6", map[string]*int{bandsField: &o.Banding.Bands, rowsField: &o.Banding.Rows, agreeField: &o.Banding.MinBands})
}

// parseNumbers reads the keys of a line: at least one field, each with a number.
func parseNumbers(keys, example string, fields map[string]*int) error {
	wrong := fmt.Errorf("recipe: keys %q: want %q, or such as %q", keys, noKeys, example)
	for _, field := range strings.Fields(keys) {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		if fields[name] == nil || err != nil {
			return wrong
		}
		*fields[name] = n
	}
	if strings.TrimSpace(keys) == "" {
		return wrong
	}
	return nil
}

// Hash4jWords returns the scheme of texts whose signatures are those of hash4j's
// SimHash or FastSimHash for the set of a text's words; see [simhash.Words].
func Hash4jWords(scheme simhash.Scheme) TextScheme { return hash4jWords{scheme} }

// hash4jText is the line of that step from text to elements.
const hash4jText = "text/hash4j/v1 tokens=space utf16le komihash=5.0"

type hash4jWords struct{ scheme simhash.Scheme }

func (w hash4jWords) String() string            { return hash4jText + separator + w.scheme.String() }
func (w hash4jWords) Size() int                 { return w.scheme.BinarySize() }
func (w hash4jWords) HammingBits() int          { return w.scheme.Bits() }
func (w hash4jWords) NewSketcher() TextSketcher { return w.scheme.NewWords() }

// ExLSH returns the scheme of the fingerprints of package exlsh, or the error of
// o.Validate. exlsh.Word and exlsh.Char are the presets of the Elixir library ExLSH.
func ExLSH(o exlsh.Options) (TextScheme, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return exLSH{o}, nil
}

type exLSH struct{ exlsh.Options }

func (s exLSH) HammingBits() int { return 8 * s.Size() }

func (s exLSH) NewSketcher() TextSketcher {
	sketcher, err := exlsh.New(s.Options)
	if err != nil {
		panic("recipe: options that were valid are not: " + err.Error())
	}
	return sketcher
}
