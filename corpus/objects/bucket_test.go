package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects/cloudblob"
	"github.com/alike-dev/alike/internal/bucketserver"
)

func TestMain(m *testing.M) {
	usualPatience.pause = time.Microsecond
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func setEnv(t testing.TB, env map[string]string) {
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// newStore returns a store that lives as long as the test.
func newStore(t testing.TB) *Store {
	s := &Store{}
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// open opens a bucket for the test.
func open(t testing.TB, url string) corpus.BucketWriter {
	t.Helper()
	b, err := newStore(t).Bucket(t.Context(), url)
	must(t, err)
	return b.(corpus.BucketWriter)
}

func noise(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(data) // never fails
	return data
}

// smallPart is the size of parts and chunks in tests.
const smallPart = 512 << 10

// every runs a test on a new bucket of every kind.
func every(t *testing.T, test func(t *testing.T, b corpus.BucketWriter)) {
	t.Run("s3", func(t *testing.T) {
		setEnv(t, bucketserver.StartS3(t, "bucket").Env())
		b := open(t, "s3://bucket").(*s3Bucket)
		b.filePart, b.streamPart = smallPart, smallPart
		test(t, b)
	})
	t.Run("gs", func(t *testing.T) {
		server := bucketserver.StartGS(t)
		server.Page = 400
		setEnv(t, server.Env())
		b := open(t, "gs://bucket").(*gsBucket)
		b.chunk = smallPart
		test(t, b)
	})
	t.Run("mem", func(t *testing.T) {
		b := memblob.OpenBucket(nil)
		defer b.Close()
		test(t, cloudblob.New(b))
	})
	t.Run("file", func(t *testing.T) {
		b, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
		must(t, err)
		defer b.Close()
		test(t, cloudblob.New(b))
	})
}

func put(t testing.TB, b corpus.BucketWriter, key string, data []byte) {
	t.Helper()
	must(t, b.Upload(t.Context(), key, bytes.NewReader(data), int64(len(data))))
}

func list(t testing.TB, b corpus.Bucket, prefix string) (keys []string) {
	t.Helper()
	must(t, b.List(t.Context(), prefix, func(o corpus.Object) error {
		keys = append(keys, o.Key)
		return nil
	}))
	slices.Sort(keys) // stores may have an order of their own
	return keys
}

// content reads an object whole, in ranges.
func content(t testing.TB, b corpus.Bucket, key string) []byte {
	t.Helper()
	o, err := b.Stat(t.Context(), key)
	must(t, err)
	data := []byte{}
	for size := o.Size; int64(len(data)) < size; {
		at := int64(len(data))
		r, err := b.Read(t.Context(), o, at, min(size-at, 300<<10))
		must(t, err)
		part, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		data = append(data, part...)
	}
	return data
}

func TestWhatIsUploadedIsListedAndRead(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		keys := []string{"a.b", "a/b/c", "a/b/d", "a/c", "b", "ü/ö +&%.txt"} // as files can have them, too
		for i, key := range keys {
			put(t, b, key, noise(i*1000))
		}
		if got := list(t, b, ""); !slices.Equal(got, keys) {
			t.Errorf("keys %q, want %q", got, keys)
		}
		if got := list(t, b, "a/"); !slices.Equal(got, keys[1:4]) {
			t.Errorf("keys %q, want %q", got, keys[1:4])
		}
		for i, key := range keys {
			if !bytes.Equal(content(t, b, key), noise(i*1000)) {
				t.Errorf("%s is not what was uploaded", key)
			}
		}
		stop := errors.New("enough")
		if err := b.List(t.Context(), "", func(corpus.Object) error { return stop }); err != stop {
			t.Errorf("the error of the caller became %v", err)
		}
	})
}

func TestListedObjectIsTheOneThatIsLookedUp(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		put(t, b, "k", []byte("text"))
		var listed corpus.Object
		must(t, b.List(t.Context(), "k", func(o corpus.Object) error { listed = o; return nil }))
		looked, err := b.Stat(t.Context(), "k")
		must(t, err)
		// The time in the header of an answer has whole seconds.
		if listed.Key != "k" || listed.Size != 4 || looked.Size != 4 || listed.Version != looked.Version || looked.ModTime.Sub(listed.ModTime).Abs().Seconds() > 1 {
			t.Errorf("listed %+v, looked up %+v", listed, looked)
		}
		for _, o := range []corpus.Object{listed, looked} {
			r, err := b.Read(t.Context(), o, 1, 2)
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			if got, err := io.ReadAll(r); string(got) != "ex" || err != nil {
				t.Errorf("%q, error %v", got, err)
			}
			must(t, r.Close())
		}
	})
}

