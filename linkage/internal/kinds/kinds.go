// Package kinds finds the kinds of pairs among candidates: one person, members of one household, namesakes, and so on.
//
// Candidates are a mixture of kinds. Within a kind the agreement of one column says nothing about that of another; what
// two columns have in common is the kind. So the kinds show in how often columns agree together, with no labels: latent
// class analysis (P. Lazarsfeld, N. Henry, "Latent Structure Analysis", 1968), fitted by expectation and maximisation,
// with the number of kinds that the Bayesian information criterion supports (G. Schwarz, "Estimating the dimension of a
// model", Annals of Statistics 1978).
package kinds

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/parallel"
)

// Grades of the agreement of two values. A missing value tells nothing.
const (
	Missing = iota
	Far
	Near
	Equal
	grades
)

// A Mixture has the kinds of pairs, the most frequent first.
type Mixture struct {
	Columns int
	Pairs   float64     // their number
	Share   []float64   // of each kind among the candidates
	Grade   [][]float64 // of each kind: frequency of grade g of column f among pairs that have values, at f·4+g
	BIC     float64
}

// Agreement returns how often the values of a column are equal or near in pairs of a kind, given that both are there.
func (m *Mixture) Agreement(kind, column int) float64 {
	of := m.Grade[kind][column*grades:]
	return of[Near] + of[Equal]
}

// Equal returns how often the values of a column are equal in pairs of a kind, given that both are there.
func (m *Mixture) Equal(kind, column int) float64 { return m.Grade[kind][column*grades+Equal] }

// A pattern is the grades that some pairs have in common.
type pattern struct {
	grades []uint8
	count  float64
}

// Patterns are the distinct grades of pairs: far fewer than pairs, so that a fit takes little time.
type Patterns struct {
	columns int
	list    []pattern
	of      []int32 // for each pair: its pattern
	total   float64
}

// NewPatterns returns the patterns of pairs. pairs has a grade for each column, one pair after the other.
func NewPatterns(columns int, pairs []uint8) *Patterns {
	p := &Patterns{columns: columns, of: make([]int32, len(pairs)/columns)}
	at := map[string]int32{}
	for i := range p.of {
		g := pairs[i*columns : (i+1)*columns]
		k, ok := at[string(g)]
		if !ok {
			k = int32(len(p.list))
			at[string(g)] = k
			p.list = append(p.list, pattern{grades: g})
		}
		p.list[k].count++
		p.of[i] = k
	}
	p.total = float64(len(p.of))
	p.sort()
	return p
}

// sort puts patterns into an order that does not depend on that of pairs, so that neither do the starts of a fit.
func (p *Patterns) sort() {
	order, place := make([]int, len(p.list)), make([]int32, len(p.list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare(p.list[i].grades, p.list[j].grades) })
	sorted := make([]pattern, len(order))
	for at, i := range order {
		sorted[at], place[i] = p.list[i], int32(at)
	}
	p.list = sorted
	for i, k := range p.of {
		p.of[i] = place[k]
	}
}

const (
	// mostKinds bounds the number of kinds. The criterion would take more, since values within a kind do depend
	// on each other a little, but these tell nothing new.
	mostKinds = 10
	// patience is how many numbers of kinds may be worse in turn.
	patience = 2
	// grownStarts is the number of starts from the mixture of one kind less, and trials that of others. shortSteps of each are enough
	// to tell the best.
	grownStarts = 2
	trials      = 8
	shortSteps  = 15
	longSteps   = 60
	// pseudo is a count that is added to each grade, so that none has the frequency 0.
	pseudo = 1.0
)

// Fit finds the mixture that the Bayesian information criterion supports, on at most threads goroutines. When the context has
// ended, it returns nil. O(steps · patterns · columns · kinds²), with the same result for the same pairs in any order of
// columns but for ties, and for any number of threads.
func Fit(ctx context.Context, p *Patterns, threads int) *Mixture {
	var best *Mixture
	var last *fitted
	worse := 0
	for k := 1; k <= mostKinds && worse < patience; k++ {
		if last = p.fit(ctx, k, last, threads); last == nil {
			return nil
		}
		if m := last.mixture(); best == nil || m.BIC < best.BIC {
			best, worse = m, 0
		} else if k > 3 {
			worse++
		}
	}
	return best
}

