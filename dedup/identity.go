package dedup

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strconv"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/setting"
)

// engineVersion changes with the content of a work folder: a run of another version refuses the
// folder.
const engineVersion = "8"

// identity is everything that the result of a run depends on: what is compared and how, and the
// state of every input and of NewTo.Known. TestEveryFieldOfConfigIsInTheFingerprint checks that no
// field of Config is forgotten.
func identity(c *settings, command string, in *inputs, known string) iter.Seq[journal.Setting] {
	return func(yield func(journal.Setting) bool) {
		set := []journal.Setting{
			{Name: "command", Value: command},
			{Name: "engine", Value: engineVersion},
			{Name: string(setting.Measure), Value: c.Measure.String()},
			{Name: string(setting.Threshold), Value: fmt.Sprint(c.Threshold)},
			{Name: string(setting.Recall), Value: fmt.Sprint(c.Recall)},
			{Name: string(setting.Candidates), Value: c.Method},
			{Name: string(setting.Verify), Value: string(c.Verify)},
			{Name: string(setting.Shared), Value: strconv.FormatBool(c.Shared)},
			{Name: string(setting.ThirdTexts), Value: strconv.FormatBool(c.ThirdTexts)},
			{Name: "recipe", Value: c.recipe.String()},
			{Name: string(setting.BucketCap), Value: fmt.Sprint(c.BucketCap)},
			{Name: string(setting.Keep), Value: c.Keep.String()},
			{Name: string(setting.Star), Value: fmt.Sprint(c.Star)},
			{Name: string(setting.Whole), Value: fmt.Sprint(c.Whole)},
			{Name: string(setting.OnError), Value: string(c.OnError)},
			{Name: string(setting.Format), Value: string(c.Corpus.Format)},
			{Name: string(setting.TextField), Value: c.Corpus.TextField},
			{Name: string(setting.IDField), Value: c.Corpus.IDField},
			{Name: "fields", Value: fmt.Sprintf("%q", c.Corpus.Fields)},
			{Name: string(setting.MaxRecord), Value: fmt.Sprint(c.Corpus.MaxRecord)},
			{Name: "block size", Value: fmt.Sprint(c.Corpus.BlockSize)},
			{Name: "output", Value: c.Output},
			{Name: "ids only", Value: strconv.FormatBool(c.IDsOnly)},
			{Name: "tags", Value: tagsSetting(c.Tags)},
			{Name: "references", Value: fmt.Sprint(in.references)},
			{Name: string(setting.With), Value: withSetting(c, in)},
			{Name: "index", Value: known},
		}
		for _, s := range set {
			if !yield(s) {
				return
			}
		}
		for _, s := range in.sources {
			if !yield(journal.Setting{Name: resume.InputSetting + s.Path, Value: s.State()}) {
				return
			}
		}
		// With other inputs, the same file may have another name.
		names := uint64(0)
		for _, s := range in.sources {
			names = hashing.Bytes(append(binary.LittleEndian.AppendUint64(nil, names), s.Name...))
		}
		yield(journal.Setting{Name: "names of the outputs", Value: fmt.Sprintf("%016x", names)})
	}
}

func tagsSetting(t *Tags) string {
	if t == nil {
		return "no"
	}
	return strconv.Quote(t.Prefix)
}

// withSetting says how many of the inputs come before --with.
func withSetting(c *settings, in *inputs) string {
	if len(c.With) == 0 {
		return "no"
	}
	return fmt.Sprintf("after %d files", in.left)
}
