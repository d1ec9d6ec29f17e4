package dedup

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/text"
)

// twin finds passages as the documentation says it, one comparison after the other.
type twin struct {
	o    Passages
	docs []string
}

// twinUnit is a unit: its place, and its words.
type twinUnit struct {
	start, end int
	words      []uint64
	group      int // units that count as equal have the same
}

// group puts the units of all documents into groups.
func (w *twin) group(units [][]twinUnit) {
	type class struct {
		words   []uint64
		leader  int
		grammar map[string]bool
	}
	var classes []class
	for d := range units {
		for i := range units[d] {
			u := &units[d][i]
			at := slices.IndexFunc(classes, func(c class) bool { return slices.Equal(c.words, u.words) })
			if at < 0 {
				at = len(classes)
				c := class{u.words, at, map[string]bool{}}
				for k := 0; k == 0 || k+w.o.NGram <= len(u.words); k++ {
					c.grammar[fmt.Sprint(u.words[k:min(k+max(w.o.NGram, 1), len(u.words))])] = true
				}
				for l, before := range classes {
					both := 0
					for g := range before.grammar {
						if c.grammar[g] {
							both++
						}
					}
					if all := len(before.grammar) + len(c.grammar) - both; before.leader == l && w.o.Threshold > 0 && float64(both) >= w.o.Threshold*float64(all)-1e-9 {
						c.leader = l
						break
					}
				}
				classes = append(classes, c)
			}
			u.group = classes[at].leader
		}
	}
}

var twinLine = regexp.MustCompile("(?s)^(.*?)(\r\n|\n|\r|\u0085|\u2028|\u2029|$)")

// lines returns the places of the lines with their ends, and whether each is protected.
func (w *twin) lines(doc string) (lines [][3]int, kinds []string) {
	fence := ""
	for at := 0; at < len(doc); {
		m := twinLine.FindStringSubmatchIndex(doc[at:])
		content := doc[at : at+m[3]]
		kind := "prose"
		mark := regexp.MustCompile("^ {0,3}(`{3,}|~{3,})").FindStringSubmatch(content)
		if mark != nil && mark[1][0] == '`' && strings.Contains(strings.TrimLeft(strings.TrimLeft(content, " "), "`"), "`") {
			mark = nil
		}
		trimmed := strings.TrimFunc(content, unicode.IsSpace)
		switch {
		case fence != "":
			kind = "code"
			if mark != nil && strings.HasPrefix(mark[1], fence) && strings.TrimSpace(content) == mark[1] {
				fence = ""
			}
		case mark != nil:
			kind, fence = "code", mark[1]
		case trimmed == "":
			kind = "blank"
		case trimmed[0] == '|' && strings.Count(trimmed, "|") > 1:
			kind = "table"
		case regexp.MustCompile(`^(#{1,6}|[-*+•]|\d{1,9}[.)])[ \t]`).MatchString(trimmed):
			kind = "own"
		}
		lines = append(lines, [3]int{at, at + m[3], at + m[1]})
		kinds = append(kinds, kind)
		at += m[1]
	}
	return lines, kinds
}

func (w *twin) open(kind string) bool { return w.o.Code || kind != "code" && kind != "table" }

func wordsOf(t *rapid.T, s string) []uint64 {
	tokens, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tokens.AppendHashes(nil, []byte(s))
}

