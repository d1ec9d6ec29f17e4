package plant

import (
	"bytes"
	"testing"

	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

func TestStampedTextsShareWhatTheirStampsDo(t *testing.T) {
	shingler, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := func(text []byte) []uint64 { return shingle.Set(shingler.AppendFeatures(nil, text)) }
	s := NewStamped(2000)
	a := set(s.Text(7, 1))
	if b := set(s.Text(8, 1)); simjoin.Intersection(a, b) != 0 || len(b) < 200 {
		t.Errorf("two texts of %d shingles share %d", len(b), simjoin.Intersection(a, b))
	}
	if b := set(s.Text(7, 1)); simjoin.Intersection(a, b) != len(a) {
		t.Error("a number has two texts")
	}
	half := NewStamped(2000)
	if b := set(half.Text(7, 0.5)); simjoin.Intersection(a, b) < len(a)/3 || simjoin.Intersection(a, b) > 2*len(a)/3 {
		t.Errorf("with half of the stamps %d of %d shingles are shared", simjoin.Intersection(a, b), len(a))
	}
	if !bytes.Contains(half.Text(899_999_999, 1), []byte("999999999 ")) {
		t.Error("the largest number does not fit")
	}
}
