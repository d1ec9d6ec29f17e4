package linkage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/corpus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// people makes two tables of people, who are in both with a probability, and then with a
// typing error, a value that is missing, or both. The truth is in equal ids.
func people(n int, overlap float64) (left, right string) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(n, length int) string {
		w := rand.New(rand.NewPCG(uint64(r.IntN(n)), 7))
		b := make([]byte, length)
		for i := range b {
			b[i] = byte('a' + w.IntN(26))
		}
		return string(b)
	}
	var l, x strings.Builder
	l.WriteString("id,name,street,town,born\n")
	x.WriteString("id,name,street,town,born\n")
	for i := range n {
		row := []string{fmt.Sprint(i), word(40, 6) + " " + word(400, 8), word(90, 9) + " " + fmt.Sprint(r.IntN(90)), word(30, 7),
			fmt.Sprintf("%d-%02d-%02d", 1930+r.IntN(70), 1+r.IntN(12), 1+r.IntN(28))}
		l.WriteString(strings.Join(row, ",") + "\n")
		if r.Float64() >= overlap {
			row = []string{"r" + row[0], word(40, 6) + " " + word(400, 8), word(90, 9), word(30, 7), fmt.Sprintf("%d-05-05", 1930+r.IntN(70))}
		} else {
			at := r.IntN(len(row[1]))
			row[1] = row[1][:at] + "x" + row[1][at+1:]
			row[1+r.IntN(4)] = ""
		}
		x.WriteString(strings.Join(row, ",") + "\n")
	}
	return l.String(), x.String()
}

// write writes a file into a folder of the test and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	return writeInto(t, t.TempDir(), name, content)
}

// writeInto writes a file into a folder and returns its path.
func writeInto(t *testing.T, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func join(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Join(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scores returns precision and recall of links whose truth is in equal ids.
func scores(r *Result, matches int) (precision, recall float64) {
	right := 0
	for l := range r.Links.All() {
		if bytes.Equal(l.A, l.B) {
			right++
		}
	}
	return float64(right) / max(1, float64(r.Links.Len())), float64(right) / max(1, float64(matches))
}

func TestPeopleAreFoundWhateverShareOfThemHasAPartner(t *testing.T) {
	for _, overlap := range []float64{1, 0.5, 0.1} {
		left, right := people(1000, overlap)
		matches := 0
		for _, line := range strings.Split(right, "\n")[1:] {
			if line != "" && line[0] != 'r' {
				matches++
			}
		}
		r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
		precision, recall := scores(r, matches)
		if precision < 0.95 || recall < 0.95 {
			t.Errorf("overlap %v: precision %.3f, recall %.3f", overlap, precision, recall)
		}
		if math.Abs(precision-r.Precision) > 0.05 || math.Abs(recall-r.Recall) > 0.05 {
			t.Errorf("overlap %v: precision %.3f is estimated %.3f, recall %.3f is %.3f", overlap, precision, r.Precision, recall, r.Recall)
		}
	}
}

func TestTheSameLinksComeOutForAnyNumberOfThreads(t *testing.T) {
	left, right := people(600, 0.6)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), Corpus: corpus.Options{BlockSize: 4 << 10}}
	show := func() string {
		var b strings.Builder
		r := join(t, c)
		for l := range r.Links.All() {
			fmt.Fprintf(&b, "%s %s %v %v %v\n", l.A, l.B, l.Similarity, l.Fields, l.Probability)
		}
		fmt.Fprintf(&b, "%+v", r.Columns)
		return b.String()
	}
	c.Threads = 1
	one := show()
	for _, threads := range []int{2, 7} {
		if c.Threads = threads; show() != one {
			t.Errorf("%d threads give other links than one", threads)
		}
	}
}

func TestColumnsCorrespondByContentWhereTheirNamesDiffer(t *testing.T) {
	left, right := people(1000, 0.8)
	right = strings.Replace(right, "id,name,street,town,born", "key,a,b,c,d", 1)
	r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	var got []string
	for _, c := range r.Columns {
		got = append(got, c.Left+"="+c.Right)
	}
	if want := []string{"name=a", "street=b", "town=c", "born=d"}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
}

func TestFormatsHoldTheSameTable(t *testing.T) {
	left, right := people(300, 0.7)
	want := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	var lines strings.Builder
	rows := strings.Split(strings.TrimSpace(right), "\n")
	names := strings.Split(rows[0], ",")
	for _, row := range rows[1:] {
		var members []string
		for i, v := range strings.Split(row, ",") {
			members = append(members, fmt.Sprintf("%q:%q", names[i], v))
		}
		lines.WriteString("{" + strings.Join(members, ",") + "}\n")
	}
	for name, content := range map[string]string{"r.tsv": strings.ReplaceAll(right, ",", "\t"), "r.jsonl": lines.String()} {
		got := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, name, content)})
		if got.Links.Len() != want.Links.Len() || got.Precision != want.Precision {
			t.Errorf("%s gives %d links, want %d", name, got.Links.Len(), want.Links.Len())
		}
	}
}