// units returns the units of a text.
func (w *twin) units(t *rapid.T, doc string) (units []twinUnit) {
	lines, kinds := w.lines(doc)
	add := func(start, end int) {
		if of := wordsOf(t, doc[start:end]); len(of) >= w.o.MinTokens {
			units = append(units, twinUnit{start, end, of, 0})
		}
	}
	thai := func(i int) bool {
		own, letters := 0, 0
		for _, r := range doc[lines[i][0]:lines[i][1]] {
			if unicode.Is(unicode.Thai, r) {
				own++
			} else if unicode.IsLetter(r) {
				letters++
			}
		}
		return own > letters
	}
	for i := 0; i < len(lines); i++ {
		switch {
		case kinds[i] == "blank":
		case w.o.Unit == UnitParagraph:
			first, open := i, true
			for ; i < len(lines) && kinds[i] != "blank"; i++ {
				open = open && w.open(kinds[i])
			}
			if open {
				add(lines[first][0], lines[i-1][2])
			}
		case !w.open(kinds[i]):
		case w.o.Unit == UnitLine || kinds[i] != "prose" || thai(i):
			add(lines[i][0], lines[i][2])
		default:
			first := i
			for i+1 < len(lines) && kinds[i+1] == "prose" && !thai(i+1) {
				i++
			}
			run := doc[lines[first][0]:lines[i][1]]
			for _, end := range []string{"\r", "\n", "\u0085", "\u2028", "\u2029"} {
				run = strings.ReplaceAll(run, end, strings.Repeat(" ", len(end)))
			}
			at := lines[first][0]
			held := ""
			for s := sentences.FromString(run); s.Next(); {
				held += s.Value()
				if doctor.MatchString(strings.TrimSpace(held)) && at+len(held) < lines[i][1] {
					continue
				}
				add(at+len(held)-len(strings.TrimLeftFunc(held, unicode.IsSpace)), at+len(held))
				at += len(held)
				held = ""
			}
			if held != "" {
				add(at+len(held)-len(strings.TrimLeftFunc(held, unicode.IsSpace)), at+len(held))
			}
		}
	}
	return units
}

// mayMeet tells whether what is beside a cut may stand together.
func mayMeet(doc string, left, right int) bool {
	if left == 0 || right == len(doc) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(doc[:left])
	behind, _ := utf8.DecodeRuneInString(doc[right:])
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
	if letter(before) && letter(behind) {
		return false
	}
	return atBoundary(doc[:left]+doc[right:], left)
}

// atBoundary tells whether a character of a reader begins at a place.
func atBoundary(s string, at int) bool {
	i := 0
	for g := graphemes.FromString(s); i < at && g.Next(); {
		i += len(g.Value())
	}
	return i == at
}

// goes tells whether words go from document d, and which earlier one has them first.
func (w *twin) goes(d int, has func(doc int) bool) (first int, ok bool) {
	n := 0
	first = -1
	for e := range w.docs {
		if has(e) {
			n++
			if first < 0 {
				first = e
			}
		}
	}
	return first, n >= w.o.MinCount && first < d
}

// cut returns what is left of document d, and its rows.
func (w *twin) cut(t *rapid.T, d int, units [][]twinUnit) (left string, rows []string) {
	doc := w.docs[d]
	row := func(start, end, first, at int) string { return fmt.Sprintf("%d,%d,%d,%d,%d", d, start, end, first, at) }
	at := 0
	for i := 0; i < len(units[d]); i++ {
		source := func(i int) (first, at int, ok bool) {
			same := func(u twinUnit) bool { return u.group == units[d][i].group }
			if first, ok = w.goes(d, func(e int) bool { return slices.ContainsFunc(units[e], same) }); ok {
				at = units[first][slices.IndexFunc(units[first], same)].start
			}
			return first, at, ok
		}
		end := i
		for end < len(units[d]) && (end == i || units[d][end-1].end == units[d][end].start) {
			if _, _, ok := source(end); !ok {
				break
			}
			end++
		}
		if end == i {
			continue
		}
		for end > i && !mayMeet(doc, units[d][i].start, units[d][end-1].end) {
			end--
		}
		for k := i; k < end; k++ {
			first, from, _ := source(k)
			rows = append(rows, row(units[d][k].start, units[d][k].end, first, from))
			left += doc[at:units[d][k].start]
			at = units[d][k].end
		}
		// What was held back stays, and what follows it is looked at with it.
		for end < len(units[d]) && end > 0 && units[d][end-1].end == units[d][end].start {
			if _, _, ok := source(end); !ok {
				break
			}
			end++
		}
		i = max(i, end-1)
	}
	return left + doc[at:], rows
}

