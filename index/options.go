package index

import (
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// DefaultBucketCap is Options.BucketCap if that is 0.
const DefaultBucketCap = 64

// Keep says which data of a document are stored in addition to its id.
type Keep string

// Values of Options.Keep.
const (
	KeepNeeded   Keep = ""         // the text if pairs are decided by sets, else nothing
	KeepText     Keep = "text"     // the text, for exact similarities and passages
	KeepFeatures Keep = "features" // the feature set, for exact similarities without the text
	KeepNothing  Keep = "nothing"  // nothing, where signatures decide
)

// Keys says where the keys by which documents are found are stored.
type Keys string

// Values of Options.Keys.
const (
	KeysInMemory Keys = ""     // with time, digest and sketch: about 360 bytes for each document
	KeysOnDisk   Keys = "disk" // only in a folder: memory does not grow with the index
)

// Options define an index. An index in a folder stores them in its header.
type Options struct {
	// Recipe says which texts are similar. It must find candidates by keys.
	Recipe recipe.Recipe
	Keep   Keep
	// Containment, if set, gives documents keys by which a passage is found in a long text:
	// about one in so many features is a key. 4 finds a passage of 16 common features with
	// probability 0.99, 16 a passage of 72; a document of 2 KB has 85 such keys with 4, 21 with
	// 16. 0: searches by containment compare every document.
	Containment int
	// seed draws these features: recipe.Recipe.SampleSeed; 0: not set. An index that was made before there was a
	// choice has another one.
	seed      uint64
	BucketCap int // 0: DefaultBucketCap
	Keys      Keys
	Window    Window
	// ByID makes ids unique: with Add a document replaces one with the same id, Check tells that there is one
	// (Verdict.Known), and Get and Delete find documents by id. With a window it costs reading each document once
	// more when it expires.
	ByID bool
	// History is the number of hashes that Index.History returns at least, if so many were remembered; 0: none.
	// Like the window, it is not stored in the header.
	History int
	// Columns names the values in Document.Columns, for programs that open the index later. One of them is the field of
	// Recipe.Within, if that names one: only documents with the same value there are similar.
	Columns []string
}

// withDefaults returns o with every zero field replaced by its default.
func (o Options) withDefaults() Options {
	if o.BucketCap == 0 {
		o.BucketCap = DefaultBucketCap
	}
	if o.seed == 0 {
		o.seed = o.Recipe.SampleSeed()
	}
	if o.Keep == KeepNeeded {
		o.Keep = KeepNothing
		if o.Recipe.BySets() || o.Containment > 0 {
			o.Keep = KeepText
		}
	}
	return o
}

// Validate is an error if options contradict each other.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("index: "+format, args...)) }
	if o.Recipe.Keys() == 0 {
		bad("documents of %q have no keys to be found by: take a higher threshold, or signatures with more components", o.Recipe)
	}
	if o.Recipe.Sample() != (lsh.Sample{}) {
		bad("a sample of a document (%q) finds what contains it among documents that are all there: take a measure with bands, such as jaccard, or search by containment", o.Recipe)
	}
	_, features := o.Recipe.Features()
	switch o.Keep {
	case KeepText:
	case KeepFeatures:
		if !features {
			bad("signatures that are made of texts have no features: keep the text or nothing")
		}
	case KeepNothing:
		if o.Recipe.BySets() || o.Containment > 0 {
			bad("exact similarities need what they are made of: keep text or features")
		}
	default:
		bad("keep is %q: choose one of %s, %s, %s", o.Keep, KeepText, KeepFeatures, KeepNothing)
	}
	if o.Containment < 0 || o.Containment > 0 && !features {
		bad("containment keys are one in so many features, from 1 on, of texts that have features")
	}
	if within := o.Recipe.Within(); within != "" && !slices.Contains(o.Columns, within) {
		bad("documents are compared within the values of %q, and none of Columns has these: add it", within)
	}
	if o.Keys != KeysInMemory && o.Keys != KeysOnDisk {
		bad("keys are in %q: choose disk, or leave it out for memory", o.Keys)
	}
	if o.BucketCap < 2 || o.BucketCap > 1<<16 {
		bad("bucket cap is %d: take 2 to 65536", o.BucketCap)
	}
	w := o.Window
	if w.Docs < 0 || w.Docs > 1<<31 || w.Age < 0 || w.Late < 0 {
		bad("a window has up to 2³¹ documents, and no negative times")
	}
	if o.History < 0 {
		bad("history is %d: take 0 or more", o.History)
	}
	if w.Late > 0 && w.Age == 0 {
		bad("without an age of the window nothing is late: leave Late out")
	}
	if w.Refresh && w.Docs == 0 && w.Age == 0 {
		bad("without a window there is nothing to refresh: leave Refresh out")
	}
	return errors.Join(errs...)
}

// scaled returns the scheme of the keys of containment.
func (o Options) scaled() minhash.Scaled {
	s, err := minhash.NewScaled(uint64(o.Containment), o.seed)
	if err != nil {
		panic("index: a scale that was valid is not: " + err.Error())
	}
	return s
}
