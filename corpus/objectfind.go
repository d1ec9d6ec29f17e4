package corpus

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
)

// addURL adds what the URL of an object store names: the object with exactly that key, or
// otherwise every object below it as in a folder, or every object that matches it as a
// glob.
func (w *walk) addURL(at bucketurl.URL) error {
	problem := func(err error) error { return &Problem{Path: at.String(), Err: err} }
	bucket, err := bucketurl.Open(w.ctx, at, w.o.Buckets)
	if err != nil {
		return problem(err)
	}
	var denied error
	if at.Key != "" && !strings.HasSuffix(at.Key, "/") {
		o, err := bucket.Stat(w.ctx, at.Key)
		switch {
		case err == nil:
			w.addObject(at, bucket, o)
			return nil
		case errors.Is(err, fs.ErrPermission): // also the answer for a missing object if listing is not allowed
			denied = err
		case !errors.Is(err, fs.ErrNotExist):
			return problem(err)
		}
	}
	found := false
	err = bucket.List(w.ctx, at.ListPrefix(), func(o Object) error {
		root, ok := at.Match(o.Key)
		if !ok || strings.HasSuffix(o.Key, "/") && o.Size == 0 { // the folder marker of a web console
			return nil
		}
		found = true
		if root != o.Key {
			folder := at
			folder.Key = root
			w.addRoot(folder.String())
		}
		w.addObject(at, bucket, o)
		return nil
	})
	switch {
	case err != nil:
		return problem(err)
	case found:
		return nil
	case denied != nil:
		return problem(denied)
	case at.IsPattern():
		return problem(fault.Because(fs.ErrNotExist, "the pattern matches no object; check it"))
	case at.Key == "" || strings.HasSuffix(at.Key, "/"):
		return problem(fault.Because(ErrNoFiles, "no objects there; name a prefix that has some"))
	}
	return problem(fault.Because(fs.ErrNotExist, "no such object, and none below it; check the name"))
}

// addRoot records a folder that is itself an input.
func (w *walk) addRoot(path string) {
	for _, r := range w.roots {
		if r.path == path && r.input == w.input {
			return
		}
	}
	w.roots = append(w.roots, root{w.input, path})
}

// addObject adds one object as a source, or as a problem.
func (w *walk) addObject(at bucketurl.URL, bucket Bucket, o Object) {
	at.Key = o.Key
	s := Source{
		Path: at.String(), Size: o.Size, ModTime: o.ModTime, Version: o.Version, Query: at.Query,
		object: &object{bucket: bucket, Object: o},
	}
	if strings.HasSuffix(o.Key, "/") {
		w.files[w.input]++
		w.problem(s.Path, fault.Because(ErrNotRegular, "an object named like a folder; rename it or leave it out"))
		return
	}
	w.regular(s, at.BucketURL()+" "+o.Key)
}