func TestATableMayBeSeveralFiles(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"1.csv":      "id,name,town\n1,Ruth Kowalski,Leeds\n,Peter Whitfield,Hull\n",
		"2.jsonl":    `{"name":"Amina Okafor","id":"3","born":"1990-01-02"}` + "\n" + `{"name":"John Papadakis","town":"York"}` + "\n",
		"3.csv":      "name,id,town\nLena Brandstetter,5,Bath\n",
		"_SUCCESS":   "",
		".3.csv.crc": "crc",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{Left: folder, Match: All, Threshold: 0.9, With: []string{"born"}}
	c.Right = write(t, "one.csv", "id,name,town,born\na,Ruth Kowalski,Leeds,\nb,Peter Whitfield,Hull,\nc,Amina Okafor,,1990-01-02\nd,John Papadakis,York,\ne,Lena Brandstetter,Bath,\n")
	r, err := Join(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for l := range r.Links.All() {
		found = append(found, fmt.Sprintf("%s %s %s", l.A, l.B, l.WithA[0]))
	}
	// Records without an id have the numbers that they have in the whole table.
	if want := []string{"1 a ", "2 b ", "3 c 1990-01-02", "4 d ", "5 e "}; !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
	if err := os.WriteFile(filepath.Join(folder, "readme"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), c); err == nil || !strings.Contains(err.Error(), "readme is no table") {
		t.Error(err)
	}
}

func TestDecisionsByHandAreKept(t *testing.T) {
	left, right := people(300, 0.7)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)}
	auto := join(t, c)
	c.Threshold = 0.8
	for l := range join(t, c).Links.All() {
		if l.Similarity < 0.8 {
			t.Fatalf("a link of %v at threshold 0.8", l.Similarity)
		}
	}
	c.Threshold, c.Precision = 0, 0.6
	loose := join(t, c)
	if loose.Links.Len() < auto.Links.Len() || loose.Precision < 0.6 {
		t.Errorf("at precision 0.6 there are %d links of estimated %.3f, without %d", loose.Links.Len(), loose.Precision, auto.Links.Len())
	}
	c.Precision, c.Match, c.Top, c.Threshold = 0, All, 2, 0.01
	degree := map[string]int{}
	for l := range join(t, c).Links.All() {
		if degree[string(l.A)]++; degree[string(l.A)] > 2 {
			t.Fatalf("record %s has more than 2 links", l.A)
		}
	}
}

func TestMissingValuesNeitherHelpNorHurt(t *testing.T) {
	left, right := people(500, 0.7)
	r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	for l := range r.Links.All() {
		missing := 0
		for _, s := range l.Fields {
			if s < 0 {
				missing++
			}
		}
		if missing > 1 {
			t.Fatalf("%d values of %s and %s are missing", missing, l.A, l.B)
		}
	}
}

func TestOneTableIsJoinedWithinItself(t *testing.T) {
	left, right := people(500, 0.5)
	both := left + strings.SplitN(right, "\n", 2)[1]
	lines := strings.Split(strings.TrimSpace(both), "\n")
	truth := map[string]bool{}
	seen := map[string]bool{}
	for i, line := range lines[1:] {
		id, rest, _ := strings.Cut(line, ",")
		if seen[id] {
			truth[id] = true
			id += "b"
		}
		seen[id] = true
		lines[1+i] = id + "," + rest
	}
	r := join(t, Config{Left: write(t, "t.csv", strings.Join(lines, "\n")+"\n")})
	right2 := 0
	for l := range r.Links.All() {
		if string(l.A)+"b" == string(l.B) && truth[string(l.A)] {
			right2++
		}
	}
	if p, rec := float64(right2)/float64(r.Links.Len()), float64(right2)/float64(len(truth)); p < 0.95 || rec < 0.9 {
		t.Errorf("precision %.3f, recall %.3f of %d pairs", p, rec, len(truth))
	}
}

