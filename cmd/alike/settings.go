package main

import (
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/internal/setting"
)

// flagNames are the flags of the command line for the settings of the library that messages name, but for those of
// package recipeflags.
var flagNames = map[setting.Name]string{
	setting.Answer:      "--answer",
	setting.Containment: "--containment",
	setting.Field:       "--field",
	setting.Format:      "--format",
	setting.Fresh:       "--fresh",
	setting.Header:      "--header",
	setting.IDF:         "--idf",
	setting.IDField:     "--id-field",
	setting.Keep:        "--keep",
	setting.Keys:        "--keys",
	setting.Match:       "--match",
	setting.MaxRecord:   "--max-record",
	setting.Memory:      "--memory",
	setting.Model:       "--model",
	setting.OnError:     "--on-error",
	setting.NoSync:      "--no-sync",
	setting.Passage:     "--passage",
	setting.Pipe:        "--pipe",
	setting.Precision:   "--precision",
	setting.Audit:       "--audit",
	setting.Star:        "--cluster star",
	setting.TagPrefix:   "--tag-prefix",
	setting.TextField:   "--text-field",
	setting.Top:         "--top",
	setting.Truth:       "--truth",
	setting.SaveConfig:  "--save-config",
	setting.Same:        "--same",
	setting.Source:      "--source",
	setting.Whole:       "--cluster whole",
	setting.With:        "--with",
	setting.Within:      "--within",
	setting.By:          "--by",
	setting.Work:        "--work",
}

// flagOf names a setting in messages, for alike.Explain.
func flagOf(field string) string {
	if flag, ok := flagNames[setting.Name(field)]; ok {
		return flag
	}
	if flag, ok := recipeflags.Flag(setting.Name(field)); ok {
		return "--" + flag
	}
	return field
}