// fit finds the likeliest mixture of k kinds among those that the starts lead to: the mixture of one kind less with another one,
// and starts of their own. Of equals it is the first. nil: the context has ended.
func (p *Patterns) fit(ctx context.Context, k int, fewer *fitted, threads int) *fitted {
	var grown []int
	own := 1
	if fewer != nil {
		grown, own = fewer.unexplained(grownStarts), trials
	}
	tried := make([]*fitted, len(grown)+own)
	err := parallel.Ranges(ctx, max(1, threads), len(tried), 1, func(int) func(from, to int) {
		return func(i, _ int) {
			var f *fitted
			if i < len(grown) {
				f = fewer.with(grown[i])
			} else {
				f = p.start(k, uint64(i-len(grown)))
			}
			for range shortSteps {
				f.step()
			}
			tried[i] = f
		}
	})
	if err != nil {
		return nil
	}
	best := tried[0]
	for _, f := range tried {
		if f.loglik > best.loglik {
			best = f
		}
	}
	for range longSteps {
		before := best.loglik
		best.step()
		if ctx.Err() != nil {
			return nil
		}
		if math.Abs(best.loglik-before) < 1e-7*math.Abs(before) {
			break
		}
	}
	return best
}

func (f *fitted) mixture() *Mixture {
	k := len(f.share)
	parameters := float64(k-1) + float64(k*f.columns*2)
	m := &Mixture{Columns: f.columns, Pairs: f.total, BIC: -2*f.loglik + parameters*math.Log(f.total)}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(f.share[b], f.share[a]), cmp.Compare(a, b)) })
	for _, i := range order {
		m.Share, m.Grade = append(m.Share, f.share[i]), append(m.Grade, f.grade[i])
	}
	return m
}

// unexplained returns the patterns of which there are more pairs than a mixture explains: those that add most to the divergence of
// the pairs from it, the first of equals. Patterns with missing values begin no kind.
func (f *fitted) unexplained(n int) (at []int) {
	logShare, logs := f.logs()
	lacking := make([]float64, len(f.list))
	for i := range f.list {
		if q := &f.list[i]; !slices.Contains(q.grades, Missing) {
			lacking[i] = q.count * (math.Log(q.count/f.total) - f.posterior(q, logShare, logs))
			at = append(at, i)
		}
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Or(cmp.Compare(lacking[b], lacking[a]), cmp.Compare(a, b)) })
	return at[:min(n, len(at))]
}

// with returns a mixture of one kind more, which begins at a pattern.
func (f *fitted) with(at int) *fitted {
	k := float64(len(f.share) + 1)
	more := &fitted{Patterns: f.Patterns, grade: slices.Clone(f.grade), resp: make([]float64, len(f.share)+1)}
	for _, share := range f.share {
		more.share = append(more.share, share*(k-1)/k)
	}
	more.share = append(more.share, 1/k)
	more.grade = append(more.grade, f.near(f.overall(), at))
	return more
}

// fitted is a mixture while it is fitted.
type fitted struct {
	*Patterns
	share  []float64
	grade  [][]float64
	loglik float64
	resp   []float64 // scratch: the probability of each kind for one pattern
}

// start seeds each kind with a pattern that is far from those before it, drawn by a hash (D. Arthur, S. Vassilvitskii,
// "k-means++: the advantages of careful seeding", SODA 2007).
func (p *Patterns) start(k int, seed uint64) *fitted {
	f := &fitted{Patterns: p, share: make([]float64, k), grade: make([][]float64, k), resp: make([]float64, k)}
	far := make([]float64, len(p.list))
	for i := range far {
		far[i] = float64(p.columns)
	}
	base := p.overall()
	for c := range k {
		sum := 0.0
		for i, q := range p.list {
			sum += q.count * far[i]
		}
		at, pick := 0, float64(hashing.Mix(seed*31+uint64(c)+1)>>11)/(1<<53)*sum
		for i, q := range p.list {
			if pick -= q.count * far[i]; pick <= 0 {
				at = i
				break
			}
		}
		f.share[c] = 1 / float64(k)
		f.grade[c] = p.near(base, at)
		for i, q := range p.list {
			d := 0.0
			for col, g := range q.grades {
				if h := p.list[at].grades[col]; g != h && g != Missing && h != Missing {
					d += math.Abs(float64(g) - float64(h))
				}
			}
			far[i] = min(far[i], d)
		}
	}
	return f
}

