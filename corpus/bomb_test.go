package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus/internal/units"
	"github.com/alike-dev/alike/internal/testsize"
)

// zstdRuns makes a zstd frame of so many blocks of 128 KiB of one byte: 4 bytes
// each.
func zstdRuns(b byte, blocks int) []byte {
	out := []byte("\x28\xb5\x2f\xfd\x00\x38") // no size, no check sum, a window of 128 KiB
	for i := range blocks {
		last := 0
		if i == blocks-1 {
			last = 1
		}
		h := last | 1<<1 | (128<<10)<<3
		out = append(out, byte(h), byte(h>>8), byte(h>>16), b)
	}
	return out
}

// bombs returns compressed files that begin with head and go on with size
// bytes of one byte.
func bombs(t *testing.T, head []byte, b byte, size int) map[string][]byte {
	const piece = 1 << 20
	run := bytes.Repeat([]byte{b}, piece)
	files := map[string][]byte{
		"stream.zst": append(pack(t, Zstd, head, 1), zstdRuns(b, size>>17)...),
		"frames.zst": append(pack(t, Zstd, head, 1), bytes.Repeat(zstdRuns(b, piece>>17), size/piece)...),
	}
	for _, c := range []Compression{Gzip, Bzip2} {
		files["members"+suffix[c]] = append(pack(t, c, head, 1), bytes.Repeat(pack(t, c, run, 1), size/piece)...)
	}
	// One block of more than units.Max a stream.
	files["blocks.bz2"] = append(pack(t, Bzip2, head, 1), pack(t, Bzip2, bytes.Repeat(run, units.Max/piece+1), 1)...)
	return files
}

func TestBombEndsItsFileAfterTheRecordsBeforeIt(t *testing.T) {
	if testsize.Small() {
		t.Skip("it decompresses much")
	}
	head := small(20)
	for what, b := range map[string]byte{"one line": 'x', "blank lines": '\n'} {
		for name, data := range bombs(t, head, b, 6<<20) {
			s := sourceOf(t, name, data)
			s.Format = JSONL
			have, err := readAll(t, s, Options{MaxRecord: 128 << 10}, 2)
			if !errors.Is(err, ErrBomb) || !strings.Contains(err.Error(), name+":") ||
				!strings.Contains(err.Error(), "expands to more than 2097152 bytes without a record; looks like a decompression bomb; leave it out, or ") {
				t.Errorf("%s of %s: error %v", name, what, err)
			}
			if b == 'x' {
				if last := have[len(have)-1]; !last.Bad {
					t.Errorf("%s: the long line is %v", name, last)
				}
				have = have[:len(have)-1]
			}
			compare(t, name, have, twin(head, JSONL, Options{}))
		}
	}
}

func TestBombCostsNoMemoryAndEndsSoon(t *testing.T) {
	// 100 GB, in 3 MB.
	s := sourceOf(t, "a.jsonl.zst", zstdRuns('x', 100_000_000_000/(128<<10)))
	used, err := allocated(t, s, Options{MaxRecord: 4 << 20})
	if !errors.Is(err, ErrBomb) || used > 24<<20 {
		t.Errorf("%d MiB allocated, error %v", used>>20, err)
	}
}

// allocated reads a source and returns how many bytes were allocated for it: no
// less than were held at any time.
func allocated(t *testing.T, s Source, o Options) (int64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(t.Context(), s, o)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var b Block
	var r Record
	p := NewParser(o)
	for err == nil {
		if err = f.Next(&b); err == nil {
			for p.Start(f, &b); p.Next(&r); {
			}
		}
	}
	if err == io.EOF {
		err = nil
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), err
}

