package lint_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostBytes is how large pages may be, so that each is read at once. Where a folder is named, its
// pages count together, without those of the folders below it.
var mostBytes = map[string]int{
	"README.md":                  6_000,
	"docs/how/architecture.md":   17_000,
	"docs":                       120_000,
	"docs/how":                   96_000,
	"a task page, docs/*.md":     8_000,
	"a decision, docs/decisions": 6_000,
}

// notTaskPages are pages of docs that are no task page.
var notTaskPages = map[string]bool{"docs/guarantees.md": true}

// pages calls visit for every page of this module and the nested ones.
func pages(t *testing.T, visit func(name, content string)) {
	walkModules(t, true, func(name string, content []byte) {
		if path.Ext(name) == ".md" {
			visit(name, string(content))
		}
	})
}

func TestPagesAreShort(t *testing.T) {
	sum := map[string]int{}
	check := func(name string, bytes int, kind string) {
		if most, limited := mostBytes[kind]; limited && bytes > most {
			t.Errorf("%s has %d bytes, more than the %d of %s", name, bytes, most, kind)
		}
	}
	pages(t, func(name, content string) {
		sum[path.Dir(name)] += len(content)
		check(name, len(content), name)
		switch {
		case path.Dir(name) == "docs" && !notTaskPages[name]:
			check(name, len(content), "a task page, docs/*.md")
		case path.Dir(name) == "docs/decisions":
			check(name, len(content), "a decision, docs/decisions")
		}
	})
	for _, folder := range []string{"docs", "docs/how"} {
		check(folder, sum[folder], folder)
		if sum[folder] == 0 {
			t.Errorf("%s has no pages", folder)
		}
	}
}

// mostColumns is the length of a line. Tables and code may need more.
const mostColumns = 120

func TestLinesOfPagesAreShort(t *testing.T) {
	pages(t, func(name, content string) {
		eachLine(content, func(number int, line string) {
			if n := utf8.RuneCountInString(line); n > mostColumns && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: %d characters, more than %d", name, number, n, mostColumns)
			}
		})
	})
}

// eachLine visits the lines of a page that are no code, without space around them.
func eachLine(content string, visit func(number int, line string)) {
	code, number := false, 0
	for line := range strings.Lines(content) {
		number++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if !code {
			visit(number, line)
		}
	}
}

var (
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	notInIDs = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksOfPagesLeadSomewhere holds that relative links name files, and headings of pages.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	headings := map[string]map[string]bool{}
	links := map[string][]string{} // by page
	pages(t, func(name, content string) {
		headings[name] = map[string]bool{}
		eachLine(content, func(_ int, line string) {
			if strings.HasPrefix(line, "#") {
				id := notInIDs.ReplaceAllString(strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#"))), "")
				headings[name][strings.ReplaceAll(id, " ", "-")] = true
			}
			for _, link := range linked.FindAllStringSubmatch(line, -1) {
				links[name] = append(links[name], link[1])
			}
		})
	})
	for name, targets := range links {
		for _, target := range targets {
			if strings.Contains(target, "://") {
				continue
			}
			file, heading, _ := strings.Cut(target, "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s links to %s, which is not there", name, target)
			} else if heading != "" && !headings[to][heading] {
				t.Errorf("%s links to %s, but %s has no such heading", name, target, to)
			}
		}
	}
}

var placeNamed = regexp.MustCompile("`([a-z0-9/_]*\\.go)`(?:: `(?:[A-Za-z]+\\.)?([A-Za-z]+)`)?")

// TestTheMapNamesWhatExists holds that who follows the map of the packages finds each file and
// function.
func TestTheMapNamesWhatExists(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "how", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	places := placeNamed.FindAllStringSubmatch(string(page), -1)
	if len(places) == 0 {
		t.Error("the map names no file")
	}
	for _, place := range places {
		file, name := place[1], place[2]
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Errorf("docs/how/architecture.md names %s, which is not there", file)
		} else if name != "" && !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )`+name+`\b`).Match(content) {
			t.Errorf("docs/how/architecture.md names %s in %s, which is not there", name, file)
		}
	}
}

// TestThePageOfResultsIsMadeOfTheirData holds that a figure is changed in one place.
func TestThePageOfResultsIsMadeOfTheirData(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	if out, err := exec.Command(python, filepath.Join(root, "bench", "results.py"), "check").CombinedOutput(); err != nil {
		t.Errorf("%s%v", out, err)
	}
}
