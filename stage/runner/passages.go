package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// MakePassages makes the plan of a run that cuts passages, as dedup.CutPassages does. It finds the inputs, and estimates the
// work from a sample of them. If a plan cannot express a setting, the error wraps dedup.ErrUsage.
func MakePassages(ctx context.Context, c dedup.Config, what dedup.Passages, o PlanOptions) (*Plan, error) {
	o.Command = stage.Cut
	err := check(&c, &o)
	if err == nil {
		what, err = what.Settled()
	}
	if err == nil && len(o.Engine) > 0 {
		err = errors.New("an engine has no place for texts that were cut: read files and write files")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dedup.ErrUsage, err)
	}
	p := o.plan()
	p.Passages, p.Reading = &what, reading(&c)
	if err := p.findFiles(ctx, c); err != nil {
		return nil, err
	}
	if err := p.divide(ctx, c, 0, o.Prices); err != nil {
		return nil, err
	}
	return p.made()
}
