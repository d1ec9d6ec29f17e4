package linkage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
)

// Match says which of the pairs that reach the decision are links.
type Match string

// The rules. The zero value is Mutual for two tables and All for one.
const (
	Mutual   Match = "mutual"     // pairs that are each other's best
	OneToOne Match = "one-to-one" // the best pair, then the best of the records that are left, and so on
	Best     Match = "best"       // the best partner of each left record
	All      Match = "all"        // every pair
)

// Field is a column of either table that is compared with one of the other.
type Field struct {
	Left   string      `json:"left"`
	Right  string      `json:"right,omitempty"`  // "": as Left
	Weight float64     `json:"weight,omitempty"` // of its tokens in the similarity of records, as against other columns'; 0: 1
	Tokens record.Kind `json:"tokens,omitempty"` // "": by the column's values
}

// Config says what is linked and how. The zero value of all but Left means the default.
type Config struct {
	Left, Right     string         // tables; Right "": the pairs within Left
	Corpus          corpus.Options // how they are read
	LeftID, RightID string         // columns of the ids; "": id, else the first column; "-": the number of the row
	Fields          []Field        // columns that are compared; none: all that correspond and tell records apart

	Threshold float64 // least similarity of a link; 0: decided by the data
	Precision float64 // share of the links that shall be right, as far as the data tell; 0: what makes most of both, precision and recall
	Match     Match
	Top       int      // most links of a left record, where the rule allows for several; 0: no bound
	With      []string // columns of both tables that are handed on
	Threads   int      // 0: all processors

	Considered bool // hand on what the rule has found before the decision too
	Fail       bool // the first record that cannot be read ends the join

	OnSkip func(*corpus.Problem) // told of each record that was not read
}

// Validate returns an error that says what is wrong with the configuration.
func (c Config) Validate() error {
	switch c.Match {
	case "", Mutual, OneToOne, Best, All:
	default:
		return setting.Errorf("%s is %q: take mutual, one-to-one, best or all", setting.Match, string(c.Match))
	}
	switch {
	case c.Left == "":
		return errors.New("no table to join")
	case c.Threshold < 0 || c.Threshold > 1:
		return setting.Errorf("%s is %v: take a similarity above 0 and up to 1", setting.Threshold, c.Threshold)
	case c.Precision < 0 || c.Precision >= 1:
		return setting.Errorf("%s is %v: take a share above 0 and below 1", setting.Precision, c.Precision)
	case c.Threshold > 0 && c.Precision > 0:
		return setting.Errorf("%s and %s both decide: give one of them", setting.Threshold, setting.Precision)
	case c.Top < 0:
		return setting.Errorf("%s is %d: take 1 or more", setting.Top, c.Top)
	}
	for _, f := range c.Fields {
		if f.Weight < 0 || f.Weight > maxWeight || math.IsNaN(f.Weight) {
			return fmt.Errorf("field %s has weight %v: take a number above 0 and up to %d", fault.Shown(f.Left), f.Weight, maxWeight)
		}
	}
	return c.Corpus.Validate()
}

// maxWeight bounds Field.Weight.
const maxWeight = 1000

// A Link is a pair of records that belong together, as far as the data tell.
type Link struct {
	A, B        []byte    // ids
	Similarity  float64   // cosine of the records' tokens by inverse document frequency
	Fields      []float64 // similarity of each column; −1 where either value is missing
	Probability float64   // that it is right, as far as the data tell
	WithA       [][]byte  // values of Config.With
	WithB       [][]byte
}

// A Column is how a pair of columns was used.
type Column struct {
	Field
	Filled      [2]float64 // share of the records that have a value, left and right
	Agreement   float64    // mean similarity of the matches' values
	Chance      float64    // mean similarity of other candidates' values
	Information float64    // nats that the column tells of a match, on average
	Share       float64    // of what it tells, how much no other column tells too
}

// A Result is what a join has found.
type Result struct {
	Left, Right int      // records
	OneTable    bool     // links are within the left table
	Columns     []Column // that were compared
	Unused      []Unused
	Match       Match
	Candidates  int
	Skipped     int      // records that could not be read
	Repeated    []string // ids that several records of a table have, with the table; one of each table
	Considered  []Considered
	Links       []Link // sorted by left, then right record, in input order
	Matches     float64
	Precision   float64 // estimated, of the links
	Recall      float64 // estimated, of the links
}

// Considered is a pair that the rule has found, whatever the decision.
type Considered struct {
	A, B        []byte
	Probability float64
}

// Unused is a column that was not compared, and why.
type Unused struct{ Name, Reason string }

// Join finds the links between two tables, or within one. Everything that decides is the same
// for any number of threads.
func Join(ctx context.Context, c Config) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.Match == "" {
		if c.Match = Mutual; c.Right == "" {
			c.Match = All
		}
	}
	t, err := open(ctx, &c)
	if err != nil {
		return nil, err
	}
	return t.link(ctx, &c)
}

