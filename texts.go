package alike

import (
	"github.com/alike-dev/alike/dedup"
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
