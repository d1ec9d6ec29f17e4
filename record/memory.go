package record

import "github.com/alike-dev/alike/internal/hashing"

// A memory remembers the values that a cutter has cut lately. The zero value is empty.
type memory struct {
	slots []metValue
}

type metValue struct {
	raw   uint64
	whole Whole
}

// remembered is how many values a cutter remembers, 24 bytes each.
const remembered = 1 << 15

func (m *memory) at(raw uint64) *metValue {
	if m.slots == nil {
		m.slots = make([]metValue, remembered)
	}
	return &m.slots[(raw^raw>>32)%remembered]
}

func (m *memory) met(raw uint64) (whole Whole, ok bool) {
	v := m.at(raw)
	return v.whole, v.raw == raw && raw != 0
}

func (m *memory) meet(raw uint64, whole Whole) { *m.at(raw) = metValue{raw, whole} }

// A Whole identifies a value among others. The zero value is a missing value.
type Whole struct {
	Words uint64 // hash of the words in order: equal for values that differ only in case, diacritics and separators
	Ties  uint64 // hash of which words are joined by signs in a text, and so also count as one word; 0: none
}

// hash returns a hash of both fields: values with equal hashes have equal tokens.
func (w Whole) hash() uint64 {
	if w.Ties == 0 {
		return w.Words
	}
	return hashing.Mix(w.Words ^ w.Ties)
}