// tables are what is joined.
type tables struct {
	result      *Result
	left, right *record.Table // right is nil for one table
	numbering   record.Numbering
}

// open reads the tables.
func open(ctx context.Context, c *Config) (*tables, error) {
	t := &tables{result: &Result{Match: c.Match, OneTable: c.Right == ""}}
	left, err := find(ctx, c.Left, c.LeftID, c.Corpus)
	if err != nil {
		return nil, err
	}
	right := left
	if c.Right != "" {
		if right, err = find(ctx, c.Right, c.RightID, c.Corpus); err != nil {
			return nil, err
		}
	}
	for _, name := range c.With {
		if !slices.Contains(left.columns, name) && !slices.Contains(right.columns, name) {
			return nil, setting.Errorf("no table has the column %q (%s), there are: %s", name, setting.With, fault.List(left.columns))
		}
	}
	if err := t.choose(ctx, c, left, right); err != nil {
		return nil, err
	}
	skipped := func(p *corpus.Problem) error {
		t.result.Skipped++
		if c.Fail {
			return p
		}
		c.OnSkip(p)
		return nil
	}
	var names [2][]string
	var kinds []record.Kind
	for _, f := range t.result.Columns {
		names[0], names[1] = append(names[0], f.Left), append(names[1], f.Right)
		kinds = append(kinds, f.Tokens)
	}
	if t.left, err = left.read(ctx, c.Threads, names[0], kinds, c.With, &t.numbering, skipped); err != nil {
		return nil, err
	}
	t.result.Left = t.left.Rows()
	t.note(left, t.left)
	if c.Right == "" {
		return t, nil
	}
	if t.right, err = right.read(ctx, c.Threads, names[1], kinds, c.With, &t.numbering, skipped); err != nil {
		return nil, err
	}
	t.result.Right = t.right.Rows()
	t.note(right, t.right)
	return t, nil
}

// note notes an id that several records of a table have.
func (t *tables) note(s *source, of *record.Table) {
	hashes := make([]uint64, of.Rows())
	for i := range hashes {
		hashes[i] = hashing.Bytes(of.Row(i).ID())
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] != hashes[i-1] {
			continue
		}
		for row := range of.Rows() {
			if id := of.Row(row).ID(); hashing.Bytes(id) == hashes[i] {
				t.result.Repeated = append(t.result.Repeated, fmt.Sprintf("%s: id %q", fault.Shown(s.name), id))
				return
			}
		}
	}
}

// choose decides which columns are compared, and how they are cut.
func (t *tables) choose(ctx context.Context, c *Config, left, right *source) error {
	rowsL, err := left.sample(ctx, sampleRows)
	if err != nil {
		return err
	}
	rowsR := rowsL
	if right != left {
		if rowsR, err = right.sample(ctx, sampleRows); err != nil {
			return err
		}
	}
	l, r := profiles(left.columns, rowsL), profiles(right.columns, rowsR)
	if len(c.Fields) > 0 {
		return t.byHand(c.Fields, l, r, left, right)
	}
	var pairs [][2]int
	if right == left {
		for i := range l {
			pairs = append(pairs, [2]int{i, i})
		}
	} else {
		pairs = correspond(l, r)
	}
	slices.SortStableFunc(pairs, func(a, b [2]int) int {
		x, y := min(telling(&l[a[0]]), telling(&r[a[1]])), min(telling(&l[b[0]]), telling(&r[b[1]]))
		return sign(y - x)
	})
	for _, p := range pairs {
		a, b := &l[p[0]], &r[p[1]]
		reason := useless(a, b)
		switch {
		case a.name == left.id || b.name == right.id:
			continue
		case reason == "" && len(t.result.Columns) == maxColumns:
			reason = fmt.Sprintf("tells less than %d others", maxColumns)
		}
		if reason != "" {
			t.result.Unused = append(t.result.Unused, Unused{a.name, reason})
			continue
		}
		t.result.Columns = append(t.result.Columns, Column{Field: Field{a.name, b.name, 1, commonKind(a, b)}})
	}
	order := map[string]int{}
	for i, name := range left.columns {
		order[name] = i
	}
	slices.SortFunc(t.result.Columns, func(x, y Column) int { return order[x.Left] - order[y.Left] })
	if len(t.result.Columns) == 0 {
		return setting.Errorf("%s and %s have no column in common: the first has %s, the second %s; say which belong together (%s left=right)",
			fault.Shown(left.name), fault.Shown(right.name), fault.List(left.columns), fault.List(right.columns), setting.Field)
	}
	return nil
}

// commonKind returns how both columns are cut.
func commonKind(a, b *profile) record.Kind {
	if a.kind == b.kind {
		return a.kind
	}
	return record.Text
}

