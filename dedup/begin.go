package dedup

import (
	"context"
	"errors"
	"fmt"
)

// begin finds the inputs, checks that no output is one of them, calls ready, and opens the work
// folder. Streams are not read yet. The caller closes the job.
func begin(ctx context.Context, s *settings, command string, ready func() error) (*job, *inputs, error) {
	if len(s.With) > 0 && command != "pairs" {
		return nil, nil, fmt.Errorf("%w: only Pairs takes a second collection: Run removes what is like references (Against)", ErrUsage)
	}
	j := newJob(s)
	in, err := findInputs(ctx, s, j.account)
	if err == nil {
		err = ready()
	}
	known := ""
	if err == nil {
		known, err = beginKnown(ctx, j, in)
	}
	if err == nil {
		j, err = j.open(ctx, command, in, known)
	}
	if err != nil {
		return nil, nil, errors.Join(err, j.close(false))
	}
	return j, in, nil
}
