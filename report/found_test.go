package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
)

func foundHTMLOf(t *testing.T, f *Found) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Pairs, clusters and documents of each threshold are those that a count of all pairs gives.
func TestThePageCountsWhatEachThresholdLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const docs = 12
		two := rapid.Bool().Draw(t, "two")
		f := NewFound(FoundOf{Two: two})
		values := map[[2]int]float64{}
		for range rapid.IntRange(0, 40).Draw(t, "pairs") {
			a, b := rapid.IntRange(0, docs-1).Draw(t, "a"), rapid.IntRange(0, docs-1).Draw(t, "b")
			if !two && a >= b {
				continue
			}
			if two {
				b += docs
			}
			if _, ok := values[[2]int{a, b}]; ok {
				continue
			}
			v := float64(rapid.IntRange(200, 1000).Draw(t, "value")) / 1000
			values[[2]int{a, b}] = v
			f.Add(fmt.Append(nil, a%docs), fmt.Append(nil, b%docs), v, true)
		}
		f.Settle()
		for part := range f.scale.n {
			from := float64(f.scale.first+part)*f.scale.step - 1e-9
			var edges []cluster.Edge
			for p, v := range values {
				if v >= from {
					edges = append(edges, cluster.Edge{A: uint32(p[0]), B: uint32(p[1])})
				}
			}
			sizes := map[uint32]int{}
			for _, label := range cluster.Components(2*docs, edges) {
				sizes[label]++
			}
			clusters, documents, largest := 0, 0, 0
			for _, n := range sizes {
				if n > 1 {
					clusters, documents, largest = clusters+1, documents+n, max(largest, n)
				}
			}
			got := []int{f.levels.Pairs[part], f.levels.Clusters[part], f.levels.Documents[part], f.levels.Largest[part]}
			if want := []int{len(edges), clusters, documents, largest}; !slices.Equal(got, want) {
				t.Errorf("from %v: %v, not %v", from, got, want)
			}
		}
		pairs := 0
		for _, c := range f.all {
			pairs += c.Pairs
			if two && c.Pairs+c.Apart != c.right*(c.Size-c.right) || !two && c.Pairs+c.Apart != c.Size*(c.Size-1)/2 {
				t.Errorf("a cluster of %d has %d pairs and %d apart", c.Size, c.Pairs, c.Apart)
			}
			if c.Parts[0]+c.Parts[1] != c.Size {
				t.Errorf("a cluster of %d falls into %v", c.Size, c.Parts)
			}
		}
		if pairs != len(values) {
			t.Errorf("clusters have %d pairs of %d", pairs, len(values))
		}
	})
}

func TestAChainIsMoreSuspiciousThanAGroupInWhichAllAreAlike(t *testing.T) {
	f := NewFound(FoundOf{})
	add := func(a, b string, v float64) { f.Add([]byte(a), []byte(b), v, true) }
	add("a", "b", 0.95)
	add("a", "c", 0.95)
	add("b", "c", 0.95)
	add("k", "l", 0.9)
	add("l", "m", 0.8)
	add("m", "n", 0.9)
	add("x", "y", 0.7)
	f.Settle()
	got := ""
	for _, c := range f.all {
		got += fmt.Sprintf("%d %d %d %v %v; ", c.Size, c.Pairs, c.Apart, c.Weakest, c.Parts)
	}
	if want := "4 3 3 0.8 [2 2]; 2 1 0 0.7 [1 1]; 3 3 0 0.95 [2 1]; "; got != want {
		t.Errorf("clusters are %s, not %s", got, want)
	}
}