func TestLongLineInACompressedFileIsNotHeld(t *testing.T) {
	words := bytes.Repeat([]byte("a few words again and again "), 1<<20/28)
	for _, c := range []Compression{Gzip, Zstd} { // the decoder of bzip2 cannot be used again
		for _, f := range []Format{Lines, CSV, Text} {
			for _, size := range []int{20, 100} { // MiB; the first is legitimate, and put together once
				packed := slices.Concat(pack(t, c, []byte("text\n"), 1), bytes.Repeat(pack(t, c, words, 1), size), pack(t, c, []byte("\nb\n"), 1))
				s := sourceOf(t, "a"+suffix[c], packed)
				s.Format = f
				used, err := allocated(t, s, Options{MaxRecord: 32 << 20})
				must(t, err)
				if used > 80<<20 {
					t.Errorf("%s in %s, a line of %d MiB: %d MiB allocated", f, c, size, used>>20)
				}
			}
		}
	}
}

func TestStreamOfVeryManyEqualRecordsIsNoBomb(t *testing.T) {
	line := []byte(`{"text":"the same as before"}` + "\n")
	data := bytes.Repeat(line, 20_000)
	for _, c := range compressions {
		have, err := readAll(t, sourceOf(t, "a.jsonl"+suffix[c], pack(t, c, data, 1)), Options{MaxRecord: 100}, 2)
		must(t, err)
		if len(have) != 20_000 {
			t.Errorf("%s: %d records", c, len(have))
		}
	}
}

func TestRecordsBetweenManyBlankLinesAreNoBomb(t *testing.T) {
	data := bytes.Repeat([]byte(strings.Repeat("\n", 700)+`{"text":"a"}`+"\n"), 100)
	for _, c := range compressions {
		s := sourceOf(t, "a.jsonl"+suffix[c], pack(t, c, data, 3))
		have, err := readAll(t, s, Options{MaxRecord: 50, BlockSize: 100}, 2)
		must(t, err)
		compare(t, string(c), have, twin(data, JSONL, Options{}))
	}
}

func TestLargeBlocksOfBzip2AreReadPieceByPiece(t *testing.T) {
	if testsize.Small() {
		t.Skip("it decompresses much")
	}
	// Runs of 250 bytes take 5: a block of 900 kB becomes more than units.Max.
	run := strings.Repeat("x", 250)
	var b strings.Builder
	for i := 0; b.Len() < units.Max+units.Max/4; i++ {
		fmt.Fprintf(&b, "%s%s%s%d\n", run, strings.Repeat("y", 200), strings.Repeat("z", 250), i)
	}
	data := append(benchLines(400<<10, 500), b.String()...)
	data = append(data, benchLines(300<<10, 500)...)
	packed := pack(t, Bzip2, data, 1)
	s := sourceOf(t, "a.bz2", packed)
	s.Format = Lines
	want := twin(data, Lines, Options{})
	have, err := readAll(t, s, Options{}, 4)
	must(t, err)
	compare(t, "large blocks", have, want)
	f, err := Open(t.Context(), s, Options{})
	must(t, err)
	defer f.Close()
	var block Block
	largest := 0
	for f.Next(&block) == nil {
		largest = max(largest, len(block.Data()))
	}
	if f.stream == nil || largest > 2<<20 {
		t.Errorf("one stream %v, the largest block has %d bytes", f.stream != nil, largest)
	}
	if read := f.BytesRead(); read < int64(len(packed))*9/10 || read > int64(len(packed))*11/10 {
		t.Errorf("%d bytes read of %d", read, len(packed))
	}

	// A damaged large block gives nothing that is wrong.
	bad := bytes.Clone(packed)
	bad[len(bad)/2] ^= 0x10
	s = sourceOf(t, "b.bz2", bad)
	s.Format = Lines
	have, err = readAll(t, s, Options{}, 2)
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	compare(t, "before the damage", have, want[:len(have)])
}

