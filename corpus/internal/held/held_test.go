package held

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsHeldIsGivenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Bytes
		var want []byte
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 300)).Draw(t, "pieces") {
			h.Add(p)
			want = append(want, p...)
			if h.Size != int64(len(want)) {
				t.Fatalf("size %d, want %d", h.Size, len(want))
			}
		}
		if have := h.AppendTo([]byte("before")); string(have) != "before"+string(want) || h.Size != 0 || len(h.pieces) > 0 {
			t.Fatalf("%q, want %q", have, want)
		}
	})
}
