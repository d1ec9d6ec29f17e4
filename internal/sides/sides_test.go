package sides

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/bitset"
)

// model is a corpus of numbered documents in classes, with each document's sides.
type model struct {
	policy Policy
	n      int
	rep    []uint32 // of each document
	left   []bool
	right  []bool
}

func drawModel(t *rapid.T) model {
	m := model{n: rapid.IntRange(1, 150).Draw(t, "documents")}
	first := rapid.IntRange(0, m.n).Draw(t, "documents of the first side")
	kind := rapid.SampledFrom([]string{"self", "against", "between"}).Draw(t, "kind")
	both := bitset.New[uint32](first)
	for doc := range uint32(m.n) {
		rep := doc
		if doc > 0 && rapid.Bool().Draw(t, "copy") {
			rep = m.rep[rapid.IntRange(0, int(doc)-1).Draw(t, "of")]
		}
		m.rep = append(m.rep, rep)
		if int(doc) >= first && int(rep) < first {
			both.Add(rep)
		}
		m.left = append(m.left, kind != "between" || int(doc) < first)
		m.right = append(m.right, kind == "self" || int(doc) >= first)
	}
	switch kind {
	case "self":
		m.policy = Self()
	case "against":
		m.policy = Against(first)
	default:
		m.policy = Between(first, both)
	}
	return m
}

func (m *model) meet(a, b uint32) bool { return m.left[a] && m.right[b] || m.left[b] && m.right[a] }

// classOn tells whether a class has a member of a side; under Against only the
// representative counts.
func (m *model) classOn(side []bool, rep uint32) bool {
	if !m.policy.Apart() {
		return side[rep]
	}
	for doc, r := range m.rep {
		if r == rep && side[doc] {
			return true
		}
	}
	return false
}

func TestDocumentsMeetAsTheirSidesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		for a := range uint32(m.n) {
			partners := m.policy.Partners(a)
			for b := range uint32(m.n) {
				if got, want := partners.Has(b), m.meet(a, b); got != want {
					t.Fatalf("%d is a partner of %d: %v, want %v", b, a, got, want)
				}
				if got, want := partners.After(a).Has(b), b > a && m.meet(a, b); got != want {
					t.Fatalf("%d is a partner of %d, behind it: %v, want %v", b, a, got, want)
				}
			}
		}
	})
}

func TestClassesMeetIfMembersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		p := &m.policy
		left, right, both, pairs := 0, 0, 0, 0
		for a := range uint32(m.n) {
			if m.rep[a] != a {
				continue
			}
			onLeft, onRight := m.classOn(m.left, a), m.classOn(m.right, a)
			if p.Left(a) != onLeft || p.Right(a) != onRight {
				t.Fatalf("class %d is on the left: %v, on the right: %v", a, p.Left(a), p.Right(a))
			}
			if onLeft {
				left++
			}
			if onRight {
				right++
			}
			if onLeft && onRight {
				both++
			}
			if p.Apart() && p.Both(a) != (onLeft && onRight) {
				t.Fatalf("class %d is on both sides: %v", a, p.Both(a))
			}
			for b := range uint32(m.n) {
				if m.rep[b] != b {
					continue
				}
				want := onLeft && m.classOn(m.right, b) || onRight && m.classOn(m.left, b)
				if p.Meet(a, b) != want || p.Meet(b, a) != want {
					t.Fatalf("classes %d and %d meet: %v, want %v", a, b, p.Meet(a, b), want)
				}
				if a < b && want {
					pairs++
				}
			}
			for doc := range uint32(m.n) {
				want := onLeft && m.right[doc] || onRight && m.left[doc]
				if got := p.PartnersOfClass(a).Has(doc); got != want {
					t.Fatalf("%d is a partner of class %d: %v, want %v", doc, a, got, want)
				}
			}
		}
		if got := Pairs(left, right, both); got != pairs {
			t.Fatalf("%d pairs of %d on the left, %d on the right, %d on both; want %d", got, left, right, both, pairs)
		}
	})
}

func TestOnlyReferencesAreReferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		n := uint32(0)
		for doc := range uint32(m.n) {
			want := !m.policy.Apart() && !m.right[doc]
			if m.policy.Reference(doc) != want {
				t.Fatalf("%d is a reference: %v", doc, !want)
			}
			if want {
				n++
			}
			if side, want := m.policy.Side(doc), m.policy.Apart() && m.right[doc]; (side == 1) != want {
				t.Fatalf("%d is of side %d", doc, side)
			}
			for side := range 2 {
				if got := m.policy.Of(side).Has(doc); got != (side == m.policy.Side(doc)) {
					t.Fatalf("%d is among side %d: %v", doc, side, got)
				}
			}
		}
		if m.policy.References() != n {
			t.Fatalf("%d references, want %d", m.policy.References(), n)
		}
	})
}