// stretch is tokens without a line that stays between them.
func (w *twin) stretches(t *rapid.T, doc string) (all [][]text.Token) {
	lines, kinds := w.lines(doc)
	tokens, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(lines); i++ {
		first := i
		for i < len(lines) && w.open(kinds[i]) {
			i++
		}
		if i == first {
			continue
		}
		of := tokens.AppendTokens(nil, []byte(doc[lines[first][0]:lines[i-1][2]]))
		for k := range of {
			of[k].Start += lines[first][0]
			of[k].End += lines[first][0]
		}
		all = append(all, of)
	}
	return all
}

// findWindow returns the place of tokens in a document's stretches: -1, -1 if they are not there.
func findWindow(all [][]text.Token, window []text.Token) (stretch, token int) {
	for s, of := range all {
		for i := 0; i+len(window) <= len(of); i++ {
			same := true
			for k := range window {
				same = same && of[i+k].Hash == window[k].Hash
			}
			if same {
				return s, i
			}
		}
	}
	return -1, -1
}

// cutRuns is cut of substrings.
func (w *twin) cutRuns(t *rapid.T, d int, all [][][]text.Token) (left string, rows []string) {
	doc, n := w.docs[d], w.o.MinTokens
	var flat []text.Token
	for _, of := range all[d] {
		flat = append(flat, of...)
	}
	type source struct{ first, stretch, token int }
	base, at := 0, 0
	type run struct{ start, end int }
	var cuts []run
	for _, of := range all[d] {
		sources := map[int]source{} // by window
		gone := make([]bool, len(of))
		for i := 0; i+n <= len(of); i++ {
			first, ok := w.goes(d, func(e int) bool { s, _ := findWindow(all[e], of[i:i+n]); return s >= 0 })
			if !ok {
				continue
			}
			s, token := findWindow(all[first], of[i:i+n])
			sources[i] = source{first, s, token}
			for k := i; k < i+n; k++ {
				gone[k] = true
			}
		}
		for i := 0; i < len(of); i++ {
			first := i
			for i < len(of) && gone[i] {
				i++
			}
			if first == i {
				continue
			}
			starts := func(k int) bool {
				g := base + k
				return (g == 0 || flat[g-1].End <= flat[g].Start) && atBoundary(doc, flat[g].Start)
			}
			ends := func(k int) bool {
				g := base + k
				return (g == len(flat) || flat[g-1].End <= flat[g].Start) && atBoundary(doc, flat[g-1].End)
			}
			from, to := first, i
			for from < to && !starts(from) {
				from++
			}
			for to > from && !ends(to) {
				to--
			}
			best := run{}
			for lost := 0; to-from-lost >= n; lost++ {
				if ends(to-lost) && mayMeet(doc, of[from].Start, of[to-lost-1].End) {
					best = run{from, to - lost}
					break
				}
				if starts(from+lost) && mayMeet(doc, of[from+lost].Start, of[to-1].End) {
					best = run{from + lost, to}
					break
				}
			}
			if best.end == 0 {
				continue
			}
			cuts = append(cuts, run{of[best.start].Start, of[best.end-1].End})
			for k := best.start; k < best.end; {
				end, begin := 0, 0
				var of0 source
				for a := range sources { // the streak that covers k and reaches farthest, leftmost of several
					if _, before := sources[a-1]; before && sources[a-1] == (source{sources[a].first, sources[a].stretch, sources[a].token - 1}) {
						continue
					}
					b := a
					for sources[b+1] == (source{sources[a].first, sources[a].stretch, sources[a].token + b + 1 - a}) && func() bool { _, ok := sources[b+1]; return ok }() {
						b++
					}
					if a <= k && b+n > k && (b+n > end || b+n == end && a < begin) {
						end, begin, of0 = b+n, a, sources[a]
					}
				}
				end = min(end, best.end)
				token := all[of0.first][of0.stretch][of0.token+k-begin]
				last := of[end-1].End
				if end < best.end {
					last = of[end].Start // what stands between two rows is cut, too
				}
				rows = append(rows, fmt.Sprintf("%d,%d,%d,%d,%d", d, of[k].Start, last, of0.first, token.Start))
				k = end
			}
		}
		base += len(of)
	}
	for _, c := range cuts {
		left += doc[at:c.start]
		at = c.end
	}
	return left + doc[at:], rows
}

