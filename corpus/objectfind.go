package corpus

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/internal/setting"
)

// object is where the bytes of a source are when that is an object store.
type object struct {
	bucket Bucket
	Object
}

func (o *object) fetcher() objectFetcher {
	return objectFetcher{bucket: o.bucket, object: o.Object, patience: defaultPatience}
}

// addURL adds what a URL of an object store names: the object of that very key,
// or else every object below it as in a folder, or what matches it as a glob.
func (w *walk) addURL(at location) error {
	problem := func(err error) error { return &Problem{Path: at.path(), Err: err} }
	ctx := w.o.context()
	bucket, err := at.open(ctx, w.o)
	if err != nil {
		return problem(err)
	}
	var denied error
	if at.key != "" && !strings.HasSuffix(at.key, "/") {
		o, err := bucket.Stat(ctx, at.key)
		switch {
		case err == nil:
			w.addObject(at, bucket, o)
			return nil
		case errors.Is(err, fs.ErrPermission): // the answer, too, where there is none and listing is not allowed
			denied = err
		case !errors.Is(err, fs.ErrNotExist):
			return problem(err)
		}
	}
	found := false
	err = bucket.List(ctx, listPrefix(at.key), func(o Object) error {
		root, ok := matchKey(at.key, o.Key)
		if !ok || strings.HasSuffix(o.Key, "/") && o.Size == 0 { // a console's mark of a folder
			return nil
		}
		found = true
		if root != o.Key {
			folder := at
			folder.key = root
			w.addRoot(folder.path())
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
	case isPattern(at.key):
		return problem(&reason{kind: fs.ErrNotExist, text: setting.Textf("the pattern matches no object; check it")})
	case at.key == "" || strings.HasSuffix(at.key, "/"):
		return problem(because(ErrNoFiles, "no objects there; name a prefix that has some"))
	}
	return problem(&reason{kind: fs.ErrNotExist, text: setting.Textf("no such object, and none below it; check the name")})
}

// addRoot notes a folder that was named itself.
func (w *walk) addRoot(path string) {
	for _, r := range w.roots {
		if r.path == path && r.input == w.input {
			return
		}
	}
	w.roots = append(w.roots, root{w.input, path})
}

// addObject adds one object as a source, or as a problem.
func (w *walk) addObject(at location, bucket Bucket, o Object) {
	at.key = o.Key
	s := Source{
		Path: at.path(), Size: o.Size, ModTime: o.ModTime, Version: o.Version,
		object: &object{bucket: bucket, Object: o},
	}
	if strings.HasSuffix(o.Key, "/") {
		w.files[w.input]++
		w.problem(s.Path, because(ErrNotRegular, "an object named like a folder; rename it or leave it out"))
		return
	}
	w.regular(s, at.bucketURL()+" "+o.Key)
}

func isPattern(key string) bool { return strings.ContainsAny(key, "*?[") }

// listPrefix is what all keys that matchKey accepts begin with.
func listPrefix(key string) string {
	if isPattern(key) {
		return key[:strings.IndexAny(key, `*?[\`)]
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return key
	}
	return key + "/"
}

// matchKey reports whether a key is what an input names, or lies below that;
// root is the key or the folder that was named. In a pattern, * and ? do not
// match a slash (see path.Match).
func matchKey(input, key string) (root string, ok bool) {
	folder := strings.TrimSuffix(input, "/")
	if !isPattern(input) {
		return folder, folder == "" || strings.HasPrefix(key, folder+"/")
	}
	end := 0 // of as many names of the key as the pattern has
	for range strings.Count(folder, "/") + 1 {
		i := strings.IndexByte(key[end:], '/')
		if i < 0 {
			end = len(key) + 1
			break
		}
		end += i + 1
	}
	root = key[:end-1]
	ok, err := path.Match(folder, root)
	return root, ok && err == nil && (root != key || folder == input)
}

// parentOf returns the folder that a path or URL lies in, itself at the top.
func parentOf(name string) string {
	at, ok := parseURL(name)
	if !ok {
		return filepath.Dir(name)
	}
	at.key = at.key[:max(0, strings.LastIndexByte(at.key, '/'))]
	return at.path()
}
