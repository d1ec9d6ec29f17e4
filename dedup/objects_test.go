package dedup

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/bucketserver"
)

// store is a server with a bucket, called in.
type store struct {
	scheme  string
	env     map[string]string
	put     func(bucket, key string, data []byte)
	traffic *bucketserver.Traffic
	fail    func(bucketserver.Fault)
}

// eachStore runs a test with a new server of every kind.
func eachStore(t *testing.T, test func(t *testing.T, s store)) {
	t.Run("s3", func(t *testing.T) {
		s := bucketserver.StartS3(t, "in")
		test(t, store{"s3", s.Env(), s.Put, &s.Traffic, s.Fail})
	})
	t.Run("gs", func(t *testing.T) {
		s := bucketserver.StartGS(t)
		test(t, store{"gs", s.Env(), s.Put, &s.Traffic, s.Fail})
	})
}

// config returns a Config of a run over the bucket, whose feature sets are made
// of records that are read again.
func (s store) config(t *testing.T) Config {
	for name, value := range s.env {
		t.Setenv(name, value)
	}
	buckets := &objects.Store{}
	t.Cleanup(func() {
		if err := buckets.Close(); err != nil {
			t.Error(err)
		}
	})
	return Config{
		Inputs:  []string{s.scheme + "://in/"},
		Threads: 2,
		Corpus:  corpus.Options{Buckets: buckets.Bucket},
		limits:  limits{retain: 1},
		Decide:  Similarity{Candidates: LSH{}},
	}
}

// author is the text that a record has, with the word at its middle exchanged.
type author struct{ object, record int }

// lines returns an object of n records of JSON, of about 1400 bytes each. copied
// names the author whose text a record nearly has; all others have their own.
func lines(object, n int, copied func(i int) (author, bool)) []byte {
	var out bytes.Buffer
	for i := range n {
		of, ok := copied(i)
		if !ok {
			of = author{object, i}
		}
		rng := rand.New(rand.NewPCG(uint64(of.object), uint64(of.record)))
		words := make([]string, 200)
		for w := range words {
			words[w] = fmt.Sprintf("w%05d", rng.IntN(100_000))
		}
		if ok {
			words[100] = fmt.Sprintf("copy%d-%d", object, i)
		}
		fmt.Fprintf(&out, "{\"id\":\"%d-%d\",\"text\":%q}\n", object, i, strings.Join(words, " "))
	}
	return out.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// count returns the number of requests of a kind, and the bytes of their answers.
func count(requests []bucketserver.Request, kind bucketserver.Kind) (n, size int64) {
	for _, r := range requests {
		if r.Kind == kind {
			n++
			size += r.Bytes
		}
	}
	return n, size
}

// smallObjects returns 20 objects of about 280 kB, in each of which every tenth record
// nearly is one of the object before.
func smallObjects() map[string][]byte {
	all := map[string][]byte{}
	for o := range 20 {
		all[fmt.Sprintf("part-%02d.jsonl", o)] = lines(o, 60, func(i int) (author, bool) {
			return author{o - 1, i - 1}, i%10 == 1 && o > 0
		})
	}
	return all
}

// largeObject returns an object of 4.3 MB whose first three and last two records
// nearly are the same.
func largeObject() map[string][]byte {
	const n = 3000
	return map[string][]byte{"large.jsonl": lines(1, n, func(i int) (author, bool) {
		return author{1, 0}, i == 1 || i == 2 || i >= n-2
	})}
}

func sizeOf(objects map[string][]byte) (size int64) {
	for _, data := range objects {
		size += int64(len(data))
	}
	return size
}

// A pass is a reading of the objects.
func TestEveryPassReadsEachByteOnceInFewRequests(t *testing.T) {
	small, large := smallObjects(), largeObject()
	packed := map[string][]byte{}
	for key, data := range small {
		packed[key+".gz"] = gzipped(t, data)
	}
	const record = 1500
	for _, tt := range []struct {
		name      string
		objects   map[string][]byte
		pass      int64 // requests that read all objects
		runs      int64 // requests for the records that are verified
		runsBytes int64 // at most
	}{
		// One request an object. The records wanted lie so close that each object has
		// one run of them.
		{"small", small, 20, 20, sizeOf(small)},
		// What the first pass has decoded is kept.
		{"small, compressed", packed, 20, 0, 0},
		// 256 KiB, 512 KiB, 1 MiB and two of up to 2 MiB; a run at either end.
		{"large", large, 5, 2, 5 * record},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s store) {
				folder := t.TempDir()
				for key, data := range tt.objects {
					s.put("in", key, data)
					writeFile(t, filepath.Join(folder, key), data)
				}
				config := s.config(t)
				ask := func(passes int64, run func()) {
					t.Helper()
					s.traffic.Take()
					run()
					requests := s.traffic.Take()
					lists, _ := count(requests, bucketserver.List)
					reads, size := count(requests, bucketserver.Read)
					if int(lists+reads) != len(requests) || lists != 1 || reads != passes*tt.pass+tt.runs {
						t.Errorf("%d requests, %d of them lists and %d for bytes, want 1 and %d", len(requests), lists, reads, passes*tt.pass+tt.runs)
					}
					if most := passes*sizeOf(tt.objects) + tt.runsBytes; size > most {
						t.Errorf("%d bytes, want at most %d", size, most)
					}
				}
				ask(1, func() { comparePairs(t, config, folder) })
				ask(2, func() { compareOutputs(t, config, folder) })
			})
		})
	}
}

