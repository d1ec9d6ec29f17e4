package dedup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// hexWords is a text scheme whose texts are its signatures in hexadecimal.
type hexWords int

func (s hexWords) String() string                   { return fmt.Sprintf("hex/v1 bytes=%d", int(s)) }
func (s hexWords) Size() int                        { return int(s) }
func (s hexWords) HammingBits() int                 { return 8 * int(s) }
func (s hexWords) NewSketcher() recipe.TextSketcher { return s }

func (s hexWords) AppendSketch(dst, text []byte) ([]byte, int) {
	if len(text) == 0 {
		return append(dst, make([]byte, s)...), 0
	}
	sig, err := hex.DecodeString(string(text))
	if err != nil || len(sig) != int(s) {
		panic("a text that is no signature")
	}
	return append(dst, sig...), 1
}

// planted returns n fingerprints: random ones, some with neighbours some bits away, copies,
// and some that are equal but for the bits at one end, so that they meet in many buckets.
func planted(rng *rand.Rand, n, size, d int) [][]byte {
	all := make([][]byte, n)
	template := make([]byte, size)
	for i := range all {
		f := make([]byte, size)
		switch {
		case i > 0 && i%3 == 0:
			copy(f, all[rng.IntN(i)])
			for range rng.IntN(d + 3) {
				bit := rng.IntN(8 * size)
				f[bit/8] ^= 1 << (bit % 8)
			}
		case i%3 == 1 && i%2 == 0:
			copy(f, template)
			f[0], f[1] = byte(rng.Uint32()), byte(rng.Uint32())
		default:
			for j := range f {
				f[j] = byte(rng.Uint32())
			}
		}
		all[i] = f
	}
	return all
}

func hammingDistance(a, b []byte) (d int) {
	for i := range a {
		d += bits.OnesCount8(a[i] ^ b[i])
	}
	return d
}

// within returns the pairs of brute force as Pairs should list them, by names from 0 on.
func within(all [][]byte, d int) (pairs []string) {
	for i, a := range all {
		for j := i + 1; j < len(all); j++ {
			if dist := hammingDistance(a, all[j]); dist <= d {
				pairs = append(pairs, fmt.Sprintf("%d %d %.6f", i, j, 1-float64(dist)/float64(8*len(a))))
			}
		}
	}
	return pairs
}

// writeHex writes fingerprints as documents, and two without any.
func writeHex(t *testing.T, all [][]byte) string {
	t.Helper()
	var b strings.Builder
	for i, f := range all {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":\"%x\"}\n", i, f)
	}
	b.WriteString("{\"id\":\"x\",\"text\":\"\"}\n{\"id\":\"y\",\"text\":\"\"}\n")
	path := filepath.Join(t.TempDir(), "in.jsonl")
	writeFile(t, path, []byte(b.String()))
	return path
}

func TestPairsWithinADistanceAreThoseOfBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	capped := int64(0)
	for _, size := range []int{8, 32, 5} {
		for d := range 9 {
			if size == 5 && d > 4 {
				continue
			}
			all := planted(rng, 400, size, d)
			path, want := writeHex(t, all), within(all, d)
			for i, c := range []Config{{Threads: 1}, {Threads: 3, BucketCap: 25}, {Threads: 2, BucketCap: 25, limits: limits{memory: 1, segment: 1 << 10}}} {
				c.Inputs, c.Signatures, c.Decide = []string{path}, OfTexts{hexWords(size)}, Distance(d)
				var notices, got []string
				c.OnNotice = func(n Notice) { notices = append(notices, n.String()) }
				summary, err := Pairs(context.Background(), c, func(p Pair) error {
					got = append(got, fmt.Sprintf("%s %s %.6f", p.A, p.B, p.Similarity))
					return nil
				})
				if err != nil || !slices.Equal(got, want) || len(notices) != 1 {
					t.Errorf("%d bytes, distance %d, way %d: %v, %d pairs, want %d (%q)", size, d, i, err, len(got), len(want), notices)
				}
				if summary != nil && (summary.Decision != fmt.Sprintf("hamming<=%d", d)) {
					t.Errorf("summary %+v", summary)
				}
				if i > 0 && summary != nil {
					capped += summary.BucketsCapped
				}
			}
		}
	}
	if capped < 100 {
		t.Errorf("%d buckets over the cap: too few to tell", capped)
	}
}

