package dedup

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// fingerprints returns what is written of the signatures of c's inputs.
func fingerprints(t testing.TB, c Config) []byte {
	t.Helper()
	of := Config{Inputs: c.Inputs, Signatures: c.Signatures}
	r, err := of.SketchRecipe()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	if _, err := Sketch(t.Context(), of, func(f Fingerprint) error {
		record := map[string]any{"id": string(f.ID), read.SchemeField: r.Signature(), SignatureField: base64.StdEncoding.EncodeToString(f.Packed)}
		if len(f.ID)%2 == 0 {
			record[SignatureField] = hex.EncodeToString(f.Packed)
		}
		if !utf8.Valid(f.ID) {
			record[IDBytesField] = f.ID
		}
		return lines.Encode(record)
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// asFingerprints returns a configuration that reads fingerprints in place of c's texts.
func asFingerprints(t testing.TB, c Config) Config {
	t.Helper()
	store := func(inputs []string, name string) []string {
		if len(inputs) == 0 {
			return nil
		}
		of := c
		of.Inputs = inputs
		path := filepath.Join(t.TempDir(), name)
		writeFile(t, path, fingerprints(t, of))
		return []string{path}
	}
	c.Fingerprints, c.Inputs = true, store(c.Inputs, "inputs.jsonl")
	if c.modes().Distance == nil {
		bySimilarity(&c, func(s *Similarity) { s.Verify = "" })
	}
	switch b := c.Beside.(type) {
	case With:
		c.Beside = With(store(b, "with.jsonl"))
	case Against:
		c.Beside = Against(store(b, "against.jsonl"))
	}
	return c
}

// storedCases are searches by signatures, for texts.
func storedCases(t testing.TB) map[string]Config {
	t.Helper()
	word, err := recipe.ExLSH(exlsh.Word())
	if err != nil {
		t.Fatal(err)
	}
	kmins, err := minhash.ParseScheme("kmins k=64 bits=8")
	if err != nil {
		t.Fatal(err)
	}
	wide, err := simhash.ParseScheme("simhash bits=100")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Config{
		"oph":            {Decide: Similarity{Verify: recipe.Sketch}},
		"oph, low":       {Decide: Similarity{Verify: recipe.Sketch, Threshold: 0.4}},
		"nothing proved": {Decide: Similarity{Verify: recipe.None}},
		"kmins, 8 bits":  {Decide: Similarity{Verify: recipe.Sketch, Shared: true}, Signatures: OfShingles{Scheme: kmins, Options: shingle.Options{N: 2}}},
		"simhash":        {Decide: Distance(5), Signatures: OfShingles{Scheme: recipe.SimHash(simhash.Default())}},
		"simhash, wide":  {Decide: Distance(12), Signatures: OfShingles{Scheme: recipe.SimHash(wide)}},
		"exlsh":          {Signatures: OfTexts{word}, Decide: Distance(3)},
	}
}

func TestStoredFingerprintsGiveThePairsOfTheirTexts(t *testing.T) {
	dir := t.TempDir()
	sides := [2]string{filepath.Join(dir, "left.jsonl"), filepath.Join(dir, "right.jsonl")}
	for i, path := range sides {
		docs := troubleDocs(uint64(3 + i))
		for j := range docs {
			docs[j].id = fmt.Sprintf("%d-%s", i, docs[j].id)
		}
		for j := range 20 {
			docs = append(docs, testDoc{fmt.Sprintf("%d-both-%d", i, j), strings.Repeat(fmt.Sprintf("what stands on both sides as number %d ", j%15), 3+j%2)})
		}
		raw := fmt.Sprintf("{\"id\":\"not UTF-8 \xff%d\",\"text\":%q}\n", i, docs[len(docs)-1].text)
		writeFile(t, path, []byte(jsonLines(t, docs)+raw))
	}
	for name, c := range storedCases(t) {
		for _, with := range []bool{false, true} {
			c.Inputs = sides[:1]
			if c.Beside = nil; with {
				c.Beside = With(sides[1:])
			}
			want, err := pairsOn(t, t.Context(), vfstest.NewMem(), c)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.lines) < 5 {
				t.Errorf("%s: %d pairs only", name, len(want.lines))
			}
			s := asFingerprints(t, c)
			if c.modes().Verify == recipe.None {
				bySimilarity(&s, func(s *Similarity) { s.Verify = recipe.None })
			}
			for _, memory := range []int64{0, 1} {
				s.Threads, s.limits.memory, s.Work = 1+2*int(memory), memory, WorkFolder{Path: workFolder}
				got, err := pairsOn(t, t.Context(), vfstest.NewMem(), s)
				if err != nil || !slices.Equal(got.lines, want.lines) || !strings.Contains(strings.Join(got.lines, ""), "UTF-8 \xff") {
					t.Errorf("%s, with %v, memory %d: %d pairs, want %d, or others; error %v", name, with, memory, len(got.lines), len(want.lines), err)
				}
			}
		}
	}
}

func TestStoredFingerprintsOfRealTextsGiveTheirPairs(t *testing.T) {
	sets := []string{"bbc_news", "reuters21578"}
	if testsize.Small() {
		sets = sets[:1]
	}
	for _, set := range sets {
		input := shareddata.Path(t, set, "docs.jsonl.zst")
		for _, c := range []Config{{Decide: Similarity{Verify: recipe.Sketch, Threshold: 0.5}}, {Decide: Distance(4), Signatures: OfShingles{Scheme: recipe.SimHash(simhash.Default())}}} {
			c.Inputs = []string{input}
			want, err := pairsOn(t, t.Context(), vfstest.NewMem(), c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pairsOn(t, t.Context(), vfstest.NewMem(), asFingerprints(t, c))
			if err != nil || !slices.Equal(got.lines, want.lines) || len(got.lines) < 100 {
				t.Errorf("%s: %d pairs, want %d, or others; error %v", set, len(got.lines), len(want.lines), err)
			}
		}
	}
}

func TestFingerprintsAreRemovedAsTheirTextsAre(t *testing.T) {
	input, reference := filepath.Join(t.TempDir(), "in.jsonl"), filepath.Join(t.TempDir(), "ref.jsonl")
	docs := troubleDocs(5)
	writeJSONL(t, input, docs[:200])
	writeJSONL(t, reference, docs[200:])
	c := Config{Inputs: []string{input}, Beside: Against{reference}, Decide: Similarity{Verify: recipe.Sketch}}
	want, err := dedupOn(t, t.Context(), vfstest.NewMem(), c)
	if err != nil {
		t.Fatal(err)
	}
	s := asFingerprints(t, c)
	got, err := dedupOn(t, t.Context(), vfstest.NewMem(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got.files[RemovedFile] != want.files[RemovedFile] || got.files[ClustersFile] != want.files[ClustersFile] {
		t.Error("others are removed")
	}
	all, err := os.ReadFile(s.Inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.SplitAfter(got.files[KeptFolder+"/inputs.jsonl"], "\n")
	removed := strings.Count(got.files[RemovedFile], "\n") - 1
	if lines := strings.SplitAfter(string(all), "\n"); len(kept)+removed != len(lines) || removed < 20 {
		t.Errorf("%d lines are kept and %d removed, of %d", len(kept), removed, len(lines))
	}
	for _, line := range kept {
		if !strings.Contains(string(all), line) {
			t.Errorf("a kept line was changed: %s", line)
		}
	}
}

// damagedFingerprints are fingerprints of which some are damaged.
func damagedFingerprints(t testing.TB) (path string, whole int) {
	t.Helper()
	input := filepath.Join(t.TempDir(), "in.jsonl")
	writeJSONL(t, input, troubleDocs(4))
	lines := strings.SplitAfter(string(fingerprints(t, Config{Inputs: []string{input}})), "\n")
	lines = lines[:len(lines)-1]
	for i, old := range []string{`"signature":"`, `"scheme":`, `"signature":"`, `"signature":`} {
		lines[20*i] = strings.Replace(lines[20*i], old, []string{`"signature":"*`, `"schema":`, `"signature":"abcd`, `"sig":`}[i], 1)
	}
	path = filepath.Join(t.TempDir(), "damaged.jsonl")
	writeFile(t, path, []byte(strings.Join(lines, "")))
	return path, len(lines) - 4
}

func TestDamagedFingerprintsAreSkippedWithTheReason(t *testing.T) {
	path, whole := damagedFingerprints(t)
	var skipped []string
	s, err := Pairs(t.Context(), Config{Inputs: []string{path}, Fingerprints: true, OnSkip: func(p *corpus.Problem) { skipped = append(skipped, p.Error()) }},
		func(Pair) error { return nil })
	if err != nil || int(s.Read-s.Skipped) != whole || s.Skipped != 4 {
		t.Fatalf("%+v, error %v", s, err)
	}
	for i, want := range []string{":1: damaged signature (illegal base64", `:21: no field "scheme"`, ":41: damaged signature (minhash: packed signature of ", `:61: no field "signature"`} {
		if !strings.Contains(skipped[i], want) {
			t.Errorf("skipped %s, want %s", skipped[i], want)
		}
	}
}

func TestFingerprintsOfAnotherSchemeEndTheRunAtTheFirst(t *testing.T) {
	path, _ := damagedFingerprints(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for i := 50; i < len(lines); i += 7 {
		lines[i] = strings.Replace(lines[i], " n=5 ", " n=4 ", 1)
	}
	writeFile(t, path, []byte(strings.Join(lines, "")))
	for threads := range 4 {
		c := Config{Inputs: []string{path}, Fingerprints: true, Threads: threads + 1}
		c.Corpus.BlockSize, c.limits.segment = 2000, 2000
		_, err := Pairs(t.Context(), c, func(Pair) error { return nil })
		var p *corpus.Problem
		if !errors.Is(err, ErrScheme) || !errors.As(err, &p) || p.Line != 51 ||
			!strings.Contains(err.Error(), " n=4 ") || !strings.Contains(err.Error(), " n=5 ") {
			t.Errorf("%d threads: %v", threads+1, err)
		}
	}
}

func TestASearchOfFingerprintsGoesOnWhereItWasInterrupted(t *testing.T) {
	path, _ := damagedFingerprints(t)
	c := Config{Inputs: []string{path}, Fingerprints: true, Decide: Similarity{Threshold: 0.5}}
	c.Corpus.BlockSize, c.limits.segment = 2000, 2000
	want, err := pairsOn(t, t.Context(), vfstest.NewMem(), c)
	if err != nil {
		t.Fatal(err)
	}
	mem, stop := vfstest.NewMem(), errors.New("stop")
	c.Work, c.fs = WorkFolder{Path: workFolder}, mem
	emitted := 0
	if _, err := Pairs(t.Context(), c, func(Pair) error {
		if emitted++; emitted == 3 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	got, err := pairsOn(t, t.Context(), mem, c)
	if err != nil || !slices.Equal(got.lines, want.lines) || !slices.Equal(got.skipped, want.skipped) || len(got.skipped) != 4 {
		t.Errorf("%d pairs, want %d, or others; skipped %q, want %q; error %v", len(got.lines), len(want.lines), got.skipped, want.skipped, err)
	}
}

func TestWhatFingerprintsCannotDoIsWrongUsage(t *testing.T) {
	for name, c := range map[string]Config{
		"exact verification":      {Decide: Similarity{Verify: recipe.Exact}},
		"exact candidates":        {Decide: Similarity{Candidates: Exact{}}},
		"a threshold of bits":     {Signatures: OfShingles{Scheme: recipe.SimHash(simhash.Default())}},
		"the longest text":        {Survivors: OnePerCluster{Keep: keepRule(t, "longest")}},
		"a measure of whole sets": {Decide: Similarity{Measure: measure.Cosine}},
	} {
		c.Inputs, c.Fingerprints = []string{"x.jsonl"}, true
		if err := c.Validate(); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFingerprintsAreRecognisedByTheirFirstRecord(t *testing.T) {
	path, _ := damagedFingerprints(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, sound, _ := bytes.Cut(data, []byte("\n"))
	dir := t.TempDir()
	name := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, data)
		return path
	}
	line := "text/v2 nfkc fold words n=5 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1"
	for _, tt := range []struct {
		input string
		stdin string
		want  bool
	}{
		{input: name("a.jsonl", sound), want: true},
		{input: name("blank.jsonl", append([]byte("\n \n"), sound...)), want: true},
		{input: name("b.csv", []byte("id,scheme,signature\nx,"+line+",abc\n")), want: true},
		{input: "-", stdin: string(sound), want: true},
		{input: "-", stdin: "\n" + string(sound), want: true},
		{input: "-", stdin: ""},
		{input: "-", stdin: `{"text":"a"}`},
		{input: name("both.jsonl", []byte(`{"text":"a","signature":"b","scheme":"c"}`))},
		{input: name("texts.jsonl", []byte(`{"text":"a"}`))},
		{input: name("empty.jsonl", nil)},
		{input: name("a.txt", sound)},
		{input: dir},
		{input: filepath.Join(dir, "none.jsonl")},
	} {
		c := Config{Inputs: []string{tt.input}}
		if tt.input == "-" {
			c.Corpus.Stdin = strings.NewReader(tt.stdin)
		}
		got, ok, err := Fingerprinted(t.Context(), &c)
		if err != nil || ok != tt.want || ok && got != line {
			t.Errorf("%s %.20q: %v, %q, error %v", tt.input, tt.stdin, ok, got, err)
		}
		if tt.input == "-" {
			var b bytes.Buffer
			if _, err := b.ReadFrom(c.Corpus.Stdin); err != nil || b.String() != tt.stdin {
				t.Errorf("of standard input %d bytes are left of %d", b.Len(), len(tt.stdin))
			}
		}
	}
}