// local is a Config over the folder in place of the bucket.
func local(config Config, folder string) Config {
	config.Inputs = []string{folder}
	return config
}

// withoutPlace leaves out the input in paths that stand for ids.
func withoutPlace(c Config, s string) string {
	return strings.ReplaceAll(s, strings.TrimSuffix(c.Inputs[0], "/")+"/", "")
}

// comparePairs finds the same pairs in a bucket and in a folder.
func comparePairs(t *testing.T, config Config, folder string) {
	t.Helper()
	find := func(c Config) (all []string) {
		_, err := Pairs(context.Background(), c, func(p Pair) error {
			all = append(all, withoutPlace(c, fmt.Sprintf("%s %s %v", p.A, p.B, p.Similarity)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got, want := find(config), find(local(config, folder)); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%d pairs, %d in the folder", len(got), len(want))
	}
}

// compareOutputs has the same output from a bucket and from a folder.
func compareOutputs(t *testing.T, config Config, folder string) {
	t.Helper()
	run := func(c Config) map[string]string {
		c.Output = filepath.Join(t.TempDir(), "out")
		if _, err := Run(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		files := tree(t, c.Output)
		delete(files, write.SummaryFile) // has times
		for name, content := range files {
			files[name] = withoutPlace(c, content)
		}
		return files
	}
	if got, want := run(config), run(local(config, folder)); !maps.Equal(got, want) || len(got) < 3 {
		t.Errorf("%d files differ from the %d of the folder", len(got), len(want))
	}
}

// Without memory, records are spooled to disk.
func TestObjectsOfEveryFormatGiveTheBytesOfFiles(t *testing.T) {
	folder := mixedCorpus(t, 11)
	header, rows, _ := strings.Cut(tree(t, folder)["b/table.csv"], "\n")
	rows = strings.NewReplacer("doc-", "other-", "\n", " more\n").Replace(rows) // near copies, not equal ones
	writeFile(t, filepath.Join(folder, "b", "packed.csv.gz"), gzipped(t, []byte(header+"\n"+rows)))
	for _, memory := range []int64{0, 1} {
		eachStore(t, func(t *testing.T, s store) {
			for name, data := range tree(t, folder) {
				s.put("in", name, []byte(data))
			}
			config := s.config(t)
			config.limits.memory = memory
			config.Corpus.IDField = "id"
			compareOutputs(t, config, folder)
			comparePairs(t, config, folder)
			// A table is opened in each pass, and never for its header alone. The compressed one is verified
			// from what the first pass has decoded.
			const want = 5
			s.traffic.Take()
			compareOutputs(t, config, folder)
			tables := 0
			for _, r := range s.traffic.Take() {
				if r.Key == "b/packed.csv.gz" || r.Key == "b/table.csv" {
					tables++
				}
			}
			if tables != want {
				t.Errorf("%d requests for two tables in three passes, want %d", tables, want)
			}
		})
	}
}

// Each request is held until as many as are wanted are under way.
func TestManySmallObjectsAreReadAheadOfTheWorkers(t *testing.T) {
	const together = 16
	eachStore(t, func(t *testing.T, s store) {
		for key, data := range smallObjects() {
			s.put("in", key, data[:20_000])
		}
		config := s.config(t)
		config.Threads = 1
		config.Output = filepath.Join(t.TempDir(), "out")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var reads atomic.Int64
		here := make(chan struct{})
		s.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.Contains(r.URL.Path, "part-") {
				if reads.Add(1) == together {
					close(here)
				}
				select {
				case <-here:
				case <-ctx.Done():
				}
			}
			next.ServeHTTP(w, r)
		})
		if _, err := Run(ctx, config); err != nil {
			t.Errorf("%d requests were under way, want %d: %v", reads.Load(), together, err)
		}
	})
}

func TestObjectThatChangesBetweenTwoPassesEndsTheRun(t *testing.T) {
	for _, stage := range []string{"verify", "write"} {
		for _, key := range []string{"part-03.jsonl", "part-03.jsonl.gz"} {
			eachStore(t, func(t *testing.T, s store) {
				data := lines(3, 100, func(i int) (author, bool) { return author{3, 0}, i == 1 || i == 2 })
				changed := bytes.Replace(data, []byte("copy"), []byte("Copy"), 1)
				if strings.HasSuffix(key, ".gz") {
					data, changed = gzipped(t, data), gzipped(t, changed)
				}
				s.put("in", key, data)
				config := s.config(t)
				config.Output = filepath.Join(t.TempDir(), "out")
				config.Corpus.IDField = corpus.NoID
				config.Progress = &atStage{stage: stage, do: func() { s.put("in", key, changed) }}
				if _, err := Run(context.Background(), config); !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), key) {
					t.Errorf("%s, before %s: error %v", key, stage, err)
				}
			})
		}
	}
}

// brokenBucket does not let anything be read once it is broken, by an error of the
// network that wraps io.EOF, as that of a connection does that was closed early.
type brokenBucket struct {
	corpus.Bucket
	broken *atomic.Bool
}

func (b brokenBucket) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	if b.broken.Load() {
		return nil, fmt.Errorf("%w: %w", fs.ErrPermission, &url.Error{Op: "Get", URL: o.Key, Err: io.EOF}) // not tried again
	}
	return b.Bucket.Read(ctx, o, offset, length)
}

func TestNetworkThatBreaksInALaterPassIsNotTakenForAChangedFile(t *testing.T) {
	data := lines(3, 100, func(i int) (author, bool) { return author{3, 0}, i == 1 || i == 2 })
	for _, stage := range []string{"verify", "write"} {
		for key, data := range map[string][]byte{"a.jsonl": data, "a.jsonl.gz": gzipped(t, data)} {
			eachStore(t, func(t *testing.T, s store) {
				s.put("in", key, data)
				config := s.config(t)
				config.Output = filepath.Join(t.TempDir(), "out")
				var broken atomic.Bool
				open := config.Corpus.Buckets
				config.Corpus.Buckets = func(ctx context.Context, url string) (corpus.Bucket, error) {
					b, err := open(ctx, url)
					return brokenBucket{b, &broken}, err
				}
				config.Progress = &atStage{stage: stage, do: func() { broken.Store(true) }}
				_, err := Run(context.Background(), config)
				if errors.Is(err, corpus.ErrChanged) || !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%s, before %s: error %v", key, stage, err)
				}
			})
		}
	}
}
