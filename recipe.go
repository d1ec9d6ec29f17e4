package alike

import (
	"fmt"
	"strings"

	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// A Recipe is all that a signature depends on but the text: the fields of that name of
// a Config. It prints as one canonical line, such as
//
//	text/v2 nfkc fold words n=5 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1
//	text/v2 nfkc fold words n=5 unicode=15.0.0 | simhash/fastsimhash/v1 bits=64
//	exlsh/v1 normalize=exlsh tokens=words n=3 hash=md5
//
// Signatures may be compared if their lines are equal, and only then. The zero value
// is the default.
type Recipe struct {
	Features shingle.Options
	Sketch   minhash.Scheme
	Texts    TextScheme // if set, in place of both
}

const recipeSeparator = " | "

// String returns the canonical line, which Config.Recipe returns too.
func (r Recipe) String() string {
	return Config{Features: r.Features, Sketch: r.Sketch, Texts: r.Texts}.Recipe()
}

// ParseRecipe reads a line as String prints it. Lists and functions of which a line
// holds but a hash or a name (stop words, filters, numbers of permutations, steps of a
// caller's own) cannot be had from it: there the error says so. A line of another
// version of a step or of Unicode is an error too.
func ParseRecipe(line string) (Recipe, error) {
	first, second, two := strings.Cut(line, recipeSeparator)
	switch {
	case !two && strings.HasPrefix(line, exlshFamily):
		o, err := exlsh.ParseOptions(line)
		if err != nil {
			return Recipe{}, err
		}
		texts, err := ExLSH(o)
		return Recipe{Texts: texts}, err
	case !two:
		return Recipe{}, fmt.Errorf("alike: %q says only one half: how features are made and how they become a signature, with %q between them", line, recipeSeparator)
	case strings.HasPrefix(second, simHashFamily):
		texts, err := parseSimHash(first, second)
		return Recipe{Texts: texts}, err
	}
	features, err := shingle.ParseOptions(first)
	if err != nil {
		return Recipe{}, err
	}
	sketch, err := minhash.ParseScheme(second)
	if err != nil {
		return Recipe{}, err
	}
	if hash := shingle.Hash(sketch.FeatureHash()); hash != "" && hash != features.Hash {
		return Recipe{}, fmt.Errorf("alike: %s is for shingles hashed by %s, not for those of %s", sketch, hash, features)
	}
	return Recipe{Features: features, Sketch: sketch}, nil
}

// What the lines of package exlsh, and those of SimHash schemes, begin with.
const (
	exlshFamily   = "exlsh/"
	simHashFamily = "simhash/"
)

func parseSimHash(features, sketch string) (TextScheme, error) {
	scheme, err := simhash.ParseScheme(sketch)
	if err != nil {
		return nil, err
	}
	if features == hash4jText {
		return Hash4jWords(scheme), nil
	}
	options, err := shingle.ParseOptions(features)
	if err != nil {
		return nil, err
	}
	return SimHash(options, scheme)
}
