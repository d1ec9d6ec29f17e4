package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeBase writes a base of numbered sentences and returns its path.
func writeBase(t *testing.T, dir string) string {
	t.Helper()
	var lines bytes.Buffer
	for i := range 200 {
		var text strings.Builder
		for j := range 10 {
			for k := range 12 {
				fmt.Fprintf(&text, "w%x ", (i*10+j)*31+k*k*k*7)
			}
			text.WriteString("end. ")
		}
		if err := json.NewEncoder(&lines).Encode(map[string]string{"text": text.String()}); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "base.jsonl")
	if err := os.WriteFile(name, lines.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// generate runs the command.
func generate(t *testing.T, args ...string) {
	t.Helper()
	c, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(c, io.Discard); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestThreadsDoNotChangeTheCorpus(t *testing.T) {
	dir := t.TempDir()
	base := writeBase(t, dir)
	var want, wantTruth []byte
	for _, threads := range []string{"1", "2", "7"} {
		corpus, truth := filepath.Join(dir, "corpus"+threads), filepath.Join(dir, "truth"+threads)
		generate(t, "-size", "1MB", "-words", "20-100", "-duplicates", "0.3", "-threads", threads, "-o", corpus, "-truth", truth, base)
		got, gotTruth := read(t, corpus), read(t, truth)
		if want == nil {
			want, wantTruth = got, gotTruth
		}
		if !bytes.Equal(got, want) || !bytes.Equal(gotTruth, wantTruth) {
			t.Errorf("%s threads make another corpus than 1", threads)
		}
	}
	if len(want) < 1_000_000 || len(want) > 1_030_000 {
		t.Errorf("the corpus has %d bytes", len(want))
	}
	if pairs := bytes.Count(wantTruth, []byte("\n")) - 1; pairs < 500 {
		t.Errorf("%d pairs are planted", pairs)
	}
}

func TestShardsTogetherAreTheCorpus(t *testing.T) {
	dir := t.TempDir()
	base := writeBase(t, dir)
	for _, size := range [][]string{{"-size", "600kB"}, {"-documents", "2000"}} {
		one, many := filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "many.jsonl")
		args := append(size, "-words", "20-100")
		generate(t, append(args, "-o", one, base)...)
		generate(t, append(args, "-o", many, "-shards", "3", base)...)
		var all []byte
		whole := read(t, one)
		for i := 1; i <= 3; i++ {
			part := read(t, filepath.Join(dir, fmt.Sprintf("many-%04d.jsonl", i)))
			if len(part) < len(whole)/5 {
				t.Errorf("%v: shard %d has %d of %d bytes", size, i, len(part), len(whole))
			}
			all = append(all, part...)
		}
		if !bytes.Equal(all, whole) {
			t.Errorf("%v: the shards are not the corpus", size)
		}
	}
}

func TestCompressedFilesHoldTheSame(t *testing.T) {
	dir := t.TempDir()
	base := writeBase(t, dir)
	plain := filepath.Join(dir, "corpus.jsonl")
	generate(t, "-documents", "100", "-o", plain, base)
	for _, suffix := range []string{".gz", ".zst"} {
		generate(t, "-documents", "100", "-o", plain+suffix, base)
		f, err := os.Open(plain + suffix)
		if err != nil {
			t.Fatal(err)
		}
		r, err := decompressor(f, plain+suffix)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, read(t, plain)) {
			t.Errorf("%s: another corpus, %v", suffix, err)
		}
		f.Close()
	}
}

func TestExactlyTheDocumentsAskedForAreMade(t *testing.T) {
	dir := t.TempDir()
	base := writeBase(t, dir)
	for _, n := range []string{"1", "63", "64", "65", "1000"} {
		corpus := filepath.Join(dir, "corpus")
		generate(t, "-documents", n, "-words", "10-30", "-duplicates", "0.5", "-o", corpus, base)
		if got := fmt.Sprint(bytes.Count(read(t, corpus), []byte("\n"))); got != n {
			t.Errorf("%s documents were asked for, %s made", n, got)
		}
	}
}

func TestWrongUsageIsRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"no output":    {"-size", "1MB", "base"},
		"no base":      {"-size", "1MB", "-o", "x"},
		"no size":      {"-o", "x", "base"},
		"odd size":     {"-size", "1XB", "-o", "x", "base"},
		"odd range":    {"-size", "1MB", "-words", "3-2", "-o", "x", "base"},
		"odd rate":     {"-size", "1MB", "-edits", "a-b", "-o", "x", "base"},
		"no shards":    {"-size", "1MB", "-shards", "0", "-o", "x", "base"},
		"no threads":   {"-size", "1MB", "-threads", "0", "-o", "x", "base"},
		"unknown flag": {"-sizes", "1MB"},
	} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestADamagedBaseIsNamedWithItsLine(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "base.jsonl")
	for text, want := range map[string]string{
		"{\"text\":\"a b c d e\"}\n{\"text\":": "line 2",
		"{\"body\":\"a b c d e\"}\n":           "-text-field",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := readBases([]string{name}, "text", false)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v names no %s", text, err, want)
		}
	}
}
