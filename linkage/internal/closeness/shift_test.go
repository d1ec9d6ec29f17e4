package closeness

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawPairs returns points of pairs of which a share belongs together: the right point is made of the left one by make.
func drawPairs(share float64, of func(rng *rand.Rand, x float64) float64) (left, right []float64) {
	rng := rand.New(rand.NewPCG(7, 8))
	draw := func() float64 { return math.Round(100*math.Exp(1+7*rng.Float64())) / 100 }
	for range 5000 {
		x, y := draw(), draw()
		if rng.Float64() < share {
			y = of(rng, x)
		}
		if rng.IntN(20) == 0 {
			y = math.NaN()
		}
		left, right = append(left, x), append(right, y)
	}
	return left, right
}

func TestAShiftIsFoundAmongPairsThatMostlyDoNotBelongTogether(t *testing.T) {
	for _, test := range []struct {
		name  string
		share float64
		of    func(rng *rand.Rand, x float64) float64
		dates bool
		want  Shift
		by    float64 // error allowed
		ok    bool
	}{
		{"a rate that varies, and a fee", 0.1, func(rng *rand.Rand, x float64) float64 {
			return 7.46*x*(1+0.004*rng.NormFloat64()) - float64(rng.IntN(3))
		}, false, Shift{true, math.Log(7.46)}, 0.01, true},
		{"a tax", 0.05, func(_ *rand.Rand, x float64) float64 { return 1.19 * x }, false, Shift{true, math.Log(1.19)}, 0.005, true},
		{"a constant", 0.1, func(_ *rand.Rand, x float64) float64 { return x + 30 }, true, Shift{false, 30}, 0.5, true},
		{"equal values", 0.1, func(_ *rand.Rand, x float64) float64 { return x }, false, Shift{}, 0, false},
		{"equal values, and some with a tax", 0.2, func(rng *rand.Rand, x float64) float64 {
			if rng.IntN(3) == 0 {
				return 1.19 * x
			}
			return x
		}, false, Shift{}, 0, false},
		{"nothing in common", 0, nil, false, Shift{}, 0, false},
	} {
		left, right := drawPairs(test.share, test.of)
		got, ok := FindShift(left, right, test.dates)
		if ok != test.ok || ok && (got.Ratio != test.want.Ratio || math.Abs(got.By-test.want.By) > test.by) {
			t.Errorf("%s: %+v %v, want %+v %v", test.name, got, ok, test.want, test.ok)
		}
	}
	if _, ok := FindShift([]float64{1, 1, 1}, []float64{2, 2, 2}, false); ok {
		t.Error("three pairs show a shift")
	}
	if _, ok := FindShift(make([]float64, 100), make([]float64, 100), false); ok {
		t.Error("one point shows a shift")
	}
}

// TestShiftedPointsHaveOneScale has left points, and the same ones in another currency.
func TestShiftedPointsHaveOneScale(t *testing.T) {
	var points []float64
	var counts [2][]uint32
	for i := range 2000 {
		x := math.Exp(1 + float64(i*7919%1000)/200)
		points = append(points, x, 7.46*x)
		counts[0], counts[1] = append(counts[0], 1, 0), append(counts[1], 0, 1)
	}
	by := Shift{true, math.Log(7.46)}
	s := NewShiftedScale(points, counts, by)
	if got := s.Step(s.Coordinate(100), s.Coordinate(746)-by.By); got < Steps-4 {
		t.Errorf("step %d of points that belong together", got)
	}
	if got := s.Step(s.Coordinate(100), s.Coordinate(100)-by.By); got != 0 {
		t.Errorf("step %d of equal points", got)
	}
	if NewShiftedScale([]float64{1, 2}, [2][]uint32{{1, 1}, {1, 1}}, by) != nil {
		t.Error("two points make a scale")
	}
}
