package linkage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/learn"
)

// twins writes a table of firms in which every third is there twice, with the same name and year, and another name of its
// town, and every third is another firm than one of the same name and town. Only labels tell which of both are one.
func twins(t *testing.T, n int) (path string, matches []Label) {
	t.Helper()
	var s strings.Builder
	s.WriteString("id,name,town,year\n")
	row := 0
	add := func(name, town string, year int) (id string) {
		row++
		fmt.Fprintf(&s, "%d,%s,%s,%d\n", row, name, town, year)
		return fmt.Sprint(row)
	}
	for i := range n {
		name := fmt.Sprintf("%s %s works", word(i), word(i*7+3))
		a := add(name, word(i*13+1)+" town", 1900+i%90)
		if i%3 == 0 {
			matches = append(matches, Label{a, add(name, word(i*13+1)+" city", 1900+i%90), true})
		} else if i%3 == 1 {
			add(name, word(i*13+1)+" town", 1900+(i+31)%90)
		}
	}
	path = filepath.Join(t.TempDir(), "firms.csv")
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, matches
}

// word is a made-up word of its own for each number up to some thousands.
func word(i int) string {
	i = i * 7919 % 10007
	var b strings.Builder
	for range 3 {
		b.WriteByte("bdfgklmnprstvz"[i%14])
		b.WriteByte("aeiou"[i/14%5])
		i = i/3 + 11
	}
	return b.String()
}

func right(r *Result, matches []Label) (hits int) {
	isTrue := map[[2]string]bool{}
	for _, m := range matches {
		isTrue[[2]string{m.A, m.B}] = true
	}
	for l := range r.Links.All() {
		if isTrue[[2]string{string(l.A), string(l.B)}] {
			hits++
		}
	}
	return hits
}

func f1(r *Result, matches []Label) float64 {
	return 2 * float64(right(r, matches)) / float64(r.Links.Len()+len(matches))
}

// mistakesAndMatches are 40 matches, and up to as many links that are none.
func mistakesAndMatches(r *Result, matches []Label) []Label {
	truth := map[[2]string]bool{}
	for _, m := range matches {
		truth[[2]string{m.A, m.B}] = true
	}
	labels := matches[:40:40]
	for link := range r.Links.All() {
		if a, b := string(link.A), string(link.B); !truth[[2]string{a, b}] && len(labels) < 80 {
			labels = append(labels, Label{a, b, false})
		}
	}
	return labels
}

func TestLabelsTeachWhatTheDataDoNotTell(t *testing.T) {
	path, matches := twins(t, 240)
	without := join(t, Config{Left: path})
	l, err := NewLearner(t.Context(), Config{Left: path})
	if err != nil {
		t.Fatal(err)
	}
	truth := map[[2]string]bool{}
	for _, m := range matches {
		truth[[2]string{m.A, m.B}] = true
	}
	m, err := l.Fit(Labels{Pairs: mistakesAndMatches(without, matches)})
	if err != nil {
		t.Fatal(err)
	}
	with := join(t, Config{Left: path, Model: m})
	if a, b := f1(without, matches), f1(with, matches); a > 0.8 || b < 0.95 {
		t.Errorf("F1 %.3f with labels, %.3f without", b, a)
	}
	var questions []Label
	for range 30 {
		q, ok := l.Ask(questions, nil)
		if !ok {
			t.Fatal("nothing to ask")
		}
		for _, before := range questions {
			if before.A == q.A && before.B == q.B {
				t.Fatalf("%s and %s are asked twice", q.A, q.B)
			}
		}
		if len(q.Values) != 3 || q.Values[0].Left != "name" || q.Values[0].A == "" {
			t.Fatalf("question shows %+v", q.Values)
		}
		questions = append(questions, Label{q.A, q.B, truth[[2]string{q.A, q.B}]})
	}
	m, err = l.Fit(Labels{Pairs: questions})
	if err != nil {
		t.Fatal(err)
	}
	with = join(t, Config{Left: path, Model: m})
	if a, b := f1(without, matches), f1(with, matches); b < 0.95 {
		t.Errorf("F1 %.3f with 30 answers, %.3f without", b, a)
	}
}

