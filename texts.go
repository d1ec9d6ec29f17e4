package alike

import (
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/simhash"
)

// TextScheme says how Sketch makes signatures straight from texts.
type TextScheme = dedup.TextScheme

// Hash4jWords returns the text scheme whose signatures are those of hash4j's
// SimHash or FastSimHash for the set of a text's words; see [simhash.Words].
func Hash4jWords(scheme simhash.Scheme) TextScheme { return hash4jWords{scheme} }

type hash4jWords struct{ scheme simhash.Scheme }

func (w hash4jWords) String() string {
	return "text/hash4j/v1 tokens=space utf16le komihash=5.0 | " + w.scheme.String()
}
func (w hash4jWords) Size() int                       { return w.scheme.BinarySize() }
func (w hash4jWords) NewSketcher() dedup.TextSketcher { return w.scheme.NewWords() }

// ExLSH returns the text scheme of the fingerprints of package exlsh, or the error
// of o.Validate. Its presets, exlsh.Word and exlsh.Char, are those of the Elixir
// library ExLSH.
func ExLSH(o exlsh.Options) (TextScheme, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return exLSH{o}, nil
}

type exLSH struct{ exlsh.Options }

func (s exLSH) NewSketcher() dedup.TextSketcher {
	sketcher, err := exlsh.New(s.Options)
	if err != nil {
		panic("alike: options that were valid are not: " + err.Error())
	}
	return sketcher
}
