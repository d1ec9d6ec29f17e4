// Package buckettest holds the tests that every bucket of package corpus passes, whichever client it has.
package buckettest

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

	"github.com/alike-dev/alike/corpus"
)

// Part is the size of parts and chunks of the buckets under test, where it can be chosen.
const Part = 512 << 10

// Run runs all tests, each on a new bucket.
func Run(t *testing.T, open func(t *testing.T) corpus.BucketWriter) {
	for name, test := range map[string]func(*testing.T, corpus.BucketWriter){
		"WhatIsUploadedIsListedAndRead":           whatIsUploadedIsListedAndRead,
		"ListedObjectIsTheOneThatIsLookedUp":      listedObjectIsTheOneThatIsLookedUp,
		"MoreObjectsThanAPageOfAList":             moreObjectsThanAPageOfAList,
		"UploadOfAnySize":                         uploadOfAnySize,
		"StreamOfAnySizeIsThereWhenItIsCommitted": streamOfAnySizeIsThereWhenItIsCommitted,
		"AbortedStreamLeavesNothing":              abortedStreamLeavesNothing,
		"ObjectThatWasReplacedOrRemovedIsTold":    objectThatWasReplacedOrRemovedIsTold,
		"RequestsEndWithTheirContext":             requestsEndWithTheirContext,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Noise returns bytes that are the same for every size.
func Noise(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(data) // never fails
	return data
}

// Put uploads an object.
func Put(t testing.TB, b corpus.BucketWriter, key string, data []byte) {
	t.Helper()
	must(t, b.Upload(t.Context(), key, bytes.NewReader(data), int64(len(data))))
}

// List returns the keys with a prefix, sorted.
func List(t testing.TB, b corpus.Bucket, prefix string) (keys []string) {
	t.Helper()
	must(t, b.List(t.Context(), prefix, func(o corpus.Object) error {
		keys = append(keys, o.Key)
		return nil
	}))
	slices.Sort(keys) // stores may have an order of their own
	return keys
}

// Content reads an object whole, in ranges.
func Content(t testing.TB, b corpus.Bucket, key string) []byte {
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

func whatIsUploadedIsListedAndRead(t *testing.T, b corpus.BucketWriter) {
	keys := []string{"a.b", "a/b/c", "a/b/d", "a/c", "b", "ü/ö +&%.txt"} // as files can have them, too
	for i, key := range keys {
		Put(t, b, key, Noise(i*1000))
	}
	if got := List(t, b, ""); !slices.Equal(got, keys) {
		t.Errorf("keys %q, want %q", got, keys)
	}
	if got := List(t, b, "a/"); !slices.Equal(got, keys[1:4]) {
		t.Errorf("keys %q, want %q", got, keys[1:4])
	}
	for i, key := range keys {
		if !bytes.Equal(Content(t, b, key), Noise(i*1000)) {
			t.Errorf("%s is not what was uploaded", key)
		}
	}
	stop := errors.New("enough")
	if err := b.List(t.Context(), "", func(corpus.Object) error { return stop }); err != stop {
		t.Errorf("the error of the caller became %v", err)
	}
}

func listedObjectIsTheOneThatIsLookedUp(t *testing.T, b corpus.BucketWriter) {
	Put(t, b, "k", []byte("text"))
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
}

func moreObjectsThanAPageOfAList(t *testing.T, b corpus.BucketWriter) {
	for i := range 1010 { // S3 has 1000 on a page
		Put(t, b, fmt.Sprintf("k%04d", i), nil)
	}
	if got := List(t, b, "k"); len(got) != 1010 {
		t.Errorf("%d keys", len(got))
	}
}

func uploadOfAnySize(t *testing.T, b corpus.BucketWriter) {
	for _, size := range []int{0, 1, Part, Part + 1, 6*Part + 12345} {
		data := Noise(size)
		Put(t, b, "k", data)
		if !bytes.Equal(Content(t, b, "k"), data) {
			t.Errorf("%d bytes are not what was uploaded", size)
		}
	}
}

func streamOfAnySizeIsThereWhenItIsCommitted(t *testing.T, b corpus.BucketWriter) {
	for _, size := range []int{0, 1, Part, Part + 1, 4*Part + 12345} {
		data := Noise(size)
		w, err := b.Create(t.Context(), "k")
		must(t, err)
		for rest := data; len(rest) > 0; {
			n, err := w.Write(rest[:min(len(rest), 100_003)])
			must(t, err)
			rest = rest[n:]
		}
		if keys := List(t, b, ""); len(keys) != 0 {
			t.Errorf("%d bytes: %v is there before it is committed", size, keys)
		}
		must(t, w.Commit())
		w.Abort()
		if !bytes.Equal(Content(t, b, "k"), data) {
			t.Errorf("%d bytes are not what was written", size)
		}
		must(t, b.Remove(t.Context(), "k"))
	}
}

func abortedStreamLeavesNothing(t *testing.T, b corpus.BucketWriter) {
	Put(t, b, "k", []byte("before"))
	for _, size := range []int{0, 10, 3*Part + 1} {
		for _, cancelled := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			w, err := b.Create(ctx, "k")
			must(t, err)
			_, err = w.Write(Noise(size))
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
	if got := string(Content(t, b, "k")); got != "before" {
		t.Errorf("the object is now %.20q", got)
	}
	if keys := List(t, b, ""); len(keys) != 1 {
		t.Errorf("left behind: %v", keys)
	}
}

func objectThatWasReplacedOrRemovedIsTold(t *testing.T, b corpus.BucketWriter) {
	Put(t, b, "k", []byte("one"))
	before, err := b.Stat(t.Context(), "k")
	must(t, err)
	Put(t, b, "k", []byte("two and more"))
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
	if keys := List(t, b, ""); len(keys) != 0 {
		t.Errorf("listed: %v", keys)
	}
}

func requestsEndWithTheirContext(t *testing.T, b corpus.BucketWriter) {
	Put(t, b, "k", []byte("one"))
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
	if err := b.Upload(ctx, "u", bytes.NewReader(Noise(100)), 100); !errors.Is(err, context.Canceled) {
		t.Errorf("upload: %v", err)
	}
	if keys := List(t, b, "u"); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
}
