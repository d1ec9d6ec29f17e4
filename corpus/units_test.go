package corpus

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	dsnet "github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/corpus/internal/units"
	"github.com/alike-dev/alike/internal/testsize"
)

// zstdFile makes a file of frames: of every kind of block, with and without content
// size and check sum, and skippable ones between.
func zstdFile(t testing.TB, pieces ...[]byte) []byte {
	var out bytes.Buffer
	for i, p := range pieces {
		switch i % 3 {
		case 0: // no content size
			w, err := zstd.NewWriter(&out, zstd.WithEncoderCRC(i%2 == 0), zstd.WithEncoderLevel(zstd.SpeedFastest))
			must(t, err)
			w.Write(p[:len(p)/2])
			w.Flush()
			w.Write(p[len(p)/2:])
			must(t, w.Close())
		case 1:
			b, err := compressed(Zstd, p)
			must(t, err)
			out.Write(b)
		case 2:
			b, err := compressed(Zstd, p)
			must(t, err)
			out.Write(b)
			out.WriteString("\x50\x2a\x4d\x18\x05\x00\x00\x00skip!") // skippable frame
		}
	}
	return out.Bytes()
}

func TestZstdFramesAreFoundAndDecodedApart(t *testing.T) {
	data := append(benchLines(4<<20, 900), bytes.Repeat([]byte("{\"text\":\"\"}\n"), 90000)...) // the end makes run-length blocks
	cuts := []int{0, 1, 1000, 1000, 1_200_000, 1_200_001, 2_500_000, 4_200_000, len(data)}
	var pieces [][]byte
	for i := range len(cuts) - 1 {
		pieces = append(pieces, data[cuts[i]:cuts[i+1]])
	}
	s := sourceOf(t, "a.jsonl.zst", zstdFile(t, pieces...))
	f, err := Open(t.Context(), s, Options{})
	must(t, err)
	defer f.Close()
	var b Block
	blocks := 0
	for f.Next(&b) == nil {
		blocks++
	}
	if f.stream != nil || blocks < 4 {
		t.Errorf("%d blocks, one stream: %v", blocks, f.stream != nil)
	}
	have, err := readAll(t, s, Options{}, 4)
	must(t, err)
	compare(t, "frames", have, twin(data, JSONL, Options{}))
}

func TestSmallZstdFramesAreReadTogether(t *testing.T) {
	data := small(3000)
	s := sourceOf(t, "a.jsonl.zst", pack(t, Zstd, data, 1000))
	f, err := Open(t.Context(), s, Options{})
	must(t, err)
	defer f.Close()
	counted := &countedReads{RandomAccess: f.file}
	f.file = counted
	var b Block
	blocks := 0
	for f.Next(&b) == nil {
		blocks++
	}
	if f.stream != nil || blocks > 150 || counted.reads > 150 {
		t.Errorf("%d blocks, %d reads for 1000 frames; one stream: %v", blocks, counted.reads, f.stream != nil)
	}
	have, err := readAll(t, s, Options{}, 3)
	must(t, err)
	compare(t, "small frames", have, twin(data, JSONL, Options{}))
}

func TestLargeZstdFrameIsReadAsAStream(t *testing.T) {
	data := bytes.Repeat(benchLines(1<<20, 5000), units.Max>>20+2)
	head := small(1000)
	for _, size := range []bool{false, true} {
		big, err := compressed(Zstd, data)
		must(t, err)
		if !size {
			big = pack(t, Zstd, data, 1)
		}
		all := append(pack(t, Zstd, head, 3), big...)
		all = append(all, pack(t, Zstd, head, 2)...)
		s := sourceOf(t, "a.jsonl.zst", all)
		want := twin(bytes.Join([][]byte{head, data, head}, nil), Lines, Options{})
		s.Format = Lines
		have, err := readAll(t, s, Options{}, 3)
		must(t, err)
		compare(t, fmt.Sprintf("content size %v", size), have, want)
	}
}

