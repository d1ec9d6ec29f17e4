// Package shareddata finds the real data sets that lie beside a checkout
// (../shared/data from the repository's root). They are too large or not free
// enough to ship, so a test that wants one skips where it is not there.
package shareddata

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or folder below ../shared/data and skips the
// test when it does not exist.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Skip(err)
	}
	p := filepath.Join(append([]string{root, "..", "shared", "data"}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("real data not there: %v", err)
	}
	return p
}

// repositoryRoot walks up from the working directory to the folder with go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", os.ErrNotExist
		}
		dir = parent
	}
}
