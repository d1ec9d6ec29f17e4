package index

import (
	"bytes"
	"testing"
)

// What is parsed is written again as it was, or is an error.
func FuzzParseRecord(f *testing.F) {
	f.Add(appendRecord(nil, record{kind: bodyText, id: []byte("id"), columns: appendColumns(nil, [][]byte{nil, []byte("x")}), body: []byte("text")}))
	f.Add(appendRecord(nil, record{kind: bodyKeys, body: appendNumbers(nil, []uint64{1, 7})}))
	f.Add([]byte{recordVersion, 't', 0xff})
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := parseRecord(value)
		if err != nil {
			return
		}
		again, err := parseRecord(appendRecord(nil, r))
		if err != nil || again.kind != r.kind || !bytes.Equal(again.id, r.id) || !bytes.Equal(again.columns, r.columns) || !bytes.Equal(again.body, r.body) {
			t.Errorf("%q: %+v, then %+v, %v", value, r, again, err)
		}
		if r.kind != bodyText && keysSize(r.body) > len(r.body) {
			t.Errorf("%q: more keys than there is room for", value)
		}
		if values, err := parseColumns(r.columns); err == nil {
			if again, err := parseColumns(appendColumns(nil, values)); err != nil || len(again) != len(values) {
				t.Errorf("columns %q: %v", values, err)
			}
		}
	})
}

func FuzzParseBlock(f *testing.F) {
	docs := []arrival{{keys: []uint64{1, 2}, digest: [2]uint64{3, 4}, words: []uint32{5, 6}, time: -7}, {words: []uint32{0, 0}}}
	f.Add(appendBlock(nil, 2, docs, func(i int) bool { return i == 1 }))
	f.Add([]byte{blockVersion, 0xff, 0xff, 0x03, 2})
	f.Fuzz(func(t *testing.T, value []byte) {
		var docs []arrival
		var dead []bool
		n, err := parseBlock(value, 2, func(_ int, d *arrival, isDead bool) error {
			docs = append(docs, arrival{keys: append([]uint64{}, d.keys...), digest: d.digest, words: append([]uint32{}, d.words...), time: d.time})
			dead = append(dead, isDead)
			return nil
		})
		if err != nil {
			return
		}
		written := appendBlock(nil, 2, docs, func(i int) bool { return dead[i] })
		if again, err := parseBlock(written, 2, func(int, *arrival, bool) error { return nil }); err != nil || again != n {
			t.Errorf("%d documents, then %d, %v", n, again, err)
		}
	})
}