// The same bytes come out beyond memory, with several files and compressions, and for any threads.
func TestPassagesAreTheSameBeyondMemory(t *testing.T) {
	dir := mixedCorpus(t, 5)
	large := filepath.Join(t.TempDir(), "large.jsonl")
	writeJSONL(t, large, generate(6, 4000))
	for _, o := range []Passages{{Unit: UnitLine}, {Unit: UnitSentence}, {Unit: UnitParagraph}, {Unit: UnitSubstring}, {Unit: UnitLine, Threshold: 0.6}} {
		unit := o.Unit
		o.MinTokens = 4
		inputs := []string{dir}
		if unit == UnitSubstring || o.Threshold > 0 {
			inputs = append(inputs, large)
		}
		var want map[string]string
		for i, c := range []Config{{Threads: 1}, {Threads: 3, limits: limits{memory: 1 << 20}}, {Threads: 2}} {
			c.Inputs, c.Output, c.Work = inputs, filepath.Join(t.TempDir(), "out"), Unsynced{}
			c.Corpus.BlockSize = []int{0, 1 << 12, 1 << 14}[i]
			summary, err := CutPassages(t.Context(), c, o)
			if err != nil {
				t.Fatal(err)
			}
			if i == 1 && unit == UnitSubstring && summary.SpilledBytes == 0 {
				t.Error("nothing went to disk")
			}
			got := tree(t, c.Output)
			delete(got, SummaryFile)
			if want == nil {
				want = got
			}
			if len(got) < 200 || !maps.Equal(got, want) {
				t.Errorf("%s: %d files, other bytes than by one thread in memory", unit, len(got))
			}
		}
	}
}

// withoutRows cuts the rows of found.csv about a document out of it.
func withoutRows(doc string, rows [][]string, id string) (left string) {
	at := 0
	for _, r := range rows {
		if r[0] == id {
			start, _ := strconv.Atoi(r[1])
			left += doc[at:max(at, start)]
			at, _ = strconv.Atoi(r[2])
		}
	}
	return left + doc[at:]
}

// A run whose halves stand first in two documents has two rows, which list what stands between them, too.
func TestRowsListAllThatIsCut(t *testing.T) {
	dir := t.TempDir()
	docs := []string{"one two three four five six", "aaa bbb ccc ddd", "zero three four five; -- bbb ccc ddd end"}
	var in bytes.Buffer
	for d, doc := range docs {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"text\":%q}\n", d, doc)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{Inputs: []string{filepath.Join(dir, "in.jsonl")}, Output: filepath.Join(dir, "out"), Work: Unsynced{}}
	if _, err := CutPassages(t.Context(), c, Passages{Unit: UnitSubstring, MinTokens: 3}); err != nil {
		t.Fatal(err)
	}
	found, err := os.ReadFile(filepath.Join(c.Output, FoundFile))
	if want := "document,start,end,first_document,first_start\n2,5,25,0,8\n2,25,36,1,4\n"; err != nil || string(found) != want {
		t.Errorf("%q, want %q (%v)", found, want, err)
	}
}

// doctor is the abbreviation that the slow twin knows, as a word of its own.
var doctor = regexp.MustCompile(`(?i)(^|[^\p{L}.])dr\.$`)