// What cannot be afforded is told, with a number.
func TestHotBucketsOfFingerprintsThatCostTooMuchAreTold(t *testing.T) {
	all := make([][]byte, 200)
	for i := range all { // distinct, and all in the same buckets but for those of the first bits
		all[i] = []byte{byte(i), byte(i * 7), 0, 0, 0, 0, 0, 0}
	}
	want := within(all, 2)
	for budget, complete := range map[float64]bool{0: true, 1: false} {
		var notices []string
		c := Config{
			Inputs:     []string{writeHex(t, all)},
			BucketCap:  10,
			limits:     limits{hot: budget},
			OnNotice:   func(n Notice) { notices = append(notices, n.String()) },
			Signatures: OfTexts{hexWords(8)},
			Decide:     Distance(2),
		}
		n := 0
		if _, err := Pairs(context.Background(), c, func(Pair) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(notices, func(s string) bool {
			return strings.Contains(s, "buckets of more than 10: 200 ") && strings.Contains(s, "BucketCap")
		})
		if complete == told || complete != (n == len(want)) {
			t.Errorf("budget %v: %d of %d pairs, notices %q", budget, n, len(want), notices)
		}
	}
}

// Clusters by distance are those of all pairs, in memory and on disk, and for any number of threads.
func TestClustersByDistanceAreTheSameHoweverTheyAreMade(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	all := planted(rng, 3000, 8, 3)
	base := Config{Inputs: []string{writeHex(t, all)}, Threads: 1, BucketCap: 20, Signatures: OfTexts{hexWords(8)}, Decide: Distance(3)}
	want, err := commands[0].on(t, context.Background(), vfstest.NewMem(), base)
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(c *Config){
		func(c *Config) { c.Threads = 3 },
		func(c *Config) { c.Work, c.limits = WorkFolder{Path: workFolder}, limits{memory: 1, segment: 1 << 10} },
	} {
		c := base
		change(&c)
		got, err := commands[0].on(t, context.Background(), vfstest.NewMem(), c)
		if err != nil {
			t.Fatal(err)
		}
		if d := got.differsFrom(want); d != "" {
			t.Errorf("way %d: %s", i, d)
		}
	}
}

func TestADistanceIsOneOfBits(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"scheme":   func(c *Config) { c.Signatures = nil },
		"far":      func(c *Config) { c.Decide = Distance(64) },
		"negative": func(c *Config) { c.Decide = Distance(-1) },
	} {
		c := Config{Inputs: []string{"x"}, Signatures: OfTexts{hexWords(8)}, Decide: Distance(3)}
		change(&c)
		if _, err := Pairs(context.Background(), c, func(Pair) error { return nil }); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run by distance that is killed before any write goes on to the same bytes.
func TestRunsByDistanceGoOnWhereTheyWereKilled(t *testing.T) {
	all := planted(rand.New(rand.NewPCG(9, 7)), 90, 8, 1)
	config := Config{Inputs: []string{writeHex(t, all)}, Threads: 1, BucketCap: 4, Signatures: OfTexts{hexWords(8)}, Decide: Distance(1), Work: WorkFolder{Path: workFolder}}
	config.limits = limits{memory: 1, segment: 1 << 10, part: 1, due: func() bool { return true }}
	for _, command := range commands[:2] {
		want, err := command.on(t, context.Background(), vfstest.NewMem(), config)
		if err != nil {
			t.Fatal(err)
		}
		killed := 0
		for n := 1; ; n += 29 {
			left, stopped := command.stop(t, config, vfstest.NewMem(), n, nil, want)
			if !stopped {
				break
			}
			killed++
			if err := left.Remove(workFolder + "/alike.lock"); err != nil && !errors.Is(err, os.ErrNotExist) { // of the killed process
				t.Fatal(err)
			}
			command.stop(t, config, left, 1<<30, nil, want)
		}
		if killed < 10 {
			t.Errorf("killed %d times: too few to tell", killed)
		}
	}
}