func TestThePageOfPairsEscapesWhatTheListHoldsAndStaysSmall(t *testing.T) {
	f := NewFound(FoundOf{Title: "of similar documents", Value: "similarity", Of: "documents", By: evil, Texts: true, Header: []string{"a", "b", "match"}})
	long := strings.Repeat(evil, 30)
	name := func(i int) []byte { return fmt.Appendf(nil, "%s%d%s\xff", evil, i, long) }
	for i := range 5000 {
		f.Add(name(2*i), name(2*i+1), 0.5+float64(i%500)/1000, true)
	}
	f.Settle()
	for i := range 10000 {
		doc, text, ok := f.Find(false, name(i))
		if !ok {
			t.Fatal("a document is not known")
		}
		if text {
			f.Describe(doc, evil, fmt.Append(nil, evil, i%30), []byte(long))
		} else {
			f.Describe(doc, evil, fmt.Append(nil, evil, i%30), nil)
		}
	}
	html := foundHTMLOf(t, f)
	if !strings.Contains(html, "Passages that many documents have") {
		t.Error("the page has no passage of many documents")
	}
	if len(html) > 5<<20 {
		t.Errorf("the page has %d bytes", len(html))
	}
	html = strings.Replace(html, "<script>"+foundJS+"</script>", "", 1)
	html = strings.Replace(html, `<script id="data" type="application/json">`, "", 1)
	for _, never := range []string{"<script", "http:", "https:", "src=", "<b>", "\xff"} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if again := foundHTMLOf(t, f); again != foundHTMLOf(t, f) {
		t.Error("the page is another one when it is written again")
	}
}

// Members of one cluster share whole texts: only what clusters share is frequent.
func TestThePageShowsPassagesThatClustersShare(t *testing.T) {
	f := NewFound(FoundOf{Texts: true})
	name := func(cluster, member int) []byte { return fmt.Append(nil, cluster, "-", member) }
	const clusters, members = 1500, 4
	for c := range clusters {
		for m := range members - 1 {
			f.Add(name(c, m), name(c, m+1), 0.9, true)
		}
	}
	f.Settle()
	own := func(c int) (text string) {
		for i := range 2000 / 8 {
			text += fmt.Sprintf("w%dx%d ", c, i)
		}
		return text
	}
	for c := range clusters {
		for m := range members {
			doc, wanted, _ := f.Find(false, name(c, m))
			if wanted {
				f.Describe(doc, "one file", nil, []byte(own(c)+[]string{"all rights are reserved by the owners of this paper", "nothing of the kind"}[c%2]))
			}
		}
	}
	kept, size := 0, 0
	for _, text := range f.apart {
		if size += len(text); text != nil {
			kept++
		}
	}
	often, sampled, err := f.common()
	if err != nil || kept < 300 || size > apartBytes || kept != sampled {
		t.Fatalf("%d texts of %d bytes, error %v", kept, size, err)
	}
	if len(often) != 1 || string(often[0].Text) != "all rights are reserved by the owners of this paper" || often[0].Texts < sampled/3 {
		t.Errorf("of %d texts: %+v", sampled, often)
	}
}

func TestThePageOfNoPairsIsWhole(t *testing.T) {
	f := NewFound(FoundOf{Title: "of similar documents"})
	f.Settle()
	if html := foundHTMLOf(t, f); !strings.Contains(html, "0 pairs of similar documents") || !strings.HasSuffix(strings.TrimSpace(html), "</html>") {
		t.Errorf("the page is %s", html)
	}
}

func TestBothOrdersOfAPairAreOneLink(t *testing.T) {
	f := NewFound(FoundOf{Directed: true})
	f.Add([]byte("a"), []byte("b"), 0.6, true)
	f.Add([]byte("b"), []byte("a"), 0.9, true)
	f.Settle()
	if c := f.all[0]; c.Pairs != 1 || c.Weakest != 0.9 || f.levels.Pairs[0] != 2 {
		t.Errorf("the cluster is %+v, the list has %d rows", c, f.levels.Pairs[0])
	}
}

func TestGroupsBeyondTheMostFrequentAreCountedTogether(t *testing.T) {
	f := NewFound(FoundOf{By: "language"})
	for i := range 40 {
		for j := range i + 1 {
			f.Add(fmt.Append(nil, "a", i, ".", j), fmt.Append(nil, "b", i, ".", j), 0.9, true)
		}
	}
	f.Settle()
	for doc := range f.docs {
		of, _, _ := strings.Cut(f.docs[doc].name[1:], ".")
		f.Describe(uint32(doc), "one file", []byte(of), nil)
	}
	m := f.matrix(1, "language")
	sum := int64(0)
	for _, row := range m.Counts {
		for _, n := range row {
			sum += n
		}
	}
	if m.Left[0] != "39" || m.Left[shownGroups] != "others" || m.Counts[0][0] != 40 || sum != int64(f.kept) {
		t.Errorf("%v %v: %d of %d", m.Left, m.Counts, sum, f.kept)
	}
}
