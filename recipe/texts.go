package recipe

import (
	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/simhash"
)

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