// near returns the frequencies of grades of a kind that begins at a pattern, given those of all pairs.
func (p *Patterns) near(overall []float64, at int) []float64 {
	of := slices.Clone(overall)
	for col, g := range p.list[at].grades {
		if g == Missing {
			continue
		}
		for h := Far; h <= Equal; h++ {
			of[col*grades+h] *= 0.4
		}
		of[col*grades+int(g)] += 0.6
	}
	return of
}

// overall returns the frequency of each grade among all pairs.
func (p *Patterns) overall() []float64 {
	of := make([]float64, p.columns*grades)
	for _, q := range p.list {
		for col, g := range q.grades {
			of[col*grades+int(g)] += q.count
		}
	}
	normalise(of)
	return of
}

// normalise turns counts of grades into frequencies. A missing value has the frequency 1: it tells nothing.
func normalise(of []float64) {
	for at := 0; at < len(of); at += grades {
		sum := 0.0
		for g := Far; g <= Equal; g++ {
			of[at+g] += pseudo
			sum += of[at+g]
		}
		for g := Far; g <= Equal; g++ {
			of[at+g] /= sum
		}
		of[at] = 1
	}
}

// logs returns the logarithms of the shares of the kinds, and of their frequencies: of grade g of column f in kind c at
// (f·4+g)·kinds+c, so that those of all kinds for one grade stand in a row.
func (f *fitted) logs() (logShare, logs []float64) {
	k := len(f.share)
	logShare, logs = make([]float64, k), make([]float64, k*f.columns*grades)
	for c := range f.share {
		logShare[c] = math.Log(f.share[c])
		for i, x := range f.grade[c] {
			logs[i*k+c] = math.Log(x)
		}
	}
	return logShare, logs
}

// step is one step of expectation and maximisation.
func (f *fitted) step() {
	k := len(f.share)
	logShare, logs := f.logs()
	share, sums := make([]float64, k), make([]float64, len(logs))
	f.loglik = 0
	for i := range f.list {
		q := &f.list[i]
		f.loglik += q.count * f.posterior(q, logShare, logs)
		for c, r := range f.resp {
			r *= q.count
			f.resp[c] = r
			share[c] += r
		}
		for col, g := range q.grades {
			at := (col*grades + int(g)) * k
			for c, sum := range sums[at : at+k] {
				sums[at+c] = sum + f.resp[c]
			}
		}
	}
	f.grade = make([][]float64, k)
	for c := range share {
		f.share[c] = (share[c] + pseudo) / (f.total + pseudo*float64(k))
		f.grade[c] = make([]float64, len(sums)/k)
		for i := range f.grade[c] {
			f.grade[c][i] = sums[i*k+c]
		}
		normalise(f.grade[c])
	}
}

// posterior sets resp, and returns the log likelihood of a pair.
func (f *fitted) posterior(q *pattern, logShare, logs []float64) float64 {
	resp := f.resp
	k := copy(resp, logShare)
	for col, g := range q.grades {
		at := (col*grades + int(g)) * k
		for c, x := range logs[at : at+k] {
			resp[c] += x
		}
	}
	top := slices.Max(resp)
	sum := 0.0
	for c, z := range resp {
		resp[c] = math.Exp(z - top)
		sum += resp[c]
	}
	for c := range resp {
		resp[c] /= sum
	}
	return top + math.Log(sum)
}

// Posterior returns, for each pair, the probability of each kind.
func (p *Patterns) Posterior(m *Mixture) [][]float64 {
	f := &fitted{Patterns: p, share: m.Share, grade: m.Grade, resp: make([]float64, len(m.Share))}
	logShare, logs := f.logs()
	of := make([][]float64, len(p.list))
	for i := range p.list {
		f.posterior(&p.list[i], logShare, logs)
		of[i] = slices.Clone(f.resp)
	}
	all := make([][]float64, len(p.of))
	for i, k := range p.of {
		all[i] = of[k]
	}
	return all
}
