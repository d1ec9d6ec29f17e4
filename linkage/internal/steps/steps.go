// Package steps keeps the finished steps of a join for another process.
package steps

import (
	"math"

	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// A Keeper stores the finished steps of a join for another process. Without a work folder its Log is nil, and it
// stores nothing.
type Keeper struct {
	Log   *resume.Log
	Space *scratch.Space
	After func(kind string) error // called after each note; nil: nothing is
}

// Names returns the function that names the files of pairs to keep; nil if none are kept.
func (k *Keeper) Names() func(prefix string) string {
	if k.Log == nil {
		return nil
	}
	return func(prefix string) string { return k.Space.Unique(prefix, "") }
}

func (k *Keeper) Note(kind string, v any) error {
	if k.Log == nil {
		return nil
	}
	if err := k.Log.Note(kind, v); err != nil || k.After == nil {
		return err
	}
	return k.After(kind)
}

// Scores returns the best scores within a table: those that an earlier process has noted, else those of
// find. Their bits are noted, since JSON has no infinity.
func (k *Keeper) Scores(kind string, find func() (model.Bests, error)) (model.Bests, error) {
	var noted []uint64
	switch found, err := k.Log.Last(kind, &noted); {
	case err != nil:
		return nil, err
	case found:
		b := make(model.Bests, len(noted))
		for i, x := range noted {
			b[i] = math.Float64frombits(x)
		}
		return b, nil
	}
	b, err := find()
	if err != nil {
		return nil, err
	}
	for _, z := range b {
		noted = append(noted, math.Float64bits(z))
	}
	return b, k.Note(kind, noted)
}
