package alike

import (
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
)

// A Notice is a message to the user of a program. String gives its settings their Go
// names, Explain the program's names.
type Notice = dedup.Notice

// A SettingError is an error whose text may name settings, for errors.As. Explain
// returns its text alone.
type SettingError = setting.Explainer

// Explain returns the text of an error of this module, with settings named as name says.
// err.Error() names the fields of Config and corpus.Options (MaxRecord), which a program
// may call by flags (--max-record) or by keys of a file. name maps a field to the
// program's name, or returns the field.
func Explain(err error, name func(field string) string) string { return setting.Explain(err, name) }
