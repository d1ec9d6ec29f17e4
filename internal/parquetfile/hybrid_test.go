package parquetfile

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"pgregory.net/rapid"
)

// drawRuns makes values below 1<<width with runs.
func drawRuns(t *rapid.T, width int) []uint32 {
	var values []uint32
	for range rapid.IntRange(0, 6).Draw(t, "runs") {
		most := uint64(1)<<width - 1
		v := uint32(rapid.Uint64Range(0, most).Draw(t, "value"))
		for range rapid.IntRange(1, 30).Draw(t, "length") {
			values = append(values, v)
		}
		for range rapid.IntRange(0, 20).Draw(t, "single") {
			values = append(values, uint32(rapid.Uint64Range(0, most).Draw(t, "value")))
		}
	}
	return values
}

func TestRunsAreReadAndWrittenAsParquetGoDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		values := drawRuns(t, width)
		ints := make([]int32, len(values))
		bytes8 := make([]uint8, len(values))
		for i, v := range values {
			ints[i], bytes8[i] = int32(v), uint8(v)
		}
		ours := appendHybrid([]byte("head"), values, width)[4:]
		have := make([]uint32, len(values))
		if err := decodeHybrid(have, ours, width); err != nil || !slices.Equal(have, values) {
			t.Fatalf("width %d: %v are read as %v (%v)", width, values, have, err)
		}
		if width > 0 && len(values) > 0 {
			theirs, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, ints)
			if err != nil {
				t.Fatal(err)
			}
			clear(have)
			if err := decodeHybrid(have, theirs, width); err != nil || !slices.Equal(have, values) {
				t.Fatalf("width %d: parquet-go's %v are read as %v (%v)", width, values, have, err)
			}
			read, err := (&rle.Encoding{BitWidth: width}).DecodeInt32(nil, ours)
			if err != nil || len(read) < len(ints) || !slices.Equal(read[:len(ints)], ints) {
				t.Fatalf("width %d: parquet-go reads %v as %v (%v)", width, values, read, err)
			}
		}
		if width <= 8 {
			levels := make([]uint8, len(values))
			if err := decodeHybrid(levels, appendHybrid(nil, bytes8, width), width); err != nil || !bytes.Equal(levels, bytes8) {
				t.Fatalf("width %d: levels %v are read as %v (%v)", width, bytes8, levels, err)
			}
		}
	})
}

// TestRunsOfTrueOfParquetGoAreRead reads the value of a run of true as the specification has it, and as parquet-go writes it.
func TestRunsOfTrueOfParquetGoAreRead(t *testing.T) {
	for _, value := range []byte{1, 0xff} {
		got := make([]uint8, 8)
		if err := decodeHybrid(got, []byte{8 << 1, value}, 1); err != nil || !slices.Equal(got, []uint8{1, 1, 1, 1, 1, 1, 1, 1}) {
			t.Errorf("a run of %#x is %v, %v", value, got, err)
		}
	}
}

func TestDamagedRunsAreErrors(t *testing.T) {
	for name, src := range map[string][]byte{
		"nothing":                    {},
		"a value that is too wide":   {2 << 1, 8},
		"a run without its value":    {2 << 1},
		"a group without its bits":   {1<<1 | 1, 0xff},
		"too few values":             {2 << 1, 7},
		"a count that does not end":  {0xff, 0xff},
		"a count beyond 2³¹":         {0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f, 7},
		"packed groups beyond 2³¹":   {0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 7},
		"runs of nothing to the end": bytes.Repeat([]byte{0, 7}, 1000),
	} {
		if err := decodeHybrid(make([]uint8, 5), src, 3); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
