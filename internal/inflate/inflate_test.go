package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	kgzip "github.com/klauspost/compress/gzip"

	"github.com/alike-dev/alike/internal/testsize"
)

// samples are bytes of many kinds: few and many literals, short and long matches, and the longest distance.
func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, values int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(values))
		}
		return b
	}
	var words strings.Builder
	for words.Len() < 400_000 {
		words.WriteString("the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had they you were their one all we can her has there been if more when will would who so no"[3*r.IntN(40):][:1+r.IntN(20)])
		words.WriteByte(' ')
	}
	skewed := make([]byte, 200_000) // codes of up to fifteen bits
	for i := range skewed {
		skewed[i] = byte(min(r.ExpFloat64()*6, 255))
	}
	far := random(32768, 256)
	return map[string][]byte{
		"nothing":       {},
		"a byte":        {'x'},
		"words":         []byte(words.String()),
		"random bytes":  random(300_000, 256),
		"two values":    random(100_000, 2),
		"one value":     make([]byte, 500_000),
		"skewed":        skewed,
		"short periods": bytes.Join([][]byte{bytes.Repeat([]byte("ab"), 999), bytes.Repeat([]byte("abc"), 999), bytes.Repeat([]byte("abcdefg"), 999)}, nil),
		"far":           bytes.Join([][]byte{far, far, far[:1], far, far[:2], far, far, far, far, far}, nil),
		"far in time":   bytes.Join([][]byte{far[:3000], random(29_768, 256), far[:3000], random(140_000, 256), far[:3000]}, nil),
	}
}

// packings are ways to pack data; each gives one member or more.
var packings = map[string]func(testing.TB, []byte) []byte{
	"members": func(t testing.TB, b []byte) []byte {
		half := packAt(6)(t, b[:len(b)/2])
		return bytes.Join([][]byte{half, packAt(6)(t, nil), packAt(1)(t, b[len(b)/2:])}, nil)
	},
	"huffman only": packAt(gzip.HuffmanOnly), "stored": packAt(0), "fastest": packAt(1), "default": packAt(6), "best": packAt(9),
	"flushed": func(t testing.TB, b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		for len(b) > 0 {
			n := min(len(b), 7000)
			w.Write(b[:n])
			w.Flush()
			b = b[n:]
		}
		must(t, w.Close())
		return out.Bytes()
	},
	"by another library": func(t testing.TB, b []byte) []byte {
		var out bytes.Buffer
		w, err := kgzip.NewWriterLevel(&out, 2)
		must(t, err)
		w.Name, w.Comment, w.Extra = "a.jsonl", "no comment", make([]byte, 300)
		w.Write(b)
		must(t, w.Close())
		return out.Bytes()
	},
}

func packAt(level int) func(testing.TB, []byte) []byte {
	return func(t testing.TB, b []byte) []byte {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, level)
		must(t, err)
		w.Write(b)
		must(t, w.Close())
		return out.Bytes()
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// decoded reads all of src by d.
func decoded(d *Reader, src io.Reader) ([]byte, error) {
	if err := d.Reset(src); err != nil {
		return nil, err
	}
	return io.ReadAll(d)
}

func TestWhatOthersHavePackedIsDecoded(t *testing.T) {
	d := new(Reader)
	for what, data := range samples() {
		if testsize.Race {
			data = data[:min(len(data), 30_000)]
		}
		for how, pack := range packings {
			packed := pack(t, data)
			for name, src := range map[string]io.Reader{
				"at once": bytes.NewReader(packed), "by halves": iotest.HalfReader(bytes.NewReader(packed)),
				"end with data": iotest.DataErrReader(bytes.NewReader(packed)),
			} {
				if got, err := decoded(d, src); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s, %s, read %s: %d of %d bytes, %v", what, how, name, len(got), len(data), err)
				}
			}
		}
	}
}

func TestBytesMayComeOneByOneAndGoOneByOne(t *testing.T) {
	data := samples()["words"][:50_000]
	for how, pack := range packings {
		d := new(Reader)
		must(t, d.Reset(iotest.OneByteReader(bytes.NewReader(pack(t, data)))))
		if got, err := io.ReadAll(iotest.OneByteReader(d)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d of %d bytes, %v", how, len(got), len(data), err)
		}
	}
}

// reference is what compress/gzip makes of packed.
func reference(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// kind is the kind of an error: damage is found by all decoders at one place, but each names it a few bytes apart.
func kind(err error) error {
	if corrupt := flate.CorruptInputError(0); errors.As(err, &corrupt) {
		return flate.CorruptInputError(0)
	}
	return err
}

// check holds d to the reference. Where the data end too early, d may know a few symbols more: the reference reads as
// many bits at once as the end of a block has.
func check(t testing.TB, d *Reader, packed []byte) {
	t.Helper()
	want, wantErr := reference(packed)
	got, err := decoded(d, bytes.NewReader(packed))
	same := bytes.Equal(got, want)
	if wantErr == io.ErrUnexpectedEOF {
		same = bytes.HasPrefix(got, want) && len(got)-len(want) < 8*258
	}
	if err == gzip.ErrHeader && hasReservedFlags(packed) {
		return
	}
	if !same || kind(err) != kind(wantErr) {
		t.Fatalf("%x:\n%d bytes, %v; the reference has %d, %v", packed[:min(len(packed), 400)], len(got), err, len(want), wantErr)
	}
}

// hasReservedFlags reports whether a header may have flags that RFC 1952 forbids, which the reference ignores.
func hasReservedFlags(packed []byte) bool {
	for _, rest := range bytes.Split(packed, []byte{0x1f, 0x8b, 8})[1:] {
		if len(rest) > 0 && rest[0] >= flagReserved {
			return true
		}
	}
	return false
}

func TestEveryCutIsFound(t *testing.T) {
	data := samples()["words"][:3000]
	if testsize.Race {
		data = data[:300]
	}
	d := new(Reader)
	for _, pack := range packings {
		packed := pack(t, data)
		for n := range packed {
			check(t, d, packed[:n])
		}
		check(t, d, append(packed, 0))
		check(t, d, append(packed, make([]byte, 30)...))
		check(t, d, append(packed, "garbage of some length"...))
	}
}

func TestDamageIsFoundWhereTheReferenceFindsIt(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := new(Reader)
	data := samples()
	for _, what := range []string{"words", "skewed", "far"} {
		for _, pack := range packings {
			packed := pack(t, data[what][:20_000])
			for range 30 {
				bad := bytes.Clone(packed)
				for range 1 + r.IntN(3) {
					at := r.IntN(len(bad))
					if r.IntN(2) == 0 {
						at = r.IntN(min(len(bad), 150)) // headers
					}
					bad[at] ^= 1 << r.IntN(8)
				}
				check(t, d, bad)
			}
		}
	}
}

// bitWriter writes deflate by hand.
type bitWriter struct {
	out []byte
	n   int
}

func (w *bitWriter) write(v uint, n int) {
	for i := range n {
		if w.n%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.n/8] |= byte(v>>i&1) << (w.n % 8)
		w.n++
	}
}

