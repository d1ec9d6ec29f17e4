package alike

import (
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
)

// A Notice is a message to the user of a program. String returns it as Go names
// settings, Explain as the program does.
type Notice = dedup.Notice

// A SettingError is an error whose text may name settings, for errors.As. Explain
// returns its text alone.
type SettingError = setting.Explainer

// Explain returns the text of an error of this module, with the settings that it tells the
// user to change as name says: err.Error() has the fields of Config and corpus.Options
// (MaxRecord), and a program may know them as flags (--max-record) or as keys of a file.
// name gets a field and returns what stands for it, or the field.
func Explain(err error, name func(field string) string) string { return setting.Explain(err, name) }