func TestPassagesAreThoseOfTheSlowTwin(t *testing.T) {
	temp := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		o := Passages{
			Unit: rapid.SampledFrom(Units).Draw(t, "unit"), MinTokens: rapid.IntRange(1, 4).Draw(t, "tokens"),
			MinCount: rapid.IntRange(2, 3).Draw(t, "count"), Code: rapid.Bool().Draw(t, "code"),
		}
		if o.Unit == UnitSubstring {
			o.MinTokens++
		} else if o.Threshold = rapid.SampledFrom([]float64{0, 0.3, 0.5, 0.8, 1}).Draw(t, "threshold"); o.Threshold > 0 {
			o.NGram = rapid.IntRange(1, 2).Draw(t, "ngram")
		}
		piece := rapid.SampledFrom([]string{
			"a ", "b ", "A ", "c ", "a", "b", ". ", "! ", "Dr. ", "\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029", "\n\n", "\n \t\n", "```\n", "~~~ x\n", "| a | b |\n",
			"# ", "\n- ", "\n1. ", "漢", "字。", "ก", "ก\u0e34 ", "e\u0301", "½", "'", "\u200d", "🇩", "가", "ᄀ", "ᅡ", "\xff", " ",
		})
		if o.Threshold > 0 && rapid.Bool().Draw(t, "chains") { // of units that are like one another, and not all like the first
			piece = rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}), 3, 6), func(words []string) string {
				return strings.Join(words, " ") + ".\n\n"
			})
		}
		var docs []string
		for range rapid.IntRange(1, 5).Draw(t, "docs") {
			docs = append(docs, strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 25).Draw(t, "doc"), ""), "\ufffd"))
		}
		w := &twin{o, docs}
		units, all := make([][]twinUnit, len(docs)), make([][][]text.Token, len(docs))
		for d, doc := range docs {
			if o.Unit == UnitSubstring {
				all[d] = w.stretches(t, doc)
			} else {
				units[d] = w.units(t, doc)
			}
		}
		w.group(units)
		var wantRows []string
		want := make([]string, len(docs))
		for d := range docs {
			var rows []string
			if o.Unit == UnitSubstring {
				want[d], rows = w.cutRuns(t, d, all)
			} else {
				want[d], rows = w.cut(t, d, units)
			}
			wantRows = append(wantRows, rows...)
		}
		runs++
		dir := filepath.Join(temp, strconv.Itoa(runs))
		var in bytes.Buffer
		for d, doc := range docs {
			e := json.NewEncoder(&in)
			e.SetEscapeHTML(false)
			_ = e.Encode(map[string]string{"id": strconv.Itoa(d), "text": doc})
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "in.jsonl")
		if err := os.WriteFile(path, in.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "out")
		c := Config{Inputs: []string{path}, Output: out, Threads: rapid.IntRange(1, 3).Draw(t, "threads"), Work: Unsynced{}}
		c.Corpus.BlockSize = rapid.SampledFrom([]int{1, 50, 1 << 16}).Draw(t, "block")
		if _, err := CutPassages(context.Background(), c, o); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(out, KeptFolder, "in.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(kept), "\n"), "\n")
		for d := range docs {
			var record struct{ Text string }
			if err := json.Unmarshal([]byte(got[d]), &record); err != nil || record.Text != want[d] {
				t.Fatalf("%+v: document %d of %q:\n got %q\nwant %q (%v)", o, d, docs, record.Text, want[d], err)
			}
		}
		found, err := os.ReadFile(filepath.Join(out, FoundFile))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(found)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var gotRows []string
		for _, r := range rows[1:] {
			gotRows = append(gotRows, strings.Join(r, ","))
		}
		for d, doc := range docs {
			if left := withoutRows(doc, rows[1:], strconv.Itoa(d)); left != want[d] {
				t.Fatalf("%+v: without its rows %q, document %d of %q is %q, want %q", o, rows, d, docs, left, want[d])
			}
		}
		if !slices.Equal(gotRows, wantRows) {
			t.Fatalf("%+v: rows of %q:\n got %q\nwant %q", o, docs, gotRows, wantRows)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
}