func TestInputsThatCannotBeJoinedAreNamed(t *testing.T) {
	table := write(t, "a.csv", "id,name\n1,new york\n")
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no common column", Config{Left: table, Right: write(t, "b.csv", "key,price\n1,30\n2,40\n")}, "no column in common"},
		{"no column that tells anything", Config{Left: write(t, "a.csv", "id,name,town\n1,,york\n"), Right: write(t, "b.csv", "id,name,town\n1,ann,\n")}, "name has no values, town has no values"},
		{"no such field", Config{Left: table, Right: table, Fields: []Field{{Left: "title"}}}, `no column "title"`},
		{"no such id", Config{Left: table, Right: table, LeftID: "key"}, `no column "key"`},
		{"a text", Config{Left: table, Right: write(t, "b.txt", "x")}, "is no table"},
		{"no header", Config{Left: table, Right: write(t, "b.csv", "")}, "no columns"},
		{"no file", Config{Left: table, Right: filepath.Join(t.TempDir(), "b.csv")}, "b.csv"},
		{"no column to hand on", Config{Left: table, Right: table, With: []string{"price"}}, `the column "price"`},
		{"two decisions", Config{Left: table, Right: table, Threshold: 0.5, Precision: 0.9}, "give one of them"},
		{"a threshold that is no number", Config{Left: table, Right: table, Threshold: math.NaN()}, "Threshold is NaN: take a similarity"},
		{"a precision that is no number", Config{Left: table, Right: table, Precision: math.NaN()}, "Precision is NaN: take a share"},
		{"an unknown rule", Config{Left: table, Right: table, Match: "first"}, "take auto, mutual"},
		{"a weight below 0", Config{Left: table, Right: table, Fields: []Field{{Left: "name", Weight: -1}}}, "weight -1"},
	} {
		if _, err := Join(t.Context(), c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAnEmptySideHasNoLinks(t *testing.T) {
	left, _ := people(10, 1)
	r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", "id,name,street,town,born\n")})
	if r.Links.Len() != 0 || r.Left != 10 || r.Right != 0 {
		t.Errorf("%d links among %d × %d records", r.Links.Len(), r.Left, r.Right)
	}
}

func TestRecordsThatCannotBeReadAreTold(t *testing.T) {
	left, right := people(200, 0.8)
	right += "201,too,few\n"
	path := write(t, "r.csv", right)
	var told []string
	c := Config{Left: write(t, "l.csv", left), Right: path, OnSkip: func(p *corpus.Problem) { told = append(told, p.Error()) }}
	r := join(t, c)
	if len(told) != 1 || !strings.Contains(told[0], "r.csv:202: 3 fields where the header has 5") || r.Skipped != 1 {
		t.Errorf("told %q, skipped %d", told, r.Skipped)
	}
	c.Fail = true
	if _, err := Join(t.Context(), c); !errors.Is(err, corpus.ErrFieldCount) {
		t.Errorf("with Fail: %v", err)
	}
}

func TestRepeatedIDsAreTold(t *testing.T) {
	left, right := people(100, 0.8)
	r := join(t, Config{Left: write(t, "l.csv", left+"7,a b,c,d,1990-01-01\n"), Right: write(t, "r.csv", right)})
	if len(r.Repeated) != 1 || !strings.Contains(r.Repeated[0], `id "7"`) {
		t.Errorf("repeated %q", r.Repeated)
	}
}

func TestTablesOfFewOrEqualRecordsAreJoined(t *testing.T) {
	header := "id,name,town\n"
	for _, c := range []struct{ name, left, right string }{
		{"a record each", "1,ann lee,york\n", "a,ann lee,york\n"},
		{"nothing in common", "1,ann lee,york\n2,bob kay,hull\n", "a,xyz,qqq\nb,zzz,www\n"},
		{"nearly all records equal", strings.Repeat("1,ann lee,york\n", 20) + "2,bob kay,hull\n", strings.Repeat("a,ann lee,york\n", 20)},
		{"records without values", "1,,\n2,ann lee,\n", "a,,york\nb,ann lee,\n"},
		{"two by two that all resemble", "1,ann lee,york\n2,ann lea,york\n", "a,ann lee,york\nb,ann lea,york\n"},
	} {
		for _, match := range []Match{Mutual, OneToOne, Best, All} {
			r := join(t, Config{Left: write(t, "l.csv", header+c.left), Right: write(t, "r.csv", header+c.right), Match: match})
			if math.IsNaN(r.Precision) || math.IsNaN(r.Recall) || r.Precision > 1 || r.Recall > 1+1e-9 {
				t.Errorf("%s, %s: precision %v, recall %v", c.name, match, r.Precision, r.Recall)
			}
		}
		join(t, Config{Left: write(t, "l.csv", header+c.left)})
	}
}

// TestManyRecordsAreJoinedByWhatTheyShare has candidates found as those of large tables are.
func TestManyRecordsAreJoinedByWhatTheyShare(t *testing.T) {
	left, right := people(3000, 0.5)
	matches := strings.Count(right, "\n") - strings.Count(right, "\nr") - 1
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), limits: limits{many: 1000}}
	for _, threads := range []int{1, 3} {
		c.Threads = threads
		r := join(t, c)
		if precision, recall := scores(r, matches); precision < 0.95 || recall < 0.95 || r.Search.Method != candidates.ByKeys {
			t.Errorf("precision %.3f, recall %.3f by %s", precision, recall, r.Search.Method)
		}
	}
	rows := strings.Split(strings.TrimSpace(right), "\n")[1:]
	for i, row := range rows {
		if row[0] != 'r' {
			rows[i] = "b" + row
		}
	}
	truth := 0
	r := join(t, Config{Left: write(t, "t.csv", left+strings.Join(rows, "\n")+"\n"), limits: limits{many: 1000}})
	for l := range r.Links.All() {
		if "b"+string(l.A) == string(l.B) {
			truth++
		}
	}
	if p, rec := float64(truth)/float64(r.Links.Len()), float64(truth)/float64(matches); p < 0.95 || rec < 0.9 {
		t.Errorf("one table: precision %.3f, recall %.3f", p, rec)
	}
}
