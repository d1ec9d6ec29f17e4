package doctable

import (
	"fmt"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// restored is an error with the text and the kind of an earlier one.
type restored struct {
	kind error
	text setting.Text
}

func (r *restored) Error() string { return r.text.String() }

// Explain returns the text with every setting named by name, see alike.Explain.
func (r *restored) Explain(name func(field string) string) string { return r.text.Explain(name) }

func (r *restored) Unwrap() error { return r.kind }

// RestoredError returns an error of a kind with a text that setting.Mark has returned.
func RestoredError(kind byte, text string) error {
	return &restored{fault.NumberedKind(kind), setting.Unmark(text)}
}

// Changed says that an input has changed since it was read.
func Changed(path string) error {
	return fmt.Errorf("%s: %w: leave the input alone during a run and start it again", fault.Shown(path), corpus.ErrChanged)
}