// byHand takes the columns that the user has named.
func (t *tables) byHand(fields []Field, l, r []profile, left, right *source) error {
	at := func(list []profile, name string) *profile {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
		return nil
	}
	for _, f := range fields {
		if f.Right == "" {
			f.Right = f.Left
		}
		if f.Weight == 0 {
			f.Weight = 1
		}
		a, b := at(l, f.Left), at(r, f.Right)
		if a == nil {
			return setting.Errorf("%s has no column %q, there are: %s (%s)", fault.Shown(left.name), f.Left, fault.List(left.columns), setting.Field)
		}
		if b == nil {
			return setting.Errorf("%s has no column %q, there are: %s (%s left=right)", fault.Shown(right.name), f.Right, fault.List(right.columns), setting.Field)
		}
		if f.Tokens == "" {
			f.Tokens = commonKind(a, b)
		}
		t.result.Columns = append(t.result.Columns, Column{Field: f})
	}
	return nil
}

// link finds candidates, compares them, and decides.
func (t *tables) link(ctx context.Context, c *Config) (*Result, error) {
	r := t.result
	if t.left.Rows() == 0 || t.right != nil && t.right.Rows() == 0 {
		return r, nil
	}
	whole := t.records()
	left, right, err := t.vectors(whole)
	if err != nil {
		return nil, err
	}
	cmp := newComparer(t.left, t.right, &t.numbering)
	shares := cmp.shares()
	var found *comparison
	var m *model
	var probability []float64
	one := c.Match == Mutual || c.Match == OneToOne
	for k := firstK; ; k *= 4 {
		pairs, err := nearest(ctx, c.Threads, left, right, k)
		if err != nil {
			return nil, err
		}
		if found, err = cmp.compare(ctx, c.Threads, pairs, whole); err != nil {
			return nil, err
		}
		found.left, found.right = t.left.Rows(), r.Right
		m, probability = learn(found, one, shares)
		if one || k >= lastK || !crowded(found, probability, k) {
			break
		}
	}
	r.Candidates = len(found.pairs)
	t.report(found, probability, m, cmp)
	return r, t.decide(c, cmp, found, m, probability, one)
}

// How many partners of each record are looked at: firstK, and four times as many up to lastK
// where so many belong together.
const (
	firstK = 10
	lastK  = 160
)

// crowded tells whether records have so many matches among k candidates that they may have
// more.
func crowded(c *comparison, probability []float64, k int) bool {
	degree := make([]float64, max(c.left, c.right))
	full := 0
	for i, p := range c.pairs {
		degree[p.a] += probability[i]
		if c.right == 0 {
			degree[p.b] += probability[i]
		}
	}
	for _, d := range degree {
		if d > 0.7*float64(k) {
			full++
		}
	}
	return full*100 > len(degree)
}

// records returns the records as sets of weighted tokens.
func (t *tables) records() *records {
	df := make([]uint32, t.numbering.Tokens.Len())
	r := &records{}
	var n, m int
	r.left, n = setsOf(t.left, df)
	if r.right = r.left; t.right != nil {
		r.right, m = setsOf(t.right, df)
	}
	r.weights = record.IDF(df, n+m)
	t.weighColumns(r.weights)
	r.left.weigh(r.weights)
	if t.right != nil {
		r.right.weigh(r.weights)
	}
	return r
}

// weighColumns multiplies the weight of each token by the largest weight of the columns that
// have it, where they differ: as a share of the largest of all.
func (t *tables) weighColumns(weights record.Weights) {
	columns := t.result.Columns
	heaviest, same := 0.0, true
	for _, c := range columns {
		heaviest, same = max(heaviest, c.Weight), same && c.Weight == columns[0].Weight
	}
	if same {
		return
	}
	of := make([]float64, len(weights))
	for _, table := range []*record.Table{t.left, t.right} {
		if table == nil {
			continue
		}
		for i := range table.Rows() {
			row := table.Row(i)
			tokens := row.Tokens()
			for f, c := range columns {
				n := row.Length(f)
				for _, token := range tokens[:n] {
					of[token] = max(of[token], c.Weight/heaviest)
				}
				tokens = tokens[n:]
			}
		}
	}
	for i := range weights {
		weights[i] = uint16(max(1, math.Round(float64(weights[i])*of[i])))
	}
}

// manyRecords is from how many records on candidates are looked for by their words alone: of
// so many there are ones that share a word, and grams cost ten times as much.
const manyRecords = 30_000

// vectors returns what candidates are looked for by.
func (t *tables) vectors(r *records) (left, right *simjoin.Vectors, err error) {
	skip := func(uint32) bool { return false }
	if t.result.Left+t.result.Right > manyRecords {
		skip = t.numbering.IsGram
	}
	if left, err = r.left.vectorsOf(r.weights, skip); err == nil && t.right != nil {
		right, err = r.right.vectorsOf(r.weights, skip)
	}
	return left, right, err
}