// randomLengths are the lengths of a complete code of some of n symbols, of up to longest bits.
func randomLengths(r *rand.Rand, n, longest int) []uint8 {
	leaves := []uint8{0}
	for most := 1 + r.IntN(n); len(leaves) < most; {
		i := r.IntN(len(leaves))
		if r.IntN(3) == 0 {
			i = len(leaves) - 1
		}
		if int(leaves[i]) == longest {
			break
		}
		leaves[i]++
		leaves = append(leaves, leaves[i])
	}
	lengths := make([]uint8, n)
	for i, at := range r.Perm(n)[:len(leaves)] {
		lengths[at] = leaves[i]
	}
	return lengths
}

// TestCodesAreAcceptedAsByTheReference makes blocks with random codes, complete or not quite, and random bits
// behind them.
func TestCodesAreAcceptedAsByTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := new(Reader)
	for range 1500 {
		literals, distances := 257+r.IntN(32), 1+r.IntN(32)
		w := &bitWriter{out: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, n: 80}
		w.write(0b101, 3)
		w.write(uint(literals-257), 5)
		w.write(uint(distances-1), 5)
		w.write(15, 4)
		for _, symbol := range codeOrder {
			if symbol < 16 {
				w.write(4, 3)
			} else {
				w.write(0, 3)
			}
		}
		lengths := append(randomLengths(r, literals, 15), randomLengths(r, distances, 15)...)
		if r.IntN(3) == 0 {
			lengths[r.IntN(len(lengths))] = uint8(r.IntN(16))
		}
		if r.IntN(6) == 0 { // one distance, or none
			clear(lengths[literals:])
			lengths[literals] = uint8(r.IntN(3))
		}
		for _, n := range lengths {
			for bit := 3; bit >= 0; bit-- { // codes are written from the highest bit on
				w.write(uint(n>>bit), 1)
			}
		}
		for range r.IntN(300) {
			w.write(uint(r.Uint32()), 32)
		}
		check(t, d, w.out)
	}
}

func TestWhatIsFlushedIsGivenBeforeMoreIsRead(t *testing.T) {
	var sent bytes.Buffer
	w := gzip.NewWriter(&sent)
	d := new(Reader)
	source := readFunc(func(p []byte) (int, error) {
		if sent.Len() == 0 {
			return 0, errors.New("would wait")
		}
		return sent.Read(p)
	})
	for i := range 5 {
		line := fmt.Sprintf("line %d of a few words\n", i)
		io.WriteString(w, line)
		w.Flush()
		if i == 0 {
			must(t, d.Reset(source))
		}
		have := make([]byte, len(line))
		if _, err := io.ReadFull(d, have); err != nil || string(have) != line {
			t.Fatalf("%q, %v", have, err)
		}
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestErrorOfTheSourceComesAfterTheBytesBeforeIt(t *testing.T) {
	data := samples()["words"]
	packed := packAt(6)(t, data)
	cut := errors.New("the cable is cut")
	d := new(Reader)
	got, err := decoded(d, io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), iotest.ErrReader(cut)))
	if want, _ := reference(packed[:len(packed)/2]); err != cut || !bytes.HasPrefix(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	if err := d.Reset(readFunc(func([]byte) (int, error) { return 0, nil })); err != io.ErrNoProgress {
		t.Errorf("a source without bytes: %v", err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	data := samples()["words"]
	packed := bytes.NewReader(packAt(6)(t, data))
	d, buf := new(Reader), make([]byte, 1<<20)
	if n := testing.AllocsPerRun(3, func() {
		packed.Seek(0, io.SeekStart)
		must(t, d.Reset(packed))
		if n, err := io.ReadFull(d, buf[:len(data)]); n != len(data) || err != nil {
			t.Fatal(n, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzReader holds the decoder to compress/gzip.
func FuzzReader(f *testing.F) {
	for _, data := range samples() {
		for _, pack := range packings {
			f.Add(pack(f, data[:min(len(data), 200)]))
		}
	}
	d := new(Reader)
	f.Fuzz(func(t *testing.T, packed []byte) {
		if z, err := gzip.NewReader(bytes.NewReader(packed)); err == nil {
			if n, _ := io.Copy(io.Discard, io.LimitReader(z, 8<<20)); n == 8<<20 {
				return
			}
		}
		check(t, d, packed)
	})
}