func TestLabelsThatChangeNothingGiveTheDecisionWithoutThem(t *testing.T) {
	path, matches := twins(t, 60)
	l, err := NewLearner(t.Context(), Config{Left: path})
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.decideBy(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := l.model(learn.Start(l.of.Features()), d.Threshold)
	without, with := join(t, Config{Left: path}), join(t, Config{Left: path, Model: m})
	if without.Links.Len() == 0 || with.Links.Len() != without.Links.Len() {
		t.Fatalf("%d links with a model that says nothing new, %d without", with.Links.Len(), without.Links.Len())
	}
	for i := range with.Links.Len() {
		l := with.Links.At(i)
		if w := without.Links.At(i); !bytes.Equal(l.A, w.A) || !bytes.Equal(l.B, w.B) || math.Abs(l.Probability-w.Probability) > 1e-6 {
			t.Errorf("link %d is %s %s %v, want %s %s %v", i, l.A, l.B, l.Probability, w.A, w.B, w.Probability)
		}
	}
	for _, labels := range []Labels{{}, {Pairs: matches[:3]}, {Pairs: []Label{{"1", "nobody", true}}, Complete: true}} {
		if _, err := l.Fit(labels); err == nil || !strings.Contains(err.Error(), "a model is learned from both") {
			t.Errorf("%d labels of one kind: %v", len(labels.Pairs), err)
		}
	}
	_, err = l.Fit(Labels{Pairs: []Label{{"1", "nobody", true}, matches[0]}})
	if err == nil || !strings.HasSuffix(err.Error(), "; 1 label more of records that the tables do not have") {
		t.Errorf("a label of a record that is not there: %v", err)
	}
}

// ofTwins returns a model that was learned from twins.
func ofTwins(t *testing.T) *Model {
	t.Helper()
	path, matches := twins(t, 60)
	l, err := NewLearner(t.Context(), Config{Left: path})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Fit(Labels{Pairs: matches, Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAModelIsReadAsItWasWrittenAndNothingElseIs(t *testing.T) {
	m := ofTwins(t)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ReadModel(data); err != nil {
		t.Error(err)
	} else if again, _ := json.Marshal(back); !bytes.Equal(data, again) {
		t.Errorf("%s is read as %s", data, again)
	}
	for name, change := range map[string][2]string{
		"a later version":       {`"alike_model":4`, `"alike_model":5`},
		"no version":            {`"alike_model":4`, `"other":1`},
		"a field less":          {`{"left":"name","right":"name","weight":1,"tokens":"text"},`, ``},
		"another feature":       {`"constant"`, `"constants"`},
		"a threshold over one":  {`"threshold":0.`, `"threshold":7.`},
		"what is no JSON":       {`{`, `<`},
		"shares of fewer":       {`"share":[`, `"share":[1,`},
		"levels of other kinds": {`"evidence":[[`, `"evidence":[[0,`},
		"a weight of -1e308":    {`{"feature":"constant","weight":`, `{"feature":"constant","weight":-1e308,"was":`},
		"a prior of 1e307":      {`"prior":`, `"prior":1e307,"was":`},
		"a share of 2":          {`"share":[`, `"share":[2],"was":[`},
		"evidence of 1e9":       {`"evidence":[[0,`, `"evidence":[[1e9,`},
		"a strength below zero": {`"strength":`, `"strength":-1,"was":`},
		"a field's weight":      {`"weight":1,"tokens"`, `"weight":-1e308,"tokens"`},
		"unknown tokens":        {`"tokens":"text"`, `"tokens":"syllables"`},
		"an unknown match rule": {`"match":"mutual"`, `"match":"any"`},
		"unknown weights":       {`"weighing":{`, `"weighing":{"idf":"guess",`},
	} {
		if changed := strings.Replace(string(data), change[0], change[1], 1); changed == string(data) {
			t.Errorf("%s: %q is not in %s", name, change[0], data)
		} else if _, err := ReadModel([]byte(changed)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add([]byte(`{"alike_model":4,"fields":[{"left":"a"}],"base":{"share":[1],"evidence":[[],[]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := ReadModel(data); err == nil && m.base().Width != len(m.Fields)+1 {
			t.Errorf("%s is read", data)
		}
	})
}

// TestAModelOfAnEarlierProgramIsRead reads one without levels of exchanged words and of records that have a rare word, which tell by it
// what the levels do that they stand for.
func TestAModelOfAnEarlierProgramIsRead(t *testing.T) {
	m := ofTwins(t)
	m.Version = 2
	for f, evidence := range m.Base.Evidence {
		m.Base.Evidence[f] = evidence[:49]
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadModel(data)
	if err != nil {
		t.Fatal(err)
	}
	for f, evidence := range read.Base.Evidence {
		want := compare.WithExchanged(m.Base.Evidence[f])
		if f == len(read.Base.Evidence)-1 {
			want = compare.WithRare(want)
		}
		if len(evidence) != compare.Levels || !slices.Equal(evidence, want) {
			t.Errorf("column %d has evidence %v, want %v", f, evidence, want)
		}
	}
}
