package linkage

import (
	"strings"
	"testing"
)

func TestMemoryThatDoesNotHoldTheTablesIsRefusedWithWhatWould(t *testing.T) {
	l, x := people(200, 0.8)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x), Threads: 2}
	want := join(t, c)
	c.Memory = 30 << 20
	_, err := Join(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "Memory 30 MiB is too little") || !strings.Contains(err.Error(), "give 47 MiB or more") {
		t.Errorf("in 30 MiB: %v", err)
	}
	c.Memory = 56 << 20
	if got := join(t, c); got.Links.Len() != want.Links.Len() || got.Precision != want.Precision {
		t.Errorf("in 56 MiB there are %d links, without a limit %d", got.Links.Len(), want.Links.Len())
	}
}
