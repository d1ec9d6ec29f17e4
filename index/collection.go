package index

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// ErrReadOnly says that an index takes no more writes: an earlier write has failed, so that the
// content of the disk is unknown, or the index was opened to be read only.
var ErrReadOnly = errors.New("index is read-only")

var errNoIDs = errors.New("index: documents are not known by their ids here: set ByID")

// ErrClosed says that an index was closed.
var ErrClosed = errors.New("index is closed")

// A collection is what the readers and the writer of an index share. Readers take a view and look no further; only
// the writer publishes another one.
type collection struct {
	options Options
	judge   judge
	apart   int // see judge.mostApart
	scaled  minhash.Scaled
	store   store
	view    atomic.Pointer[view]
	window  window
	counts  counts
	ceiling ceiling
	within  int        // see Options.WithinAt
	filling *lateTable // nil: memory holds what views need
}

// errGone says that a document no longer exists.
var errGone = errors.New("document is gone")

// A lateTable is a table of keys that is filled when it pays. It knows nothing of the store, whose types would otherwise be
// a part of Index, and compiled again by each package that imports this one.
type lateTable struct {
	searches atomic.Int64
	filling  sync.Mutex
	fill     func() error // nil: the table is filled
}

// counts are numbers of events since the index was opened.
type counts struct {
	checked, added, duplicates, late, refreshed, expired, deleted, full atomic.Int64
	live                                                                atomic.Int64
	failed                                                              atomic.Bool
}

// A store holds the records. Any number of goroutines may call get, sync and err; only the writer calls the other
// methods.
type store interface {
	inMemory() bool
	// get appends the record of a slot of the view, without its checksum; errGone if it has expired meanwhile.
	get(v *view, slot uint64, dst []byte) ([]byte, error)
	slotOf(id []byte) (slot uint64, found bool, err error)
	// apply stores the changes of a batch. Readers may still read documents that expire with it.
	apply(c *changes) error
	// note returns the note with a name, nil if there is none.
	note(name string) ([]byte, error)
	sync() error
	// err returns the error of a write after which the store takes no more writes, or nil.
	err() error
	// close ends the store; whole says that the writer has not failed, so that everything is to be kept.
	close(whole bool) error
	bytes(v *view) int64
	keyBytes() int64
	// settle begins to move documents from memory to the disk, if keys are on disk and there are enough of them,
	// and ends what it began before; with all it moves all documents and waits for that.
	settle(all bool) error
}

func newCollection(o Options) *collection {
	x := &collection{options: o, judge: newJudge(o.Recipe), within: o.WithinAt()}
	x.window.Window = o.Window
	x.apart = x.judge.mostApart(o.Recipe, o.Recipe.Threshold())
	if o.Containment > 0 {
		x.scaled = o.scaled()
	}
	x.view.Store(&view{table: keytable.New(o.BucketCap), words: x.judge.words})
	x.window.clock.Store(math.MinInt64)
	return x
}

// valueOf returns the value of a document by its columns; nil columns have none.
func (x *collection) valueOf(columns [][]byte) fieldValue {
	if x.within < 0 {
		return fieldValue{}
	}
	v := fieldValue{}
	if x.within < len(columns) {
		v.bytes = columns[x.within]
	}
	v.Within = recipe.WithinOf(v.bytes)
	return v
}

// valueIn returns the value of a stored document.
func (x *collection) valueIn(r record) (fieldValue, error) {
	if x.within < 0 {
		return fieldValue{}, nil
	}
	columns, err := parseColumns(r.columns)
	return x.valueOf(columns), err
}

// accepting returns a function that accepts columns that accepts does, of documents with the value.
func (x *collection) accepting(v fieldValue, accepts func([][]byte) bool) func([][]byte) bool {
	if x.within < 0 {
		return accepts
	}
	return func(columns [][]byte) bool {
		return bytes.Equal(x.valueOf(columns).bytes, v.bytes) && (accepts == nil || accepts(columns))
	}
}

// valueAsked returns the value within which a search is made.
func (x *collection) valueAsked(within []byte) (fieldValue, error) {
	if x.within < 0 {
		return fieldValue{}, nil
	}
	if within == nil {
		return fieldValue{}, setting.Errorf("the index compares within the values of %q: search it for records that have the field", x.options.Recipe.Within())
	}
	return fieldValue{recipe.WithinOf(within), within}, nil
}

// A fieldValue is what a document has in the field of recipe.Recipe.Within, which is one of its columns. Keys and digests
// depend on it, and candidates with another one are left out by comparing the values.
type fieldValue struct {
	recipe.Within
	bytes []byte
}

// ColumnsWithin returns the columns of a document of which only the value is stored within which it is compared; nil if all
// documents are compared.
func (o Options) ColumnsWithin(value []byte) [][]byte {
	at := o.WithinAt()
	if at < 0 {
		return nil
	}
	columns := make([][]byte, len(o.Columns))
	columns[at] = value
	return columns
}

// WithinAt returns which column has the value, -1 if all documents are compared.
func (o Options) WithinAt() int {
	if within := o.Recipe.Within(); within != "" {
		return slices.Index(o.Columns, within)
	}
	return -1
}
