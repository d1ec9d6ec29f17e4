// Package bucketurl parses the URLs of object stores, s3://bucket/key, and decides which objects
// they name.
package bucketurl

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/alike-dev/alike/internal/fault"
)

// A URL names a place in an object store: scheme://bucket/key?query. The key is used literally,
// without percent-decoding.
type URL struct {
	Scheme, Bucket, Key string
	Query               string // settings for the client that opens the bucket
}

var (
	schemePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+)://`) })
	// queryPattern tells a query from the ? of a glob: in a query a name and an equals sign follow
	// it.
	queryPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\?[A-Za-z][A-Za-z0-9_.-]*=`) })
)

// Parse splits a URL into its parts; ok is false for a path.
func Parse(s string) (at URL, ok bool) {
	if !strings.Contains(s, "://") {
		return at, false
	}
	m := schemePattern().FindStringSubmatch(s)
	if m == nil {
		return at, false
	}
	rest := s[len(m[0]):]
	if i := queryPattern().FindStringIndex(rest); i != nil {
		rest, at.Query = rest[:i[0]], rest[i[0]+1:]
	}
	at.Scheme = strings.ToLower(m[1])
	at.Bucket, at.Key, _ = strings.Cut(rest, "/")
	return at, true
}

// Is reports whether an input or output names a place in an object store, such as
// s3://bucket/prefix. A file:// URL names a path (see LocalPath).
func Is(s string) bool {
	at, ok := Parse(s)
	return ok && at.Scheme != "file"
}

// LocalPath returns the path that a file:// URL names, and every other name unchanged. file:///a/b
// and file://localhost/a/b are /a/b, file://./a is a below the working folder, and file:///c:/a is
// c:\a on Windows.
func LocalPath(s string) string {
	at, ok := Parse(s)
	if !ok || at.Scheme != "file" {
		return s
	}
	path := "/" + at.Key
	if at.Bucket == "." || runtime.GOOS == "windows" {
		path = at.Key
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return filepath.FromSlash(path)
}

// String is the URL as ids and messages name it, without the query.
func (u URL) String() string {
	if u.Key == "" {
		return u.Scheme + "://" + u.Bucket
	}
	return u.Scheme + "://" + u.Bucket + "/" + u.Key
}

// Address is the whole URL, with the query; Parse turns it back into u.
func (u URL) Address() string {
	if u.Query == "" {
		return u.String()
	}
	return u.String() + "?" + u.Query
}

// BucketURL is the URL that opens the bucket: it has no key.
func (u URL) BucketURL() string {
	s := u.Scheme + "://" + u.Bucket
	if u.Query != "" {
		s += "?" + u.Query
	}
	return s
}

// Open opens the bucket by calling buckets, which may be nil: then it returns an error.
func Open[B any](ctx context.Context, u URL, buckets func(ctx context.Context, url string) (B, error)) (b B, err error) {
	switch {
	case buckets == nil:
		return b, fault.Because(fault.ErrUnsupported, "no access to object storage is set up (Options.Buckets); copy the data to a folder")
	case u.Bucket == "":
		return b, fault.Because(fs.ErrInvalid, "no bucket in the URL; write it as %s://bucket/prefix", u.Scheme)
	}
	return buckets(ctx, u.BucketURL())
}

// Inside reports whether an object lies in the place that an input URL names, so that a later
// reader of the input would find the object. Both are URLs.
func Inside(object, input string) bool {
	at, ok := Parse(object)
	in, inOK := Parse(input)
	if !ok || !inOK || at.Scheme != in.Scheme || at.Bucket != in.Bucket {
		return false
	}
	if at.Key == in.Key {
		return true
	}
	_, inside := in.Match(at.Key)
	return inside
}

// IsPattern reports whether the key is a glob.
func (u URL) IsPattern() bool { return strings.ContainsAny(u.Key, "*?[") }

// ListPrefix is the longest known prefix of all keys that Match accepts.
func (u URL) ListPrefix() string {
	if u.IsPattern() {
		return u.Key[:strings.IndexAny(u.Key, `*?[\`)]
	}
	if u.Key == "" || strings.HasSuffix(u.Key, "/") {
		return u.Key
	}
	return u.Key + "/"
}

// Match reports whether a key is the one that the URL names or lies below it; root is the key or
// folder that was named. In a pattern, * and ? do not match a slash (see path.Match), and ** stands for any number of
// folders.
func (u URL) Match(key string) (root string, ok bool) {
	folder := strings.TrimSuffix(u.Key, "/")
	if !u.IsPattern() {
		return folder, folder == "" || strings.HasPrefix(key, folder+"/")
	}
	if IsDeep(folder) {
		return MatchDeep(u.Key, key)
	}
	end := 0 // after as many path elements of the key as the pattern has
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
	return root, ok && err == nil && (root != key || folder == u.Key)
}

// IsDeep reports whether a pattern has **, which stands for any number of folders.
func IsDeep(pattern string) bool { return strings.Contains(pattern, "**") }

// MatchDeep is Match for a pattern with **, of keys or of paths with slashes. The root is the shortest part of the key that
// matches. A pattern that ends in a slash names folders only.
func MatchDeep(pattern, key string) (root string, ok bool) {
	folder := strings.TrimSuffix(pattern, "/")
	for end := 0; end < len(key); end++ {
		if i := strings.IndexByte(key[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(key)
		}
		ok, err := doublestar.Match(folder, key[:end])
		if err != nil {
			return "", false
		}
		if ok && (end < len(key) || folder == pattern) {
			return key[:end], true
		}
	}
	return "", false
}

// NameParts returns the path elements of an object's key, each made safe as a file name: a key may
// hold anything, even "../../etc".
func (u URL) NameParts() []string {
	parts := []string{u.Scheme, u.Bucket}
	if u.Key == "" {
		return parts
	}
	for name := range strings.SplitSeq(u.Key, "/") {
		if name == "" || name == "." || name == ".." {
			name = strings.Repeat("_", max(1, len(name)))
		}
		parts = append(parts, strings.Map(func(r rune) rune {
			if unsafe(r) {
				return '_'
			}
			return r
		}, name))
	}
	return parts
}

// unsafe reports whether a character must not appear in a file name.
func unsafe(r rune) bool {
	if runtime.GOOS == "windows" {
		return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r)
	}
	return r == 0
}
