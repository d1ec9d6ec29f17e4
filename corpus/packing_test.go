package corpus

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/corpus/internal/codec"
)

// prose returns lines of words that follow each other as in the pages of this module, so that a patient search finds
// longer matches, as it does in what people write.
func prose(t testing.TB, size int) []byte {
	t.Helper()
	var words []string
	pages, err := filepath.Glob("../docs/*.md")
	must(t, err)
	for _, page := range pages {
		data, err := os.ReadFile(page)
		must(t, err)
		words = append(words, strings.Fields(string(data))...)
	}
	next := map[string][]int{}
	for i, w := range words[:len(words)-1] {
		next[w] = append(next[w], i+1)
	}
	random := rand.New(rand.NewPCG(5, uint64(size)))
	var b bytes.Buffer
	for at := 0; b.Len() < size; {
		for range 200 {
			b.WriteString(words[at] + " ")
			if follow := next[words[at]]; len(follow) > 0 {
				at = follow[random.IntN(len(follow))]
			} else {
				at = random.IntN(len(words))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// packed returns data packed by other programs, in a hurry or tightly.
func packed(t testing.TB, c Compression, data []byte, fast bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if c == Gzip {
		level := gzip.DefaultCompression
		if fast {
			level = gzip.BestSpeed
		}
		w, err := gzip.NewWriterLevel(&b, level)
		must(t, err)
		_, err = w.Write(data)
		must(t, err)
		must(t, w.Close())
		return b.Bytes()
	}
	level := zstd.SpeedBetterCompression
	if fast {
		level = zstd.SpeedFastest
	}
	w, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
	must(t, err)
	_, err = w.Write(data)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

// What was packed in a hurry is packed in a hurry again, from files and objects, and nothing else.
func TestOutputsArePackedLikeTheirInputs(t *testing.T) {
	text := prose(t, 9<<20)
	for _, c := range []Compression{Gzip, Zstd} {
		usual, err := codec.CompressorOf(codec.Name(c))
		must(t, err)
		for _, tt := range []struct {
			what string
			text []byte
			fast bool
			want *codec.Compressor
		}{
			{"fast", text, true, usual.Fast},
			{"tight", text, false, usual},
			{"fast, of a small file", text[:1<<20], true, usual},
		} {
			name := "a.lines" + suffix[c]
			stored := packed(t, c, tt.text, tt.fast)
			var want []byte
			for from := 0; from < len(tt.text); from += codec.PartSize {
				out, err := tt.want.Part(nil, tt.text[from:min(from+codec.PartSize, len(tt.text))])
				must(t, err)
				want = append(want, out...)
			}
			if tt.want == usual.Fast && len(want) > len(stored)+len(stored)/50 { // parts are packed apart
				t.Errorf("%s, %s: %d bytes became %d", c, tt.what, len(stored), len(want))
			}
			b := newMemBucket()
			b.put("p/"+name, stored)
			for _, o := range []Options{{}, b.options(Options{ReadAhead: 100_000})} {
				o.Format = Lines
				s := sourceOf(t, name, stored)
				if o.Buckets != nil {
					s = findOne(t, "s3://bucket/p/"+name, o)
				}
				if have := writtenAgain(t, s, o); !bytes.Equal(have, want) {
					t.Errorf("%s, %s: %d bytes, want %d", c, tt.what, len(have), len(want))
				}
			}
		}
	}
}

// writtenAgain returns the bytes of a file that holds all records of a source.
func writtenAgain(t *testing.T, s Source, o Options) []byte {
	t.Helper()
	in, err := Open(t.Context(), s, o)
	must(t, err)
	defer in.Close()
	path := filepath.Join(t.TempDir(), "out")
	w, err := Create(path, s.Compression, 2)
	must(t, err)
	defer w.Abort()
	var b Block
	for first := true; in.Next(&b) == nil; first = false {
		if first {
			w.PackLike(in)
		}
		_, err := w.Write(b.Data())
		must(t, err)
	}
	must(t, w.Commit())
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// Of a damaged or hostile beginning nothing is expected, and little decoded.
func TestOddBeginningsArePackedAsUsual(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		z, err := codec.CompressorOf(codec.Name(c))
		must(t, err)
		head := packed(t, c, prose(t, 1<<20), true)[:headBytes]
		if !z.Fast.Suffices(codec.Name(c), head) {
			t.Errorf("%s: a sound beginning is not", c)
		}
		damaged := bytes.Clone(head)
		for i := range damaged[:200] {
			damaged[i] = 0xff
		}
		zeros := packed(t, c, make([]byte, 64<<20), true)
		for name, head := range map[string][]byte{"empty": nil, "short": head[:7], "damaged": damaged, "zeros": zeros[:min(len(zeros), headBytes)]} {
			if z.Fast.Suffices(codec.Name(c), head) {
				t.Errorf("%s, %s: it suffices", c, name)
			}
		}
	}
}

func TestCutFramesEndBehindTheirLastWholeBlock(t *testing.T) {
	data := packed(t, Zstd, prose(t, 600_000), true)
	data = append(data, 0x52, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 1, 2, 3, 4, 5) // a frame to be skipped
	data = append(data, packed(t, Zstd, append(make([]byte, 300_000), prose(t, 200_000)...), false)...)
	random := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		cut := data[:random.IntN(len(data)+1)]
		whole := cut[:codec.WholeBlocks(cut)]
		want, have := unpackSome(cut), unpackSome(whole)
		if !bytes.Equal(want, have) || len(cut)-len(whole) > 128<<10 || len(cut) == len(data) && len(whole) < len(data) {
			t.Fatalf("of %d bytes the first %d are whole: %d bytes decoded, want %d", len(cut), len(whole), len(have), len(want))
		}
	}
}

// unpackSome decodes as much as there is.
func unpackSome(data []byte) []byte {
	r, err := codec.NewReader(bytes.NewReader(data), codec.Zstd)
	if err != nil {
		return nil
	}
	defer r.Release()
	var b bytes.Buffer
	_, _ = b.ReadFrom(r)
	return b.Bytes()
}
