package dedup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/journal"
)

// inMemory is a part whose file is in memory.
func inMemory(name partName, data []byte) *part {
	open := func(string) (vfs.File, error) { return vfs.NewMemFile(data), nil }
	file, err := durable.NewPool(1, open).Open(name.Name)
	if err != nil {
		panic(err)
	}
	return &part{name, file}
}

// partOf returns a file that is a part but for what its index says.
func partOf(name partName, index []byte) []byte {
	file := fmt.Appendf(nil, partHeader+"columns of the segments", name.ID, "scheme")
	at := len(file)
	file = (&part{partName: name}).appendSealed(file, int64(at), func(b []byte) []byte { return append(b, index...) })
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
		name := partName{"read-000001.part", 7}
		for _, file := range [][]byte{data, partOf(name, data)} {
			index, err := inMemory(name, file).readIndex("scheme")
			if err != nil {
				if !errors.Is(err, errDamaged) {
					t.Errorf("error %v", err)
				}
				continue
			}
			size := int64(len(file))
			for _, l := range index.segments {
				for _, at := range []int64{l.docsAt(), l.idsAt(), l.valuesAt(), l.keysAt(), l.signaturesAt(), l.featuresAt(), l.end()} {
					if at < 0 || at > size {
						t.Fatalf("a column at %d of %d: %+v", at, size, l)
					}
				}
			}
			for _, b := range index.blocks {
				if b.file < 0 || b.seq < 0 || int(b.segment) >= len(index.segments) || b.segment < 0 ||
					b.seq != endOfFile && int64(b.row)+int64(b.docs) > index.segments[b.segment].rows {
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
		w := &workspace{fs: vfs.NewMem(), scheme: "scheme"}
		if err := w.fs.MkdirAll("work", 0o755); err != nil {
			t.Fatal(err)
		}
		w.path = "work"
		p, err := w.createPart()
		if err != nil {
			t.Fatal(err)
		}
		p.features = rng.Int64()
		for range rapid.IntRange(0, 4).Draw(t, "segments") {
			s := &segment{resident: true}
			size := tableSize{bands: rng.IntN(3), k: rng.IntN(3)}
			var of []block
			for range rng.IntN(4) {
				b := block{file: rng.Int32(), seq: rng.Int64(), row: uint32(len(s.docs)), docs: uint32(rng.IntN(4)), lines: rng.Int64(), piece: rng.Int32()}
				for i := range b.docs {
					d := someDocument(rng, size, int(i))
					addPlain(s, &d)
				}
				if rng.IntN(2) == 0 {
					b.problems = appendProblem(nil, 1, errors.New("something"))
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
		opened, index, err := w.openPart(p.part.partName)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.file.Close()
		if index.features != p.features || !reflect.DeepEqual(index.segments, p.segments) || !reflect.DeepEqual(index.blocks, p.blocks) {
			t.Errorf("%+v\nwant %d, %+v, %+v", index, p.features, p.segments, p.blocks)
		}
		w.scheme = "another scheme"
		if _, _, err := w.openPart(p.part.partName); !errors.Is(err, errDamaged) {
			t.Errorf("a part of another scheme: error %v", err)
		}
	})
}

// A part may hold the end of a file of which another worker's part, with the blocks
// before it, was lost. The end is then read again with those, into a third part, and
// whoever goes on after that finds two.
func TestTheEndOfAFileThatWasReadTwiceCountsOnce(t *testing.T) {
	c := Config{Work: workFolder, fs: vfs.NewMem()}.withDefaults()
	w := newWorkspace(&c, "signatures")
	for range 2 { // the journal knows what was there when it was opened
		j, err := journal.Open(w.fs, workFolder, func(func(journal.Setting) bool) {}, false)
		if err != nil {
			t.Fatal(err)
		}
		w.path, w.log = workFolder, &log{work: w, journal: j}
		if j.Resumed() {
			break
		}
		broken := appendProblem(nil, ^int64(7), corpus.ErrTruncated)
		for _, of := range [][]block{
			{{seq: 0}, {seq: endOfFile, row: 2, problems: broken}},
			{{seq: 1}, {seq: endOfFile, row: 2, problems: broken}},
		} {
			p, err := w.createPart()
			if err != nil {
				t.Fatal(err)
			}
			s := &segment{}
			if err := errors.Join(p.add(s, of, 0, 0, false), p.seal(), p.part.file.Close(), w.log.note(partKind, p.part.partName)); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	defer w.log.journal.Close()
	r := &reader{config: &c, work: w, sources: make([]corpus.Source, 1), parts: &partLog{log: w.log}, t: &table{}}
	if err := r.restore(); err != nil {
		t.Fatal(err)
	}
	defer r.t.close()
	if len(r.t.blocks) != 3 || r.resume.wanted(0) {
		t.Errorf("%d blocks: %+v", len(r.t.blocks), r.t.blocks)
	}
}

func TestProblemsAreReadAsTheyWereMet(t *testing.T) {
	all := append(kinds[1:], errors.New("another"), fs.ErrNotExist)
	var problems []byte
	for i, err := range all {
		problems = appendProblem(problems, int64(i)-3, &corpus.Problem{Path: "p", Err: err})
	}
	for i, want := range all {
		line, err, rest, damage := nextProblem(problems)
		if damage != nil {
			t.Fatal(damage)
		}
		problems = rest
		if line != int64(i)-3 || err.Error() != (&corpus.Problem{Path: "p", Err: want}).Error() {
			t.Errorf("line %d: %v, want %d: %v", line, err, i-3, want)
		}
		if kindOf(want) != 0 && !errors.Is(err, want) {
			t.Errorf("%v is not %v", err, want)
		}
	}
	if len(problems) > 0 {
		t.Errorf("%d bytes are left", len(problems))
	}
}

func FuzzProblems(f *testing.F) {
	f.Add([]byte{}, int64(0), "")
	f.Add(appendProblem(nil, 7, corpus.ErrBomb), int64(7), "text")
	f.Add(appendProblem(nil, -1, errors.New("")), int64(math.MinInt64), "\x00")
	f.Fuzz(func(t *testing.T, data []byte, line int64, text string) {
		for rest := data; len(rest) > 0; {
			_, problem, next, err := nextProblem(rest)
			if err != nil {
				if !errors.Is(err, errDamaged) {
					t.Errorf("error %v", err)
				}
				break
			}
			if len(next) >= len(rest) {
				t.Fatal("no end")
			}
			_ = problem.Error()
			rest = next
		}
		// A length that fits what follows.
		framed := appendProblem(nil, line, errors.New(text))
		binary.LittleEndian.PutUint32(framed, uint32(len(framed)-4))
		gotLine, got, rest, err := nextProblem(append(framed, data...))
		if err != nil || gotLine != line || got.Error() != text || !bytes.Equal(rest, data) {
			t.Errorf("%d, %v, %d bytes, %v", gotLine, got, len(rest), err)
		}
	})
}
