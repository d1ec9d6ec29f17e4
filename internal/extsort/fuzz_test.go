package extsort

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/internal/durable"
)

// mend sets the checksums of header, footer and blocks right, as far as there
// are such, so that the fuzzer gets behind them.
func mend(data []byte) {
	if len(data) < headerFixed+footerBytes {
		return
	}
	footer := data[len(data)-footerBytes:]
	index := binary.LittleEndian.Uint64(footer[24:])
	start := (headerFixed + uint64(binary.LittleEndian.Uint32(data[24:])) + entryBytes - 1) / entryBytes * entryBytes
	unit := uint64(binary.LittleEndian.Uint32(data[16:]))
	end := uint64(len(data) - footerBytes)
	if start > index || index > end || unit == 0 {
		return
	}
	seed := binary.LittleEndian.Uint32(data[32:])
	sum := func(b []byte) { binary.LittleEndian.PutUint32(b, durable.Checksum(seed, b[4:])) }
	binary.LittleEndian.PutUint32(data[8:], durable.Checksum(0, data[12:start]))
	binary.LittleEndian.PutUint32(footer[4:], durable.Checksum(seed, data[index:end]))
	sum(footer)
	for b := data[start:index]; len(b) >= entryBytes; {
		n := min(uint64(len(b)), entryBytes*(1+unit))
		sum(b[:n])
		b = b[n:]
	}
}

// FuzzRun feeds bytes to the parser of runs, as they are and with checksums set
// right. It refuses them with one of its errors or reads as many entries as they
// say they are; it never panics, and never takes much memory for few bytes.
func FuzzRun(f *testing.F) {
	o := Options{Name: "x", Scheme: "s", Memory: smallMemory}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 64, 150} {
		f.Add(savedRun(f, o, makeEntries(rng, n, "uniform", 64)), false)
		f.Add(savedRun(f, o, makeEntries(rng, n, "few", 64)), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, mended bool) {
		if mended {
			mend(data)
		}
		entries, err := readRun(t, o, data)
		switch {
		case err == nil:
			if got := uint64(len(entries)); got != binary.LittleEndian.Uint64(data[len(data)-footerBytes+8:]) {
				t.Errorf("%d entries were read", got)
			}
		case !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrScheme):
			t.Errorf("error %v", err)
		}
	})
}