// report says how the columns were used.
func (t *tables) report(c *comparison, probability []float64, m *model, cmp *comparer) {
	for f := range t.result.Columns {
		col := &t.result.Columns[f]
		col.Share = m.share[f]
		for side, table := range []*record.Table{t.left, t.right} {
			if table == nil {
				col.Filled[side] = col.Filled[0]
				continue
			}
			filled := 0
			for i := range table.Rows() {
				if table.Row(i).Length(f) > 0 {
					filled++
				}
			}
			col.Filled[side] = float64(filled) / float64(max(1, table.Rows()))
		}
		var match, other, matches, others, told float64
		for i, p := range probability {
			l := c.levels[i*c.width+f]
			if l == missing {
				continue
			}
			s := float64(min(l, equal)-1) / 10
			match, matches = match+p*s, matches+p
			other, others = other+(1-p)*s, others+1-p
			told += p * m.evidence[f*levels+int(l)]
		}
		if matches > 0 {
			col.Agreement, col.Information = match/matches, told/matches
		}
		if others > 0 {
			col.Chance = other / others
		}
	}
}

// decide chooses the links among the candidates.
func (t *tables) decide(c *Config, cmp *comparer, found *comparison, m *model, probability []float64, one bool) error {
	g := graph{found.pairs, found.left, found.right}
	rank := make([]float64, len(found.pairs))
	var rivals *exclusive
	if one {
		rivals = newExclusive(g)
	}
	m.probabilities(found, rivals, make([]float64, len(rank)), probability, rank)
	var edges []int
	switch c.Match {
	case Mutual:
		edges = g.mutual(rank, found.wholes)
	case OneToOne:
		edges = g.oneToOne(rank, found.wholes)
	case Best:
		edges = g.best(rank, found.wholes)
	default:
		edges = make([]int, len(found.pairs))
		for i := range edges {
			edges[i] = i
		}
	}
	r := t.result
	tableB := t.right
	if tableB == nil {
		tableB = t.left
	}
	if c.Considered {
		for _, e := range edges {
			p := found.pairs[e]
			r.Considered = append(r.Considered, Considered{t.left.Row(int(p.a)).ID(), tableB.Row(int(p.b)).ID(), probability[e]})
		}
	}
	edges = cut(c, edges, probability, found.wholes)
	edges = top(c.Top, edges, found.pairs, rank)
	r.Matches = sum(probability)
	right := 0.0
	for _, e := range edges {
		right += probability[e]
	}
	r.Precision = right / max(1, float64(len(edges)))
	r.Recall = right / max(r.Matches, 1e-300)
	r.Links = make([]Link, len(edges))
	for i, e := range edges {
		p := found.pairs[e]
		a, b := t.left.Row(int(p.a)), tableB.Row(int(p.b))
		link := Link{A: a.ID(), B: b.ID(), Similarity: float64(found.wholes[e]), Probability: probability[e]}
		cmp.eachColumn(p, func(_ int, s float64, _, _ record.Row) { link.Fields = append(link.Fields, s) })
		for w := range c.With {
			link.WithA = append(link.WithA, a.Kept(w, len(c.With)))
			link.WithB = append(link.WithB, b.Kept(w, len(c.With)))
		}
		r.Links[i] = link
	}
	return nil
}

// top keeps the n best edges of each left record.
func top(n int, edges []int, pairs []pair, rank []float64) []int {
	if n == 0 {
		return edges
	}
	kept := edges[:0]
	for len(edges) > 0 {
		end := 1
		for end < len(edges) && pairs[edges[end]].a == pairs[edges[0]].a {
			end++
		}
		group := slices.Clone(edges[:end])
		slices.SortStableFunc(group, func(i, j int) int { return sign(rank[j] - rank[i]) })
		group = group[:min(n, end)]
		slices.Sort(group)
		kept = append(kept, group...)
		edges = edges[end:]
	}
	return kept
}

// cut keeps the edges that reach the decision.
func cut(c *Config, edges []int, probability []float64, wholes []float32) []int {
	switch {
	case c.Threshold > 0:
		return slices.DeleteFunc(edges, func(e int) bool { return float64(wholes[e]) < c.Threshold })
	case c.Precision > 0:
		order := slices.Clone(edges)
		slices.SortStableFunc(order, func(i, j int) int { return sign(probability[j] - probability[i]) })
		total, n := 0.0, 0
		for i, e := range order {
			if total += probability[e]; total >= c.Precision*float64(i+1) {
				n = i + 1
			}
		}
		kept := order[:n]
		slices.Sort(kept)
		return kept
	}
	return slices.DeleteFunc(edges, func(e int) bool { return probability[e] <= 0.5 })
}
