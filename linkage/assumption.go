package linkage

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/decide"
)

// An assumption says how many partners a record may have, for the model.
type assumption struct {
	onePartner bool // a record has at most one partner, by the rule or as far as the data show
	later      bool // another one was tried before
}

// suffix ends the names of what is noted about a model.
func (a assumption) suffix() string {
	if a.later {
		return "-later"
	}
	return ""
}

// fewPassedOver: where fewer than one record is passed over for every forty pairs, each has one partner at most, whatever
// the rule allows. Of eight pairs of real tables that are one to one, seven have at most one for every 120; see
// manyPassedOver.
const fewPassedOver = 40

// examineAs finds candidates, compares them, and computes the probability of each. If the rule lets records have several
// partners, it first assumes that they have one: rivals and chance then tell far more. That stays if hardly any record is
// passed over.
func (t *tables) examineAs(ctx context.Context, c *Config) (*examiner, error) {
	// A model, a threshold and known links leave nothing to find out.
	if c.exclusive() || t.Right == nil || c.Model != nil || c.Threshold > 0 || len(c.Known) > 0 {
		return t.examine(ctx, c, assumption{onePartner: c.exclusive()})
	}
	held, notes := t.Memory.Held, len(t.result.Notes)
	e, err := t.examine(ctx, c, assumption{onePartner: true})
	if err != nil {
		return nil, err
	}
	pairs, left, right := decide.PassedOver(e.found, e.model, e.graph().Mutual(e.rank, e.found.Wholes))
	if c.Match == Best { // a left record has one partner
		right = 0
	}
	if pairs > 0 && (left+right)*fewPassedOver < pairs {
		t.result.Notes = append(t.result.Notes, "as far as the tables show, a record has one partner at most: to match by mutual finds as much")
		return e, nil
	}
	t.Memory.Held, t.result.Notes = held, t.result.Notes[:notes]
	return t.examine(ctx, c, assumption{later: true})
}
