package dedup

import (
	"archive/tar"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"unicode"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// The parallel MinHash program in C whose figures bench/RESULTS.md has: 54
// characters a shingle, 200 signatures, and what it prints, pairs that share more
// than 5.
const (
	broderLength = 54
	broderCount  = 200
	broderLeast  = 6
)

// broderConfig makes alike agree with it.
func broderConfig(numbers []uint64, inputs ...string) Config {
	s, err := minhash.Permutations(numbers, 32)
	if err != nil {
		panic(err)
	}
	return Config{
		Inputs:     inputs,
		Decide:     Similarity{Threshold: float64(broderLeast) / broderCount, Verify: recipe.Sketch, Shared: true, Candidates: Bands{Bands: broderCount, Rows: 1, MinBands: broderLeast}},
		Signatures: OfShingles{Options: shingle.Options{Text: text.Options{Tokens: text.ASCII}, N: broderLength, Hash: shingle.FNV1}, Scheme: s},
	}
}

// slowBroder does what the program does: the characters that are left of a text,
// the FNV-1 hash of every 54 of them, the minimum of all hashes under the identity and
// 199 xors, and every two documents that have more than 5 minima in common.
func slowBroder(numbers []uint64, docs [][]byte) map[[2]int]int {
	signatures := make([][]uint64, len(docs))
	for i, doc := range docs {
		var kept []byte
		for _, c := range doc {
			if c < 0x80 && !unicode.IsSpace(rune(c)) {
				kept = append(kept, byte(unicode.ToLower(rune(c))))
			}
		}
		signature := slices.Repeat([]uint64{1<<64 - 1}, len(numbers)+1)
		for j := 0; j+broderLength <= len(kept); j++ {
			h := uint64(14695981039346656037)
			for _, c := range kept[j : j+broderLength] {
				h = h*1099511628211 ^ uint64(c)
			}
			signature[0] = min(signature[0], h)
			for k, r := range numbers {
				signature[k+1] = min(signature[k+1], h^r)
			}
		}
		signatures[i] = signature
	}
	pairs := map[[2]int]int{}
	for a := range docs {
		for b := a + 1; b < len(docs); b++ {
			shared := 0
			for k, x := range signatures[a] {
				if x == signatures[b][k] {
					shared++
				}
			}
			if shared >= broderLeast {
				pairs[[2]int{a, b}] = shared
			}
		}
	}
	return pairs
}

// broderPairs returns the pairs that a run finds, with what they share.
func broderPairs(t *testing.T, c Config) map[[2]string]int {
	t.Helper()
	pairs := map[[2]string]int{}
	_, err := Pairs(context.Background(), c, func(p Pair) error {
		ids := []string{filepath.Base(string(p.A)), filepath.Base(string(p.B))}
		slices.Sort(ids)
		pairs[[2]string(ids)] = p.Shared
		if want := float64(p.Shared) / broderCount; p.Similarity != want {
			t.Errorf("%v share %d: similarity %v, want %v", ids, p.Shared, p.Similarity, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

func randomNumbers(seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 0))
	numbers := make([]uint64, broderCount-1)
	for i := range numbers {
		numbers[i] = r.Uint64()
	}
	return numbers
}

func TestBroderPairsAreThoseOfTheSlowTwinForAnyNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	passages := make([]string, 40)
	for i := range passages {
		for range 40 {
			passages[i] += fmt.Sprintf("W%x é\t", r.IntN(5000))
		}
	}
	dir := t.TempDir()
	docs := make([][]byte, 60)
	for i := range docs {
		for range 1 + r.IntN(8) {
			docs[i] = append(docs[i], passages[r.IntN(len(passages))]...)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d", i)), docs[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(3) {
		numbers := randomNumbers(seed)
		want := map[[2]string]int{}
		for p, shared := range slowBroder(numbers, docs) {
			want[[2]string{fmt.Sprintf("%03d", p[0]), fmt.Sprintf("%03d", p[1])}] = shared
		}
		for _, threads := range []int{1, 3} {
			c := broderConfig(numbers, dir)
			c.Threads = threads
			checkShared(t, broderPairs(t, c), want)
		}
	}
}

func checkShared(t *testing.T, got, want map[[2]string]int) {
	t.Helper()
	for p, shared := range want {
		if got[p] != shared {
			t.Errorf("%v share %d, want %d", p, got[p], shared)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d pairs, want %d", len(got), len(want))
	}
}

// broderFolders unpacks some of the folders that the program was published with.
func broderFolders(t *testing.T, folders ...string) (dir string, golden map[string]map[[2]string]int) {
	t.Helper()
	dir = t.TempDir()
	for in := tar.NewReader(shareddata.Open(t, "wiki_folders", "folders.tar.zst")); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Clean(h.Name)
		if h.Typeflag != tar.TypeReg || !slices.Contains(folders, filepath.Base(filepath.Dir(name))) {
			continue
		}
		path := filepath.Join(dir, filepath.Base(filepath.Dir(name)), filepath.Base(name))
		data, err := io.ReadAll(in)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, broderGolden(t)
}

// broderGolden returns what the program prints, by folder.
func broderGolden(t *testing.T) map[string]map[[2]string]int {
	t.Helper()
	rows, err := csv.NewReader(shareddata.Open(t, "..", "golden", "wiki_folders_pairs.csv")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]map[[2]string]int{}
	for _, row := range rows[1:] {
		if golden[row[0]] == nil {
			golden[row[0]] = map[[2]string]int{}
		}
		ids := []string{row[1], row[2]}
		slices.Sort(ids)
		if golden[row[0]][[2]string(ids)], err = strconv.Atoi(row[3]); err != nil {
			t.Fatal(err)
		}
	}
	return golden
}

// With other numbers the pairs that share all 200 are the same, and what the others
// share agrees within sampling error. With the program's own numbers, constants of
// github.com/themrpink/Parallel-Minhash-in-C, everything is the same.
func TestBroderPairsAgreeWithTheOriginalProgram(t *testing.T) {
	folders := []string{"verysmall", "small"}
	dir, golden := broderFolders(t, folders...)
	for _, folder := range folders {
		got, want := broderPairs(t, broderConfig(randomNumbers(9), filepath.Join(dir, folder))), golden[folder]
		for p, shared := range want {
			if shared == broderCount && got[p] != shared {
				t.Errorf("%s: %v share %d, want all", folder, p, got[p])
			}
		}
		for p, shared := range got {
			// Four standard deviations of a share of 0.05 are 12 of 200.
			if shared == broderCount && want[p] != shared || shared > 24 && shared-want[p] > 24 {
				t.Errorf("%s: %v share %d, want %d", folder, p, shared, want[p])
			}
		}
	}
	t.Run("its own numbers", func(t *testing.T) {
		file, err := os.Open("testdata/broder_numbers.txt")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		numbers, err := minhash.ReadNumbers(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			checkShared(t, broderPairs(t, broderConfig(numbers, filepath.Join(dir, folder))), golden[folder])
		}
	})
}
