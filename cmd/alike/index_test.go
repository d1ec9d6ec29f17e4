package main

import "testing"

// A search once took the default whatever --memory said.
func TestTheMemoryAskedForBoundsTheCacheOfAnIndex(t *testing.T) {
	for memory, want := range map[string]int64{"2GiB": 512 << 20, "64MiB": 64 << 20} {
		opening, err := (&inputFlags{memory: memory}).opening()
		if err != nil || opening.Cache != want {
			t.Errorf("--memory %s: a cache of %d, %v, want %d", memory, opening.Cache, err, want)
		}
	}
}
