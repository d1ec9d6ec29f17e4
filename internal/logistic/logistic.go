// Package logistic fits logistic regressions that start from given weights. It minimises the sum of
// the observations' log losses plus strength/2 times the squared distance from those weights. With
// few observations, or a large strength, the result stays near the given weights; with many
// observations these do not matter.
//
// One goroutine takes all sums in the order of the observations: the same observations give the
// same weights.
package logistic

import "math"

// Observations are rows of features, each with a positive or negative outcome.
type Observations struct {
	Features int
	Values   []float64 // row by row
	Positive []bool    // the outcome of each row
}

func (o *Observations) Row(i int) []float64 { return o.Values[i*o.Features : (i+1)*o.Features] }

// Append adds an observation; the features are copied.
func (o *Observations) Append(row []float64, positive bool) {
	o.Values = append(o.Values, row...)
	o.Positive = append(o.Positive, positive)
}

// Probability is 1/(1+e^−logit).
func Probability(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

// Logit returns the sum of the products of weights and features, up to ±30.
func Logit(weights, row []float64) (z float64) {
	for i, w := range weights {
		z += w * row[i]
	}
	return max(-30, min(30, z))
}

// Loss returns the log loss of an observation: −log of the probability of its outcome.
func Loss(logit float64, positive bool) float64 {
	if positive {
		logit = -logit
	}
	if logit > 30 {
		return logit
	}
	return math.Log1p(math.Exp(logit))
}

const (
	iterations = 30
	settled    = 1e-6 // of a step, in any weight
)

// Fit returns the weights for the observations that use accepts, starting from start; strength is
// above 0. It uses Newton's method, and halves steps that do not help. O(observations·features²) a
// step.
func Fit(o *Observations, use func(i int) bool, start []float64, strength float64) []float64 {
	f := fitting{o, use, start, strength}
	w := append([]float64(nil), start...)
	loss := f.loss(w)
	trial := make([]float64, len(w))
	for range iterations {
		step := f.step(w)
		largest := 0.0
		for scale := 1.0; scale > 1e-4; scale /= 2 {
			largest = 0
			for i := range w {
				trial[i] = w[i] - scale*step[i]
				largest = max(largest, math.Abs(scale*step[i]))
			}
			if l := f.loss(trial); l <= loss {
				w, trial, loss = trial, w, l
				break
			}
			largest = 0
		}
		if largest < settled {
			break
		}
	}
	return w
}

type fitting struct {
	*Observations
	use      func(i int) bool
	start    []float64
	strength float64
}

func (f *fitting) loss(w []float64) (l float64) {
	for i, positive := range f.Positive {
		if f.use(i) {
			l += Loss(Logit(w, f.Row(i)), positive)
		}
	}
	for i := range w {
		l += f.strength / 2 * (w[i] - f.start[i]) * (w[i] - f.start[i])
	}
	return l
}

// step returns what Newton's method subtracts from the weights: gradient over curvature.
func (f *fitting) step(w []float64) []float64 {
	n := len(w)
	gradient, curvature := make([]float64, n), make([]float64, n*n)
	for i := range w {
		gradient[i] = f.strength * (w[i] - f.start[i])
		curvature[i*n+i] = f.strength
	}
	for i, positive := range f.Positive {
		if !f.use(i) {
			continue
		}
		row := f.Row(i)
		p := Probability(Logit(w, row))
		d := p
		if positive {
			d--
		}
		for a, x := range row {
			gradient[a] += d * x
			h := p * (1 - p) * x
			if h == 0 {
				continue
			}
			line := curvature[a*n : a*n+a+1]
			for b := range line {
				line[b] += h * row[b]
			}
		}
	}
	solve(curvature, gradient)
	return gradient
}

// solve replaces b by the solution x of A·x = b, for a positive definite matrix of which the lower
// half is given, by Cholesky's decomposition, which replaces a.
func solve(a, b []float64) {
	n := len(b)
	for i := range n {
		for j := range i + 1 {
			s := a[i*n+j]
			for k := range j {
				s -= a[i*n+k] * a[j*n+k]
			}
			if i == j {
				a[i*n+i] = math.Sqrt(max(s, 1e-12))
			} else {
				a[i*n+j] = s / a[j*n+j]
			}
		}
	}
	for i := range n {
		for k := range i {
			b[i] -= a[i*n+k] * b[k]
		}
		b[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= a[k*n+i] * b[k]
		}
		b[i] /= a[i*n+i]
	}
}
