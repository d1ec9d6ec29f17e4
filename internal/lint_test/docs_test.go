package lint_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	testNamed = regexp.MustCompile(`\bTest[A-Z]\w*`)
	testThere = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestDocsNameTestsThatExist holds that who looks for a test that a document names finds it.
// Tests of nested modules are named too.
func TestDocsNameTestsThatExist(t *testing.T) {
	named, there := map[string]string{}, map[string]bool{}
	walkModules(t, true, func(name string, content []byte) {
		switch {
		case path.Ext(name) == ".md":
			for _, test := range testNamed.FindAllString(string(content), -1) {
				named[test] = name
			}
		case strings.HasSuffix(name, "_test.go"):
			for _, test := range testThere.FindAllSubmatch(content, -1) {
				there[string(test[1])] = true
			}
		}
	})
	for test, name := range named {
		if !there[test] {
			t.Errorf("%s names %s, which is not there", name, test)
		}
	}
}