func TestCarryIsLargerThanTheRoomBeforeAUnit(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 3*unitRoom)
	data := bytes.Join([][]byte{[]byte("a"), long, []byte("b"), long, long, []byte("c"), nil}, []byte("\n"))
	for _, c := range []Compression{Zstd, Bzip2} {
		s := sourceOf(t, "a"+suffix[c], pack(t, c, data, 11))
		s.Format = Lines
		have, err := readAll(t, s, Options{}, 3)
		must(t, err)
		compare(t, string(c), have, twin(data, Lines, Options{}))
	}
}

// FuzzZstdFrames holds files of frames, or of anything, to the stream decoder.
func FuzzZstdFrames(f *testing.F) {
	f.Add(zstdFile(f, []byte("a\nb\n"), []byte("c\nd"), []byte("e\n")))
	f.Add(zstdFile(f, bytes.Repeat([]byte("x"), 1000), []byte("\n")))
	f.Add(zstdFile(f, nil, nil, nil))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	write := rewriter(f, "a.txt.zst")
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(codec.MaxZstdWindow), zstd.WithDecoderLowmem(true))
		must(t, err)
		defer d.Close()
		plain, zeros, err := padded(data, func(data []byte) ([]byte, error) {
			must(t, d.Reset(bytes.NewReader(data)))
			return io.ReadAll(io.LimitReader(d, 8<<20))
		})
		if len(plain) == 8<<20 || 0 < zeros && zeros < 4 { // a stream takes so few for a frame that breaks off
			return
		}
		checkUnits(t, write(data), data, plain, err)
	})
}

// FuzzBzip2Blocks holds files of bzip2 blocks, or of anything, to the standard library.
func FuzzBzip2Blocks(f *testing.F) {
	for _, parts := range []int{1, 3} {
		f.Add(pack(f, Bzip2, []byte("a\nb\nc\n"), parts))
	}
	f.Add(bytes.Repeat(pack(f, Bzip2, nil, 1), 2))
	write := rewriter(f, "a.txt.bz2")
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, _, err := padded(data, func(data []byte) ([]byte, error) {
			return io.ReadAll(io.LimitReader(bzip2.NewReader(bytes.NewReader(data)), 8<<20))
		})
		if len(plain) == 8<<20 {
			return
		}
		checkUnits(t, write(data), data, plain, err)
	})
}

// padded decodes data or, where zero bytes at its end are no part of the archive, what stands before them: they are a
// regular end for this package and an error for the decoder of another one.
func padded(data []byte, decode func([]byte) ([]byte, error)) (plain []byte, zeros int, err error) {
	plain, err = decode(data)
	if err == nil {
		return plain, 0, nil
	}
	for n := len(data) - 1; n > 0 && data[n] == 0; n-- {
		if whole, damage := decode(data[:n]); damage == nil {
			return whole, len(data) - n, nil
		}
	}
	return plain, 0, err
}

// checkUnits holds the reading of an archive to what its decoder gives at once.
func checkUnits(t *testing.T, s Source, data, plain []byte, err error) {
	s.Format = Lines
	have, haveErr := readAll(t, s, Options{}, 2)
	if len(data) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if (err == nil) != (haveErr == nil) {
		t.Fatalf("error %v, of the decoder %v", haveErr, err)
	}
	want := twin(plain, Lines, Options{})
	if err != nil { // as far as both came
		n := min(len(have), len(want))
		if n > 0 && len(plain) > 0 && plain[len(plain)-1] != '\n' {
			n = min(n, len(want)-1)
		}
		have, want = have[:n], want[:n]
	}
	compare(t, fmt.Sprintf("%x", data), have, want)
}

// gzipMembers packs data in members between random cuts, some of them empty and some stored, so that what looks like a
// header in data still does.
func gzipMembers(rt *rapid.T, t testing.TB, data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		n := min(rapid.SampledFrom([]int{0, 1, 100, 3000, 20_000}).Draw(rt, "cut"), len(data))
		var member bytes.Buffer
		w, err := gzip.NewWriterLevel(&member, rapid.SampledFrom([]int{0, 1, 6}).Draw(rt, "level"))
		must(t, err)
		w.Write(data[:n])
		must(t, w.Close())
		out, data = append(out, member.Bytes()...), data[n:]
	}
	return out
}

