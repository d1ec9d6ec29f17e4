package alike

import (
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// TextScheme says how Sketch makes signatures straight from texts.
type TextScheme = dedup.TextScheme

// Hash4jWords returns the text scheme whose signatures are those of hash4j's
// SimHash or FastSimHash for the set of a text's words; see [simhash.Words].
func Hash4jWords(scheme simhash.Scheme) TextScheme { return hash4jWords{scheme} }

// hash4jText is the line of what is made of a text there.
const hash4jText = "text/hash4j/v1 tokens=space utf16le komihash=5.0"

type hash4jWords struct{ scheme simhash.Scheme }

func (w hash4jWords) String() string {
	return hash4jText + recipeSeparator + w.scheme.String()
}
func (w hash4jWords) Size() int                       { return w.scheme.BinarySize() }
func (w hash4jWords) NewSketcher() dedup.TextSketcher { return w.scheme.NewWords() }

// SimHash returns the text scheme of SimHash signatures of the set of a text's
// features, or the error of features.Validate.
func SimHash(features shingle.Options, scheme simhash.Scheme) (TextScheme, error) {
	if err := features.Validate(); err != nil {
		return nil, err
	}
	return simHash{features, scheme}, nil
}

type simHash struct {
	features shingle.Options
	scheme   simhash.Scheme
}

func (s simHash) String() string { return s.features.String() + recipeSeparator + s.scheme.String() }
func (s simHash) Size() int      { return s.scheme.BinarySize() }

func (s simHash) NewSketcher() dedup.TextSketcher {
	shingler, err := shingle.New(s.features)
	if err != nil {
		panic("alike: options that were valid are not: " + err.Error())
	}
	return &simHashSketcher{
		scheme: s.scheme, shingler: shingler, sketcher: s.scheme.NewSketcher(), signature: make([]uint64, s.scheme.Words()),
	}
}

type simHashSketcher struct {
	scheme    simhash.Scheme
	shingler  *shingle.Shingler
	sketcher  *simhash.Sketcher
	features  []uint64
	signature []uint64
}

func (s *simHashSketcher) AppendSketch(dst, text []byte) (signature []byte, features int) {
	s.features = s.shingler.AppendFeatures(s.features[:0], text)
	features = len(s.features)
	s.sketcher.Sketch(s.signature, shingle.Set(s.features))
	return s.scheme.AppendBinary(dst, s.signature), features
}

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
