package linkage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// matcherOf opens a matcher of a table.
func matcherOf(t *testing.T, c MatchConfig) *Matcher {
	t.Helper()
	m, err := OpenMatcher(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// valuesOf returns the values of a line of CSV by the names of its header.
func valuesOf(m *Matcher, header, line string) (id string, values [][]byte) {
	names, cells := strings.Split(header, ","), strings.Split(line, ",")
	for _, column := range m.Columns() {
		values = append(values, []byte(cells[slices.Index(names, column)]))
	}
	return cells[0], values
}

// TestAMatchIsJudgedAsAJoinWouldDoIt compares the evidence of matches with that of joins of each record alone with the
// table, by the same model: whatever the model was learned from.
func TestAMatchIsJudgedAsAJoinWouldDoIt(t *testing.T) {
	l, r := people(100, 0.7)
	left, right := write(t, "l.csv", l), write(t, "r.csv", r)
	labels := Labels{}
	for link := range join(t, Config{Left: left, Right: right}).Links.All() {
		labels.Pairs = append(labels.Pairs, Label{string(link.A), string(link.B), len(labels.Pairs)%5 > 0})
	}
	learner, err := NewLearner(t.Context(), Config{Left: left, Right: right})
	if err != nil {
		t.Fatal(err)
	}
	learned, err := learner.Fit(labels)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(l), "\n")
	for name, model := range map[string]*Model{"a join": join(t, Config{Left: left, Right: right}).Model, "labels": learned} {
		m := matcherOf(t, MatchConfig{Model: model, Table: right})
		compared := 0
		for i, line := range lines[1:26] {
			id, values := valuesOf(m, lines[0], line)
			answer, err := m.Match(t.Context(), id, values)
			if err != nil {
				t.Fatal(err)
			}
			alone := write(t, fmt.Sprintf("%s%d.csv", strings.Fields(name)[0], i), lines[0]+"\n"+line+"\n")
			byJoin := map[string]Explained{}
			for _, e := range join(t, Config{Left: alone, Right: right, Model: model, Evidence: 1000}).Evidence.Pairs {
				byJoin[string(e.B)] = e
			}
			for _, found := range answer.Matches {
				e, ok := byJoin[found.ID]
				if !ok {
					continue // a join looks at ten candidates of a record
				}
				compared++
				if math.Abs(found.Similarity-e.Similarity) > 1e-6 {
					t.Errorf("%s: %s and %s: similarity %v, by a join %v", name, id, found.ID, found.Similarity, e.Similarity)
				}
				column := 0
				for _, reason := range found.Evidence {
					if reason.Of != StepColumn {
						continue
					}
					of := e.Columns[column]
					column++
					if reason.Column != of.Left || reason.Record != of.A || reason.Found != of.B || math.Abs(reason.LogOdds-of.LogOdds) > 1e-6 {
						t.Errorf("%s: %s and %s: %+v, by a join %+v", name, id, found.ID, reason, of.Values)
					}
				}
			}
		}
		if compared < 8 {
			t.Errorf("%s: %d matches were compared: nothing is tested", name, compared)
		}
	}
}

func TestMatchesAreThoseOfTheTruth(t *testing.T) {
	l, r := people(300, 0.6)
	left, right := write(t, "l.csv", l), write(t, "r.csv", r)
	m := matcherOf(t, MatchConfig{Model: join(t, Config{Left: left, Right: right}).Model, Table: right})
	lines := strings.Split(strings.TrimSpace(l), "\n")
	there := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(r), "\n")[1:] {
		there[strings.SplitN(line, ",", 2)[0]] = true
	}
	var wrong int
	var wait sync.WaitGroup
	var mu sync.Mutex
	for part := range 4 { // a matcher may be asked by several goroutines
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := 1 + part; i < len(lines); i += 4 {
				id, values := valuesOf(m, lines[0], lines[i])
				answer, err := m.Match(context.Background(), id, values)
				mu.Lock()
				if err != nil || answer.New == there[id] || !answer.New && answer.Matches[0].ID != id {
					wrong++
				}
				mu.Unlock()
			}
		}()
	}
	wait.Wait()
	if wrong > len(lines)/50 {
		t.Errorf("%d of %d answers are wrong", wrong, len(lines)-1)
	}
}

// TestAnEntityIsAsLikelyAsItsRecordsTogether: two records of one entity are no rivals, two of different ones are.
func TestAnEntityIsAsLikelyAsItsRecordsTogether(t *testing.T) {
	l, r := people(300, 0.6)
	model := join(t, Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", r)}).Model
	lines := strings.Split(strings.TrimSpace(r), "\n")
	twice := write(t, "twice.csv", lines[0]+"\n"+lines[1]+"\nagain"+lines[1][strings.IndexByte(lines[1], ','):]+"\n"+strings.Join(lines[2:], "\n")+"\n")
	id := lines[1][:strings.IndexByte(lines[1], ',')]
	apart := matcherOf(t, MatchConfig{Model: model, Table: twice})
	_, values := valuesOf(apart, lines[0], lines[1])
	answer, err := apart.Match(t.Context(), "?", values)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Matches) < 2 || answer.Matches[0].Probability > 0.51 || answer.Matches[0].Evidence == nil {
		t.Fatalf("two equal records are no rivals: %+v", answer)
	}
	if i := slices.IndexFunc(answer.Matches[0].Evidence, func(r Reason) bool { return r.Of == StepRivals }); i < 0 || answer.Matches[0].Evidence[i].Rival != answer.Matches[1].ID {
		t.Errorf("the rival is not named: %+v", answer.Matches[0].Evidence)
	}
	together := matcherOf(t, MatchConfig{Model: model, Table: twice, Entities: map[string]string{id: "e1", "again": "e1"}})
	if answer, err = together.Match(t.Context(), "?", values); err != nil {
		t.Fatal(err)
	}
	if answer.New || answer.Matches[0].Entity != "e1" || answer.Matches[0].Probability < 0.9 {
		t.Errorf("the entity of both: %+v", answer)
	}
}

func TestARecordWithNothingInCommonIsNew(t *testing.T) {
	l, r := people(100, 0.6)
	right := write(t, "r.csv", r)
	m := matcherOf(t, MatchConfig{Model: join(t, Config{Left: write(t, "l.csv", l), Right: right}).Model, Table: right})
	answer, err := m.Match(t.Context(), "x", make([][]byte, len(m.Columns())))
	if err != nil || !answer.New || len(answer.Matches) != 0 {
		t.Errorf("a record without values: %+v, %v", answer, err)
	}
}