func TestGzipMembersReadApartAsTheStreamDoes(t *testing.T) {
	lines := benchLines(60<<10, 900)
	if testsize.Race {
		lines = lines[:10<<10]
	}
	header := append(pack(t, Gzip, []byte("in a member\n"), 3), '\n')
	write := rewriter(t, "a.txt.gz")
	rapid.Check(t, func(rt *rapid.T) {
		data := bytes.Clone(lines)
		if rapid.Bool().Draw(rt, "headers in data") {
			at := rapid.IntRange(0, len(data)).Draw(rt, "header")
			data = slices.Concat(data[:at], header, data[at:], header)
		}
		packed := gzipMembers(rt, t, data)
		switch rapid.SampledFrom([]string{"", "", "cut", "flip", "more"}).Draw(rt, "damage") {
		case "cut":
			packed = packed[:rapid.IntRange(1, len(packed)).Draw(rt, "length")]
		case "flip":
			packed[rapid.IntRange(0, len(packed)-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case "more":
			packed = append(packed, make([]byte, rapid.IntRange(1, 30).Draw(rt, "zeros"))...)
		}
		s := write(packed)
		s.Format = Lines
		o := Options{BlockSize: rapid.SampledFrom([]int{1000, 1 << 20}).Draw(rt, "block")}
		want, wantErr := readOpen(t, asStream(t, s, o), o, 1)
		for _, group := range []int{0, 10_000} {
			f, err := Open(t.Context(), s, o)
			must(t, err)
			f.units = units.Gzip(f.file, f.size, &f.read, group)
			have, haveErr := readOpen(t, f, o, 3)
			compare(rt, fmt.Sprint("members of ", group), have, want)
			if fmt.Sprint(haveErr) != fmt.Sprint(wantErr) {
				rt.Fatalf("%v, of the stream %v", haveErr, wantErr)
			}
		}
	})
}

// asStream opens a source to be decoded in one stream.
func asStream(t testing.TB, s Source, o Options) *File {
	f, err := Open(t.Context(), s, o)
	must(t, err)
	at := f.units.Place()
	f.serial.Store(&at)
	return f
}

func TestGzipMembersAreDecodedApart(t *testing.T) {
	data := benchLines(4<<20, 900)
	want := map[int]int{3: 3, 1000: 4}
	if testsize.Race {
		delete(want, 1000)
	}
	for parts, blocks := range want {
		s := sourceOf(t, "a.jsonl.gz", pack(t, Gzip, data, parts))
		f, err := Open(t.Context(), s, Options{})
		must(t, err)
		counted := &countedReads{RandomAccess: f.file}
		f.units = units.Of(codec.Gzip, counted, f.size, &f.read)
		var b Block
		have := 0
		for f.Next(&b) == nil {
			have++
		}
		if f.stream != nil || have < blocks || have > 3*blocks || counted.reads > 4*blocks {
			t.Errorf("%d parts: %d blocks, %d reads; one stream: %v", parts, have, counted.reads, f.stream != nil)
		}
		f.Close()
	}
}

func TestGzipOfOneMemberOrOfLargeOnesIsReadAsAStream(t *testing.T) {
	if testsize.Race {
		t.Skip("it decodes much")
	}
	data := bytes.Repeat(benchLines(20<<10, 5000), units.Max/(20<<10)+2)
	one, two := pack(t, Gzip, data, 1), pack(t, Gzip, data[:2<<20], 2)
	for what, packed := range map[string][]byte{"one": pack(t, Gzip, data[:1<<20], 1), "large": one, "a large one among small ones": slices.Concat(two, one, two)} {
		s := sourceOf(t, "a.jsonl.gz", packed)
		f, err := Open(t.Context(), s, Options{})
		must(t, err)
		var b Block
		for f.Next(&b) == nil {
		}
		if f.stream == nil {
			t.Errorf("%s: in units", what)
		}
		f.Close()
		want, err := readOpen(t, asStream(t, s, Options{}), Options{}, 1)
		must(t, err)
		have, err := readAll(t, s, Options{}, 3)
		must(t, err)
		compare(t, what, have, want)
	}
}

func TestBzip2OfManyBlocksAndStreamsIsReadInParts(t *testing.T) {
	data := benchLines(250<<10, 900)
	var packed bytes.Buffer
	w, err := dsnet.NewWriter(&packed, &dsnet.WriterConfig{Level: 1}) // blocks of 100 kB
	must(t, err)
	w.Write(data)
	must(t, w.Close())
	s := sourceOf(t, "a.jsonl.bz2", append(packed.Bytes(), pack(t, Bzip2, data[:1000], 1)...))
	for _, chunk := range []int{1, 1000, 1 << 20} {
		f, err := Open(t.Context(), s, Options{})
		must(t, err)
		f.units = units.Bzip2(f.file, f.size, &f.read, chunk)
		var b Block
		var read []byte
		blocks := 0
		for f.Next(&b) == nil {
			blocks++
			read = append(read, b.Data()...)
		}
		if blocks < 4 || !bytes.Equal(read, append(bytes.Clone(data), data[:1000]...)) {
			t.Errorf("%d blocks of %d bytes, file read by %d", blocks, len(read), chunk)
		}
		f.Close()
	}
	have, err := readAll(t, s, Options{}, 4)
	must(t, err)
	compare(t, "bzip2", have, twin(append(bytes.Clone(data), data[:1000]...), JSONL, Options{}))
}

func TestDamagedZstdFrameGivesWhatStandsBeforeTheDamage(t *testing.T) {
	data := benchLines(500<<10, 900)
	packed := pack(t, Zstd, data, 2)
	for _, flip := range []int{len(packed) * 2 / 5, len(packed) * 4 / 5} {
		bad := bytes.Clone(packed)
		bad[flip] ^= 0x55
		have, err := readAll(t, sourceOf(t, "a.jsonl.zst", bad), Options{}, 3)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		want := twin(data, JSONL, Options{})
		if len(have) < len(want)/5 {
			t.Errorf("only %d of %d records, damage at byte %d of %d", len(have), len(want), flip, len(packed))
		}
		compare(t, "before the damage", have, want[:min(len(have), len(want))])
	}
}

func TestStreamCheckSumOfBzip2IsChecked(t *testing.T) {
	packed := pack(t, Bzip2, []byte("a\nb\n"), 1)
	// The stream's check sum stands in the last bytes.
	packed[len(packed)-2] ^= 1
	s := sourceOf(t, "a.txt.bz2", packed)
	s.Format = Lines
	if _, err := readAll(t, s, Options{}, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

func TestSmallArchivesTakeLittleMemoryWhateverTheyAskFor(t *testing.T) {
	data := []byte("\x28\xb5\x2f\xfd\x00\x88\x11\x00\x00a\n") // a window of 128 MiB
	for _, parts := range []int{1, 5} {
		for _, f := range []Format{Lines, Text} {
			s := sourceOf(t, "a.zst", bytes.Repeat(data, parts))
			s.Format = f
			used, err := allocated(t, s, Options{})
			must(t, err)
			if used > 20<<20 {
				t.Errorf("%d parts as %s: %d MiB allocated", parts, f, used>>20)
			}
			have, err := readAll(t, s, Options{}, 2)
			must(t, err)
			compare(t, "a.zst", have, twin([]byte(strings.Repeat("a\n", parts)), f, Options{}))
		}
	}
}

// compressed is one part of a compressed file.
func compressed(c Compression, data []byte) ([]byte, error) {
	z, err := codec.CompressorOf(codec.Name(c))
	if err != nil {
		return nil, err
	}
	return z.Part(nil, data)
}
