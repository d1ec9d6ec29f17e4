package serve

import (
	"errors"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/ordered"
)

// changes are how a collection is changed: by this process alone, or by a log that replicas share. What a change does
// is said once, by applied.
type changes interface {
	// newBatch returns a batch for check.
	newBatch() *index.Batch
	// check begins to decide about the documents of a batch, which have filters as they are written, nil for none.
	check(b *index.Batch, filters [][]byte) (decision, error)
	put(b *index.Batch, id string, digest []byte) (replaced bool, err error)
	remove(id string) (n int, err error)
	// settle returns when what was changed survives what the durability promises.
	settle() error
	// catchUp returns when reads see all that anybody was answered before the call.
	catchUp() error
	// succeeded calls use with the collection that has taken the place of this one, after errSucceeded.
	succeeded(use func(by *collection) error) error
}

// errSucceeded says that another collection has the name meanwhile, or the same one with another rule.
var errSucceeded = errors.New("the collection has a successor")

// decision is what is decided about the documents of a batch, now or when the log has it.
type decision struct {
	verdicts []index.Verdict
	later    ordered.Pending
	in       *logged // nil: they are here
}

func (d *decision) wait() ([]index.Verdict, error) {
	if d.in == nil {
		return d.verdicts, nil
	}
	return d.in.verdicts(d.later)
}

// applied are the changes of an index.
type applied struct{ x *index.Index }

func (a applied) put(b *index.Batch, id string, digest []byte) (replaced bool, err error) {
	if err := a.x.Add(b); err != nil {
		return false, err
	}
	if a.x.Options().Window.Age > 0 {
		kept, found, err := a.x.Get([]byte(id))
		if err != nil {
			return false, err
		}
		if !found || string(kept.Columns[digestColumn]) != string(digest) {
			return false, errTooOld
		}
	}
	return b.Replaced() > 0, nil
}

var errTooOld = unprocessable(timeField, "is older than the window, so that the document is not kept")

func (a applied) remove(id string) (n int, err error) { return a.x.Delete([]byte(id)) }

// alone changes the collections of one process.
type alone struct {
	applied
	sync bool // answers wait for the disk
}

func (a *alone) newBatch() *index.Batch { return a.x.NewCheck() }

func (a *alone) check(b *index.Batch, _ [][]byte) (decision, error) {
	verdicts, err := a.x.Check(b, nil)
	return decision{verdicts: verdicts}, err
}

func (a *alone) settle() error {
	if !a.sync {
		return nil
	}
	return a.x.Sync()
}

func (a *alone) catchUp() error { return nil }

func (a *alone) succeeded(func(by *collection) error) error { return errSucceeded }
