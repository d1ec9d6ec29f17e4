package runner

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// repeatedText draws a text of lines that are often those of other texts, in some order.
func repeatedText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(9) {
		switch n := rng.IntN(12); n {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString("```\na line of code that is in many texts\n```\n")
		case 2, 3:
			fmt.Fprintf(&b, "What only text %d says. ", rng.IntN(1000))
		default:
			fmt.Fprintf(&b, "Sentence número %d of \U0001F600 those that \"are\" often\tsaid.", n)
			b.WriteString([]string{" ", "\n", "\r\n", "\n\n"}[rng.IntN(4)])
		}
	}
	return b.String()
}

// passageCorpus writes texts in every format, some of which cannot be read to their ends.
func passageCorpus(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	rng := rand.New(rand.NewPCG(5, 7))
	put := func(name string, content []byte) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(n int) []byte {
		var b bytes.Buffer
		for i := range n {
			text, _ := json.Marshal(repeatedText(rng))
			switch {
			case i%9 == 4:
				b.WriteString("no record\n")
			case i%5 == 3:
				fmt.Fprintf(&b, "{\"text\":%s}\n", text)
			default:
				fmt.Fprintf(&b, "{\"id\":\"d %d\", \"text\" :%s,\"more\":[1 , 2]}\n", i, text)
			}
		}
		return b.Bytes()
	}
	zipped := func(content []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(content)
		_ = w.Close()
		return b.Bytes()
	}
	put("a.jsonl", lines(40))
	put("b.jsonl.gz", zipped(lines(40)))
	cut := zipped(bytes.Repeat(lines(40), 3))
	put("b2.jsonl.gz", cut[:len(cut)/2])
	put("b3.jsonl.gz", []byte("\x1f\x8b\x08"))
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	_ = w.Write([]string{"id", "text", "more, or less"})
	for i := range 30 {
		_ = w.Write([]string{fmt.Sprint("row ", i), repeatedText(rng), "x"})
	}
	w.Flush()
	put("c.csv", table.Bytes())
	for i := range 4 {
		put(fmt.Sprintf("folder/%d.txt", i), []byte(repeatedText(rng)))
		wide := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(repeatedText(rng))) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		put(fmt.Sprintf("folder/wide %d.txt", i), wide)
	}
	put("folder/empty.txt", nil)
	type row struct {
		Text *string `parquet:"text,optional"`
		ID   string  `parquet:"id"`
		More int64   `parquet:"more"`
	}
	for _, name := range []string{"d.parquet", "e.parquet"} {
		var out bytes.Buffer
		w := parquet.NewGenericWriter[row](&out, parquet.MaxRowsPerRowGroup(20))
		for i := range 50 {
			text := repeatedText(rng)
			if name == "e.parquet" { // nothing is cut out of it
				text = fmt.Sprint(i)
			}
			r := row{&text, fmt.Sprint(name, i), int64(i)}
			if i%11 == 0 {
				r.Text = nil
			}
			if _, err := w.Write([]row{r}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		put(name, out.Bytes())
	}
	return folder
}

// cutHere is the slow twin of a plan: the run of one machine.
func cutHere(t *testing.T, c dedup.Config, what dedup.Passages) (files map[string]string, s *dedup.Summary) {
	t.Helper()
	c.Output = filepath.Join(t.TempDir(), "out")
	s, err := dedup.CutPassages(t.Context(), c, what)
	if err != nil {
		t.Fatal(err)
	}
	return output(t, c.Output), s
}

func makePassages(t *testing.T, c dedup.Config, what dedup.Passages, partitions int) *Plan {
	t.Helper()
	p, err := MakePassages(t.Context(), c, what, PlanOptions{Work: t.TempDir(), Output: filepath.Join(t.TempDir(), "out"), Partitions: partitions})
	if err == nil {
		p, err = Load(bytes.NewReader(jsonOf(t, p)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPassagesOfStagesAreThoseOfOneMachine(t *testing.T) {
	c := dedup.Config{Inputs: []string{passageCorpus(t)}}
	for name, what := range map[string]dedup.Passages{
		"lines":                {Unit: dedup.UnitLine},
		"lines of three":       {Unit: dedup.UnitLine, MinCount: 3, MinTokens: 1},
		"lines, and code":      {Unit: dedup.UnitLine, Code: true},
		"sentences":            {Unit: dedup.UnitSentence},
		"paragraphs":           {Unit: dedup.UnitParagraph},
		"substrings":           {Unit: dedup.UnitSubstring, MinTokens: 6},
		"substrings of four":   {Unit: dedup.UnitSubstring, MinTokens: 9, MinCount: 4, Code: true},
		"found, substrings":    {Unit: dedup.UnitSubstring, MinTokens: 6, FoundOnly: true},
		"found, sentences":     {Unit: dedup.UnitSentence, FoundOnly: true},
		"similar lines":        {Unit: dedup.UnitLine, Threshold: 0.7},
		"similar pairs":        {Unit: dedup.UnitSentence, Threshold: 0.4, NGram: 2, MinCount: 3, MinTokens: 2},
		"similar, and far":     {Unit: dedup.UnitLine, Threshold: 0.2, MinTokens: 1, FoundOnly: true},
		"paragraphs of nobody": {Unit: dedup.UnitParagraph, MinTokens: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			want, of := cutHere(t, c, what)
			for _, partitions := range []int{1, 7} {
				p := makePassages(t, c, what, partitions)
				s := runAll(t, p, Options{Memory: int64(partitions - 1)}) // 0: the plan's; otherwise most goes to disk
				same(t, output(t, p.Output), want)
				if s.Read != of.Read || s.Kept != of.Kept || s.Skipped != of.Skipped || !reflect.DeepEqual(s.Passages, of.Passages) {
					t.Errorf("%d partitions: %+v %+v, want %+v %+v", partitions, s, s.Passages, of, of.Passages)
				}
			}
			if none := what.MinTokens == 1000; none != (of.Passages.Found == 0) {
				t.Errorf("%d passages", of.Passages.Found)
			}
		})
	}
}

func TestCutsWhoseTasksAreKilledGoOn(t *testing.T) {
	c := dedup.Config{Inputs: []string{passageCorpus(t)}}
	for _, what := range []dedup.Passages{{Unit: dedup.UnitSubstring, MinTokens: 6}, {Unit: dedup.UnitLine, Threshold: 0.7}} {
		p := makePassages(t, c, what, 3)
		survivesKills(t, p)
		want, _ := cutHere(t, c, what)
		same(t, output(t, p.Output), want)
	}
}

func TestWhatPlansOfPassagesCannotDoIsRefused(t *testing.T) {
	folder := passageCorpus(t)
	for name, what := range map[string]dedup.Passages{
		"similar": {Unit: dedup.UnitSubstring, Threshold: 0.9},
		"unit":    {Unit: "word"},
		"count":   {Unit: dedup.UnitLine, MinCount: 1},
	} {
		o := PlanOptions{Work: t.TempDir(), Output: filepath.Join(t.TempDir(), "out")}
		if _, err := MakePassages(t.Context(), dedup.Config{Inputs: []string{folder}}, what, o); !errors.Is(err, dedup.ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := makePassages(t, dedup.Config{Inputs: []string{folder}}, dedup.Passages{Unit: dedup.UnitLine}, 2)
	for name, change := range map[string]func(p *stage.Plan){
		"unit":       func(p *stage.Plan) { p.Passages.Unit = "word" },
		"count":      func(p *stage.Plan) { p.Passages.MinCount = 0 },
		"tokens":     func(p *stage.Plan) { p.Passages.MinTokens = 0 },
		"threshold":  func(p *stage.Plan) { p.Passages.Threshold = 1.5 },
		"none":       func(p *stage.Plan) { p.Passages = nil },
		"command":    func(p *stage.Plan) { p.Command = stage.Dedup },
		"references": func(p *stage.Plan) { p.References = 1 },
		"listed":     func(p *stage.Plan) { p.Listed = true },
		"tags":       func(p *stage.Plan) { p.Tags = &stage.Tags{} },
		"a table":    func(p *stage.Plan) { p.Join = &stage.Tables{} },
	} {
		changed, passages := *p, *p.Passages
		changed.Passages, changed.Digest, changed.Files = &passages, "", slices.Clone(p.Files)
		if change(&changed.Plan); changed.Settle() == nil {
			t.Errorf("a plan with another %s is taken", name)
		}
	}
}
