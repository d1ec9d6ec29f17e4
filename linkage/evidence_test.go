package linkage

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
)

// checkEvidence holds what explains pairs against what the join says of them.
func checkEvidence(t *testing.T, r *Result) {
	t.Helper()
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-6*max(1, math.Abs(x)) }
	links := map[[2]string]*Link{}
	for l := range r.Links.All() {
		links[[2]string{string(l.A), string(l.B)}] = &l
	}
	told := 0
	for _, v := range r.Evidence.Pairs {
		sum, columns := 0.0, 0
		for _, s := range v.Steps {
			sum += s.LogOdds
			if s.Of == StepColumn {
				if c := v.Columns[columns]; s.Name != c.Left || s.LogOdds != c.LogOdds {
					t.Errorf("%s %s: step %v is not that of column %s, %v", v.A, v.B, s, c.Left, c.LogOdds)
				}
				columns++
			}
		}
		if p := 1 / (1 + math.Exp(-sum)); math.Abs(p-v.Probability) > 1e-6 {
			t.Errorf("%s %s: the steps lead to the probability %v, want %v: %v", v.A, v.B, p, v.Probability, v.Steps)
		}
		link := links[[2]string{string(v.A), string(v.B)}]
		if v.Link != (link != nil) {
			t.Errorf("%s %s is said to be a link: %v", v.A, v.B, v.Link)
		}
		for f, c := range v.Columns {
			if link != nil && link.Fields[f] != c.Similarity {
				t.Errorf("%s %s: similarity of %s is %v, of the link %v", v.A, v.B, c.Left, c.Similarity, link.Fields[f])
			}
			if c.Similarity < 0 {
				continue
			}
			similarity, logOdds := c.Rest[0].Similarity, c.Apart+c.Rest[0].LogOdds
			for _, w := range c.Words {
				similarity, logOdds = similarity+w.Similarity, logOdds+w.LogOdds
				told++
			}
			if !near(similarity, c.Similarity) || !near(logOdds, c.LogOdds) {
				t.Errorf("%s %s: words of %s, %q and %q, make similarity %v of %v and log odds %v of %v", v.A, v.B, c.Left, c.A, c.B, similarity, c.Similarity, logOdds, c.LogOdds)
			}
		}
	}
	if told == 0 {
		t.Error("no word is evidence of anything")
	}
}

func TestStepsAndWordsAddUpToWhatTheyExplain(t *testing.T) {
	left, right := people(400, 0.6)
	// Words that signs tie together, and long values, have words of their own.
	left = strings.ReplaceAll(left, " town", "-town")
	l, r := write(t, "l.csv", left), write(t, "r.csv", right)
	papersL, papersR := papers(300, 30)
	firms, matches := twins(t, 150)
	learner, err := NewLearner(t.Context(), Config{Left: firms})
	if err != nil {
		t.Fatal(err)
	}
	model, err := learner.Fit(Labels{Pairs: mistakesAndMatches(join(t, Config{Left: firms}), matches)})
	if err != nil {
		t.Fatal(err)
	}
	if model.Learned.Strength == 0 {
		t.Fatal("labels have changed nothing: the test says nothing of what they add")
	}
	for _, c := range []struct {
		name   string
		config Config
		step   StepOf // that must be there
	}{
		{"two tables", Config{Left: l, Right: r}, StepRivals},
		{"each for itself", Config{Left: l, Right: r, Match: All}, StepWhole},
		{"by similarity", Config{Left: l, Right: r, Threshold: 0.5, Searching: Searching{Candidates: Exact}}, StepRivals},
		{"weighted Jaccard, repeated words", Config{Left: l, Right: r, Weighing: Weighing{Measure: measure.WeightedJaccard, Repetitions: true}}, StepWhole},
		{"one table", Config{Left: l}, StepPrior},
		{"chance is known", Config{Left: write(t, "l.csv", papersL), Right: write(t, "r.csv", papersR)}, StepChance},
		{"by labels", Config{Left: firms, Model: model}, StepLabels},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Evidence = 400
			result := join(t, c.config)
			checkEvidence(t, result)
			for _, v := range result.Evidence.Pairs {
				rivals := slices.ContainsFunc(v.Steps, func(s Step) bool { return s.Of == StepRivals && s.LogOdds < 0 })
				if rivals && (v.Rival == nil || bytes.Equal(v.Rival.A, v.A) == bytes.Equal(v.Rival.B, v.B)) {
					t.Errorf("%s %s: the rival is %+v", v.A, v.B, v.Rival)
				}
			}
			if !slices.ContainsFunc(result.Evidence.Pairs, func(v Explained) bool {
				return slices.ContainsFunc(v.Steps, func(s Step) bool { return s.Of == c.step })
			}) {
				t.Errorf("no pair of %d has a step of %s", len(result.Evidence.Pairs), c.step)
			}
		})
	}
}

func TestEvidenceChangesNoLink(t *testing.T) {
	left, right := people(300, 0.5)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), With: []string{"town"}}
	without := join(t, c)
	c.Evidence = 50
	with := join(t, c)
	if len(with.Evidence.Pairs) != 50 || with.Evidence.Links != without.Links.Len() {
		t.Errorf("evidence of %d pairs and %d links, want 50 and %d", len(with.Evidence.Pairs), with.Evidence.Links, without.Links.Len())
	}
	if show(slices.Collect(without.Links.All())) != show(slices.Collect(with.Links.All())) {
		t.Error("links are others with evidence than without")
	}
}

func show(links []Link) string {
	var b strings.Builder
	for _, l := range links {
		b.WriteString(string(l.A) + " " + string(l.B) + " " + string(l.WithA[0]) + " " + string(l.WithB[0]) + "\n")
	}
	return b.String()
}

func TestOtherColumnsStandBesideTheComparedOnes(t *testing.T) {
	l := write(t, "l.csv", "id,name,colour,both\n1,ann smith of york,red,x\n2,bob jones of leeds,blue,y\n3,cid brown of hull,,z\n")
	r := write(t, "r.csv", "key,title,size,both\na,ann smith of york,9,x\nb,bob jones of leeds,8,\nc,cid brown of hull,7,z\n")
	result := join(t, Config{Left: l, Right: r, Fields: []Field{{Left: "name", Right: "title"}}, Evidence: 100})
	for _, v := range result.Evidence.Pairs {
		if string(v.A) != "1" || string(v.B) != "a" {
			continue
		}
		want := []Values{
			{Left: "colour", Right: "colour", A: "red", Similarity: -1}, {Left: "both", Right: "both", A: "x", B: "x", Similarity: -1},
			{Left: "size", Right: "size", B: "9", Similarity: -1},
		}
		if !slices.Equal(v.Others, want) {
			t.Errorf("other columns are %v, want %v", v.Others, want)
		}
		return
	}
	t.Error("the pair is not there")
}
