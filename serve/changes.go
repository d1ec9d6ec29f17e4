package serve

import (
	"github.com/alike-dev/alike/index"
)

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
