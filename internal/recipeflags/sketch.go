package recipeflags

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
)

// Sketch are the settings that say how features become a signature.
type Sketch struct {
	Line         string
	Seed         uint64
	Permutations string // file
}

func (f *Sketch) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Line, "scheme", minhash.Default().String(),
		"signature: oph, kmins, weighted, bottomk, or simhash and fastsimhash, with k=, bits=, family=, hash=")
	flags.Uint64Var(&f.Seed, "seed", 1, "seed of the signature's hash functions, and of the samples of features by which containment is found")
	flags.StringVar(&f.Permutations, "permutations", "",
		"`file` with the numbers of XOR permutations, one a line, in place of a scheme; the first permutation leaves features as they are")
}

// Reads returns the files that the flags name.
func (f *Sketch) Reads() []string {
	if f.Permutations == "" {
		return nil
	}
	return []string{f.Permutations}
}

// Scheme returns the scheme, of MinHash or of SimHash.
func (f *Sketch) Scheme(flags *pflag.FlagSet) (recipe.Scheme, error) {
	if !f.IsSimHash() {
		return f.MinHash(flags)
	}
	if flags.Changed("seed") {
		return nil, usagef("%s is for MinHash: SimHash has none, leave it out", setting.Seed)
	}
	scheme, err := simhash.ParseScheme(f.Line)
	if err != nil {
		return nil, &usage{err}
	}
	return recipe.SimHash(scheme), nil
}

// MinHash returns the scheme, which must be of MinHash.
func (f *Sketch) MinHash(flags *pflag.FlagSet) (minhash.Scheme, error) {
	line := f.Line
	if f.Permutations != "" {
		if flags.Changed("scheme") || flags.Changed("seed") {
			return minhash.Scheme{}, usagef("%s says what %s and %s would: leave them out", setting.Permutations, setting.Scheme, setting.Seed)
		}
		return readPermutations(f.Permutations)
	}
	if flags.Changed("seed") {
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
		kept := fields[:0]
		for _, field := range fields {
			if !strings.HasPrefix(field, "seed=") {
				kept = append(kept, field)
			}
		}
		line = fmt.Sprintf("%s seed=%d", strings.Join(kept, " "), f.Seed)
	}
	s, err := minhash.ParseScheme(line)
	if err != nil {
		return s, &usage{err}
	}
	return s, nil
}

// IsSimHash tells whether the scheme is one of package simhash.
func (f *Sketch) IsSimHash() bool {
	line := strings.TrimLeft(f.Line, " ")
	return strings.HasPrefix(line, simhash.Simple.String()) || strings.HasPrefix(line, simhash.Fast.String())
}

// readPermutations returns the scheme of a file of numbers.
func readPermutations(path string) (minhash.Scheme, error) {
	file, err := os.Open(path)
	if err != nil {
		return minhash.Scheme{}, setting.Errorf("%s: %w", setting.Permutations, err)
	}
	defer file.Close()
	numbers, err := minhash.ReadNumbers(bom.NewReader(file))
	if err != nil {
		return minhash.Scheme{}, setting.Errorf("%s %s: %w", setting.Permutations, path, err)
	}
	return minhash.Permutations(numbers, minhash.DefaultBits)
}

// Signatures are the settings of fingerprints that are only made, not compared. Only the methods of a Signatures set
// up by Add work.
type Signatures struct {
	Text        Text
	Sketch      Sketch
	Fingerprint Fingerprint
	Measure     string
}

func (s *Signatures) Add(flags *pflag.FlagSet) {
	s.Text.Add(flags)
	s.Sketch.Add(flags)
	flags.Var(Words(&s.Measure, measure.Jaccard.String(), measure.WeightedJaccard.String()), "measure",
		"the similarity that signatures estimate: jaccard, or weighted-jaccard, where a shingle counts as often as it occurs")
	s.Fingerprint.Add(flags)
}

// Reads returns the files that the flags name.
func (s *Signatures) Reads() []string { return append(s.Text.Reads(), s.Sketch.Reads()...) }

// Apply sets how signatures are made in a configuration. The flags are those that Add has added to.
func (s *Signatures) Apply(c *dedup.Config, flags *pflag.FlagSet) (err error) {
	var shingles dedup.OfShingles
	if shingles.Options, err = s.Text.Options(); err != nil {
		return err
	}
	texts, err := s.Fingerprint.Scheme(&s.Text, flags)
	if err != nil {
		return err
	}
	if shingles.Scheme, err = s.Sketch.Scheme(flags); err != nil {
		return err
	}
	m, err := measure.Parse(s.Measure)
	if err != nil {
		return err
	}
	c.Signatures, c.Decide = shingles, dedup.Similarity{Measure: m}
	if texts != nil {
		c.Signatures = dedup.OfTexts{Scheme: texts}
	}
	if m == measure.WeightedJaccard && (texts != nil || s.Sketch.IsSimHash()) {
		return usagef("%s %s is for MinHash: Hamming distances estimate no such similarity, leave it out", setting.Measure, m)
	}
	return nil
}