func TestMoreObjectsThanAPageOfAList(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		for i := range 1010 { // S3 has 1000 on a page
			put(t, b, fmt.Sprintf("k%04d", i), nil)
		}
		if got := list(t, b, "k"); len(got) != 1010 {
			t.Errorf("%d keys", len(got))
		}
	})
}

func TestUploadOfAnySize(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		for _, size := range []int{0, 1, smallPart, smallPart + 1, 6*smallPart + 12345} {
			data := noise(size)
			put(t, b, "k", data)
			if !bytes.Equal(content(t, b, "k"), data) {
				t.Errorf("%d bytes are not what was uploaded", size)
			}
		}
	})
}

func TestStreamOfAnySizeIsThereWhenItIsCommitted(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		for _, size := range []int{0, 1, smallPart, smallPart + 1, 4*smallPart + 12345} {
			data := noise(size)
			w, err := b.Create(t.Context(), "k")
			must(t, err)
			for rest := data; len(rest) > 0; {
				n, err := w.Write(rest[:min(len(rest), 100_003)])
				must(t, err)
				rest = rest[n:]
			}
			if keys := list(t, b, ""); len(keys) != 0 {
				t.Errorf("%d bytes: %v is there before it is committed", size, keys)
			}
			must(t, w.Commit())
			w.Abort()
			if !bytes.Equal(content(t, b, "k"), data) {
				t.Errorf("%d bytes are not what was written", size)
			}
			must(t, b.Remove(t.Context(), "k"))
		}
	})
}

func TestAbortedStreamLeavesNothing(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		put(t, b, "k", []byte("before"))
		for _, size := range []int{0, 10, 3*smallPart + 1} {
			for _, cancelled := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				w, err := b.Create(ctx, "k")
				must(t, err)
				_, err = w.Write(noise(size))
				must(t, err)
				if cancelled {
					cancel()
					if err := w.Commit(); !errors.Is(err, context.Canceled) {
						t.Errorf("committed after the end of its context: %v", err)
					}
				}
				w.Abort()
				w.Abort()
				cancel()
			}
		}
		if got := string(content(t, b, "k")); got != "before" {
			t.Errorf("the object is now %.20q", got)
		}
		if keys := list(t, b, ""); len(keys) != 1 {
			t.Errorf("left behind: %v", keys)
		}
	})
}

func TestObjectThatWasReplacedOrRemovedIsTold(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		put(t, b, "k", []byte("one"))
		before, err := b.Stat(t.Context(), "k")
		must(t, err)
		put(t, b, "k", []byte("two and more"))
		if _, err := b.Read(t.Context(), before, 0, 3); !errors.Is(err, corpus.ErrChanged) {
			t.Errorf("replaced: %v", err)
		}
		must(t, b.Remove(t.Context(), "k"))
		must(t, b.Remove(t.Context(), "k")) // that it is not there is no error
		if _, err := b.Read(t.Context(), before, 0, 3); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removed: %v", err)
		}
		if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("looked up: %v", err)
		}
		if keys := list(t, b, ""); len(keys) != 0 {
			t.Errorf("listed: %v", keys)
		}
	})
}

func TestRequestsEndWithTheirContext(t *testing.T) {
	every(t, func(t *testing.T, b corpus.BucketWriter) {
		put(t, b, "k", []byte("one"))
		o, err := b.Stat(t.Context(), "k")
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.List(ctx, "", func(corpus.Object) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("list: %v", err)
		}
		if _, err := b.Stat(ctx, "k"); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stat: %v", err)
		}
		if r, err := b.Read(ctx, o, 0, 1); err == nil {
			must(t, r.Close())
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
		if err := b.Upload(ctx, "u", bytes.NewReader(noise(100)), 100); !errors.Is(err, context.Canceled) {
			t.Errorf("upload: %v", err)
		}
		if keys := list(t, b, "u"); len(keys) != 0 {
			t.Errorf("left behind: %v", keys)
		}
	})
}
