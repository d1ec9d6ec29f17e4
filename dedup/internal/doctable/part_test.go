package doctable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// inMemory is a part whose file is in memory.
func inMemory(name PartName, data []byte) *part {
	open := func(string) (vfs.File, error) {
		f, err := vfstest.NewMem().Create("part")
		if err == nil {
			_, err = f.Write(data)
		}
		return f, err
	}
	file, err := durable.NewPool(1, open).Open(name.Name)
	if err != nil {
		panic(err)
	}
	return &part{name, file}
}

// partOf returns a file that is a part but for what its index says.
func partOf(name PartName, index []byte) []byte {
	file := fmt.Appendf(nil, partHeader+"columns of the segments", name.ID, "scheme")
	at := len(file)
	file = (&part{PartName: name}).appendSealed(file, int64(at), func(b []byte) []byte { return append(b, index...) })
	return appendWords(file, []uint64{uint64(at), uint64(len(file) - at), partMagic})
}

// wordsOf is an index of layouts and blocks.
func wordsOf(words ...uint64) []byte { return appendWords(nil, words) }

func FuzzPartIndex(f *testing.F) {
	f.Add(wordsOf(0, 0, 0))
	f.Add(wordsOf(9, 1, 1 /* layout */, 14, 0, 1, 0, 0, 1, 1, 1 /* block */, 0, 1, 0, 0, 0, 3, 14, 2, 1))
	f.Add(wordsOf(9, 1, 1, 14, 0, 1, 0, 0, 1, 1, 1, 0, endOfFile, 0, 7, 0, 0, 0, 0, 0))
	f.Add(wordsOf(0, 1, 0, 0, math.MaxUint64, 0, 0, 0, 0, 0, 0))
	f.Add([]byte("no words"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := PartName{"read-000001.part", 7}
		for _, file := range [][]byte{data, partOf(name, data)} {
			index, err := inMemory(name, file).readIndex("scheme")
			if err != nil {
				if !errors.Is(err, scratch.ErrDamaged) {
					t.Errorf("error %v", err)
				}
				continue
			}
			size := int64(len(file))
			for _, l := range index.segments {
				for _, at := range []int64{l.docsAt(), l.idsAt(), l.valuesAt(), l.keysAt(), l.hashesAt(), l.signaturesAt(), l.featuresAt(), l.end()} {
					if at < 0 || at > size {
						t.Fatalf("a column at %d of %d: %+v", at, size, l)
					}
				}
			}
			for _, b := range index.blocks {
				if b.File < 0 || b.Seq < 0 || int(b.segment) >= len(index.segments) || b.segment < 0 ||
					b.Seq != endOfFile && int64(b.row)+int64(b.Docs) > index.segments[b.segment].rows {
					t.Fatalf("block %+v", b)
				}
				if b.problemsLen > size || b.problemsAt+b.problemsLen > size {
					t.Fatalf("problems at %d, %d bytes of %d", b.problemsAt, b.problemsLen, size)
				}
			}
		}
	})
}

func TestAPartOpensAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		w := scratch.New(scratch.Options{FS: vfstest.NewMem(), Scheme: "scheme"})
		if err := w.Keep("work"); err != nil {
			t.Fatal(err)
		}
		p, err := newPartWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		p.features = rng.Int64()
		for range rapid.IntRange(0, 4).Draw(t, "segments") {
			s := &segment{resident: true}
			size := tableSize{bands: rng.IntN(3), k: rng.IntN(3), sets: rng.IntN(2), values: rng.IntN(2) == 0}
			var of []Block
			for range rng.IntN(4) {
				b := Block{File: rng.Int32(), Seq: rng.Int64(), row: uint32(len(s.docs)), Docs: uint32(rng.IntN(4)), Lines: rng.Int64(), Piece: rng.Int32()}
				for i := range b.Docs {
					d := someDocument(rng, size, int(i))
					addPlain(s, &d, size.bands)
				}
				if rng.IntN(2) == 0 {
					b.problems = appendProblem(nil, 1, nil, errors.New("something"))
				}
				of = append(of, b)
			}
			s.seal(size.bands)
			if err := p.add(s, of, size.bands, size.k, rng.IntN(2) == 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(p.seal(), p.part.file.Close()); err != nil {
			t.Fatal(err)
		}
		opened, index, err := openPart(w, p.part.PartName)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.file.Close()
		if index.features != p.features || !reflect.DeepEqual(index.segments, p.segments) || !reflect.DeepEqual(index.blocks, p.blocks) {
			t.Errorf("%+v\nwant %d, %+v, %+v", index, p.features, p.segments, p.blocks)
		}
		w.Scheme = "another scheme"
		if _, _, err := openPart(w, p.part.PartName); !errors.Is(err, scratch.ErrDamaged) {
			t.Errorf("a part of another scheme: error %v", err)
		}
	})
}

func TestProblemsAreReadAsTheyWereMet(t *testing.T) {
	all := []error{
		corpus.ErrMalformed, corpus.ErrMissingField, corpus.ErrNotString, corpus.ErrTooLong, corpus.ErrFieldCount, corpus.ErrTruncated, corpus.ErrCorrupt,
		corpus.ErrChanged, corpus.ErrUnsupported, corpus.ErrBomb, fault.ErrScheme, errors.New("another"), fs.ErrNotExist, fs.ErrPermission,
	}
	var problems []byte
	for i, err := range all {
		problems = appendProblem(problems, int64(i)-3, bytes.Repeat([]byte("i"), i*20), &corpus.Problem{Path: "p", Err: err})
	}
	for i, want := range all {
		p, rest, damage := nextProblem(problems)
		if damage != nil {
			t.Fatal(damage)
		}
		problems = rest
		if p.line != int64(i)-3 || p.id != strings.Repeat("i", i*20) || p.err.Error() != (&corpus.Problem{Path: "p", Err: want}).Error() {
			t.Errorf("%+v, want line %d: %v", p, i-3, want)
		}
		if fault.KindNumber(want) != 0 && !errors.Is(p.err, want) {
			t.Errorf("%v is not %v", p.err, want)
		}
	}
	if len(problems) > 0 {
		t.Errorf("%d bytes are left", len(problems))
	}
}

func FuzzProblems(f *testing.F) {
	f.Add([]byte{}, int64(0), "", "")
	f.Add(appendProblem(nil, 7, []byte("a"), corpus.ErrBomb), int64(7), "id", "text")
	f.Add(appendProblem(nil, -1, nil, errors.New("")), int64(math.MinInt64), "\x00", "\x00")
	f.Fuzz(func(t *testing.T, data []byte, line int64, id, text string) {
		for rest := data; len(rest) > 0; {
			problem, next, err := nextProblem(rest)
			if err != nil {
				if !errors.Is(err, scratch.ErrDamaged) {
					t.Errorf("error %v", err)
				}
				break
			}
			if len(next) >= len(rest) {
				t.Fatal("no end")
			}
			_ = problem.err.Error()
			rest = next
		}
		// A length that fits what follows.
		framed := appendProblem(nil, line, []byte(id), errors.New(text))
		binary.LittleEndian.PutUint32(framed, uint32(len(framed)-4))
		got, rest, err := nextProblem(append(framed, data...))
		if err != nil || got.line != line || got.id != id || got.err.Error() != text || !bytes.Equal(rest, data) {
			t.Errorf("%+v, %d bytes, %v", got, len(rest), err)
		}
	})
}