func TestWrongCheckSumOfAZstdFrameTakesTheFrame(t *testing.T) {
	data := small(4000)
	packed := pack(t, Zstd, data, 4)
	packed[len(packed)-1] ^= 1
	have, err := readAll(t, sourceOf(t, "a.jsonl.zst", packed), Options{}, 2)
	if !errors.Is(err, ErrCorrupt) || len(have) < 2900 || len(have) > 3100 {
		t.Errorf("%d records, error %v", len(have), err)
	}
	compare(t, "before", have, twin(data, JSONL, Options{})[:len(have)])

	large := pack(t, Zstd, bytes.Repeat(data, 2*units.Max/len(data)), 1)
	large[len(large)-1] ^= 1
	s := sourceOf(t, "b.jsonl.zst", large)
	s.Format = Lines
	if _, err := readAll(t, s, Options{}, 2); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "any of the records up to line") {
		t.Errorf("error %v", err)
	}
}

func TestZstdThatAsksForTooMuchIsToldWithTheRemedy(t *testing.T) {
	for want, header := range map[string]string{
		"window of more than 128 MiB":   "\x28\xb5\x2f\xfd\x00\x98", // 512 MiB
		"zstd data that need a diction": "\x28\xb5\x2f\xfd\x01\x38\x07",
	} {
		data := append([]byte(header), "\x09\x00\x00\n"...)
		s := sourceOf(t, "a.jsonl.zst", data)
		_, err := readAll(t, s, Options{}, 1)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "decompress") {
			t.Errorf("error %v", err)
		}
	}
}

// blocksOf goes through the blocks of a source without parsing them, and returns the
// lines in them.
func blocksOf(t *testing.T, s Source, o Options) (lines int64, err error) {
	t.Helper()
	f, err := Open(t.Context(), s, o)
	must(t, err)
	defer f.Close()
	var b Block
	for err == nil {
		if err = f.Next(&b); err == nil {
			lines += b.Lines
		}
	}
	if err == io.EOF {
		err = nil
	}
	return lines, err
}

func TestBombOfShortRecordsEndsItsFileForAnyWorkers(t *testing.T) {
	if testsize.Small() {
		t.Skip("it decompresses much")
	}
	const most = bombAnyway/recordCost + 1<<20 // lines of 3 bytes are beyond
	for _, c := range []Compression{Zstd, Gzip, Bzip2, Xz} {
		part := bytes.Repeat([]byte("{}\n"), 1<<20)
		s := sourceOf(t, "a.jsonl"+suffix[c], bytes.Repeat(pack(t, c, part, 1), 6))
		if s.Size > 100_000 {
			t.Fatalf("%s: %d bytes", c, s.Size)
		}
		lines, err := blocksOf(t, s, Options{})
		if !errors.Is(err, ErrBomb) || lines > most || !strings.Contains(err.Error(), "looks like a decompression bomb; leave it out, or raise the limit (MaxRecord) if it is none") {
			t.Errorf("%s: %d lines, error %v", c, lines, err)
		}
		if lines, err := blocksOf(t, s, Options{MaxRecord: 128 << 20}); err != nil || lines != 6<<20 {
			t.Errorf("%s: raised: %d lines, error %v", c, lines, err)
		}
	}
}

func TestLongTextsOfASmallFileAreABombBeforeTheyTakeLong(t *testing.T) {
	for records := int64(1); ; records++ { // as of a Parquet dictionary of one value
		e := expansion{bytes: 19e6 * records, records: records}
		if err := e.problem(defaultMaxRecord, 53e3); err != nil {
			if records < 20 || records > 30 || !errors.Is(err, ErrBomb) {
				t.Errorf("%d texts of 19 MB: %v", records, err)
			}
			return
		}
	}
}

func TestFilesThatCompressWellAreNoBombs(t *testing.T) {
	for name, e := range map[string]struct {
		expansion
		size int64
	}{
		"logs of 100 GB at 200:1":          {expansion{bytes: 100e9, records: 1e9}, 500e6},
		"a million copies of one line":     {expansion{bytes: 39e6, records: 1e6}, 40e3},
		"labels, ten million rows in 1 MB": {expansion{bytes: 80e6, records: 10e6}, 1e6},
	} {
		if err := e.problem(defaultMaxRecord, e.size); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
