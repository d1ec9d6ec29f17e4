package model

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// MostSampled is the largest number of candidates from which a model is learned.
const MostSampled = 300_000

// Fit learns a model from compared candidates, without labels. When the context has ended, the fit stops, and its
// result means nothing. O(steps · candidates · columns).
func Fit(ctx context.Context, c *compare.Comparison, o Options) *Fitted {
	f := &Fitted{}
	var larger []float64
	f.Model, f.Probability, larger = clearest(ctx, c, &o)
	if f.Unfit = f.Model == nil && o.Wider; f.Unfit {
		return f
	}
	if f.Model == nil {
		f.Model, f.Probability = ofTwins(c, o.Share)
		if f.Dispute = OverAll; mostlyEqual(c, f.Probability) {
			f.Dispute = OverWider
		}
	}
	if o.Calibrate && ctx.Err() == nil {
		f.Calibrated = f.Model.relearn(c, rivals(ctx, c, o.Once, nil), f.Probability, o.Around)
	}
	f.KeepFinite(c)
	if len(o.Same) > 0 {
		f.followNamed(ctx, c, &o)
		return f
	}
	if o.Around != nil && !f.Replaced {
		f.checkAround(ctx, c, &o)
		if f.Again {
			return f
		}
		if larger != nil && !o.Once.Any() && !f.ByKinds {
			f.followNarrower(ctx, c, &o, larger)
		}
		f.AtMost = o.Around.atMost(c, f.Probability, o.Once)
	}
	return f
}

// checkAround replaces a fit that what the tables show besides the candidates contradicts, or puts it in dispute.
func (f *Fitted) checkAround(ctx context.Context, c *compare.Comparison, o *Options) {
	sourced := o.Around.Within != nil
	alone := c.Right == 0 && !sourced // nothing but the candidates tells what is not the same thing
	if alone {
		f.followIndependent(ctx, c, o)
	}
	if MayShowKinds(c, sourced) && !f.BeyondChance {
		f.followKinds(ctx, c, o)
	}
	if alone && !f.BeyondChance {
		f.followNotion(ctx, c, o)
	}
	if f.Differing == nil {
		if f.Differing = o.Around.doubts(c, f.Probability); f.Differing != nil {
			f.Dispute = OverAll
		}
		if alone {
			f.followCopies(ctx, c, o)
		}
	}
	if alone && f.Differing == nil {
		if f.followUnexchanged(ctx, c, o); f.Again {
			return
		}
	}
	if alone && f.Dispute != OverAll {
		left := o.Around.leftToChance(c, f.Probability)
		if columns := left.siblings(); columns != nil {
			f.Dispute, f.Differing = OverAll, columns
		}
	}
	if c.Right == 0 && sourced && len(o.Around.Within.Pairs) > 0 {
		f.askDecoys(c, o.Around)
	}
}
