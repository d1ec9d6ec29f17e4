// Package lint_test holds the rules of the repository that a compiler does not:
// which package may import which, how long files and functions may be, and what
// must not stand in the tree. Nested modules are left out.
package lint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/alike-dev/alike"

const root = "../.." // of the repository

const (
	longestFile     = 600
	longestFunction = 70
	mostMethods     = 25          // of a type
	longMark        = "// long: " // a reason follows: in the file, or just above the function
)

// core packages are pure: data in, data out. They may import each other, and
// nothing else of this module.
var core = []string{
	"text", "shingle", "record", "minhash", "simhash", "exlsh", "lsh", "simjoin", "topk", "countmin", "measure", "cluster", "eval", "passage", "recipe",
	"internal/assignment", "internal/bitset", "internal/bloom", "internal/distinct", "internal/engine", "internal/forecast", "internal/hashing", "internal/largepages", "internal/logistic", "internal/places", "internal/sides", "internal/simd", "internal/sorting", "internal/weighing", "index/internal/keytable",
}

// What makes features and what compares them know nothing of each other: features are
// 64-bit words, whatever they stand for.
var (
	makers    = []string{"text", "shingle", "record"}
	comparers = []string{"minhash", "simhash", "measure", "lsh", "simjoin", "topk", "cluster"}
)

// impure are the packages of files, network, clocks, logging and global
// randomness, with all below them.
var impure = []string{"os", "io/fs", "io/ioutil", "path/filepath", "syscall", "net", "time", "log", "math/rand", "context", "flag", "testing"}

// goPackage is what `go list -json` says about a package.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Module       *struct{ Path string }
}

// name returns the package's path within the module; ok is false for packages of
// others.
func (p goPackage) name() (name string, ok bool) {
	if p.Module == nil || p.Module.Path != module {
		return "", false
	}
	return within(p.ImportPath)
}

func within(importPath string) (name string, ok bool) {
	if importPath == module {
		return "", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,TestImports,XTestImports,Module", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		if _, ok := p.name(); ok {
			packages = append(packages, p)
		}
	}
}

func TestPackagesImportWhatTheyMay(t *testing.T) {
	for _, p := range listPackages(t) {
		name, _ := p.name()
		isCore := slices.Contains(core, name)
		for _, i := range p.Imports {
			if isCore && isImpure(i) {
				t.Errorf("core package %s imports %s: leave files, network, clocks, logs and randomness to its callers", name, i)
			}
			of, ours := within(i)
			if !ours {
				continue
			}
			if isCore && !slices.Contains(core, of) {
				t.Errorf("core package %s imports %q, which is not core", name, of)
			}
			if slices.Contains(makers, name) && slices.Contains(comparers, of) || slices.Contains(comparers, name) && slices.Contains(makers, of) {
				t.Errorf("%s imports %s: features are made by the one and compared by the other", name, of)
			}
			if name == "corpus" && slices.Contains(core, of) && of != "internal/sorting" {
				t.Errorf("package corpus imports %s: it reads and writes records and knows nothing of what is done with them", of)
			}
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if of, ours := within(i); ours && strings.HasPrefix(of, "cmd/") && of != name {
				t.Errorf("package %q imports the command %s", name, of)
			}
		}
	}
}

// Pebble brings 70 packages along: package index uses it, and the file systems for tests.
func TestOnlyTheIndexUsesPebble(t *testing.T) {
	const pebble, forTests = "github.com/cockroachdb/", "vfs/vfstest"
	for _, p := range listPackages(t) {
		name, _ := p.name()
		for _, i := range p.Imports {
			if of, ours := within(i); ours && of == forTests && !strings.HasPrefix(name, "bench/") && !strings.HasSuffix(name, "test") {
				t.Errorf("package %q imports %s, which is for tests", name, of)
			}
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(i, pebble) && name != "index" && name != forTests {
				t.Errorf("package %q imports %s: files are opened by package vfs", name, i)
			}
		}
	}
}

// A program in which a template can be run keeps every exported method of every type (docs/decisions/005).
func TestNothingRunsTemplates(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, i := range p.Imports {
			if i == "text/template" || i == "html/template" {
				name, _ := p.name()
				t.Errorf("package %q imports %s, which makes the program a sixth larger: pages are made as in package report", name, i)
			}
		}
	}
}

func isImpure(importPath string) bool {
	return slices.ContainsFunc(impure, func(of string) bool {
		return importPath == of || strings.HasPrefix(importPath, of+"/")
	})
}

// walk calls visit with the slash path and the content of every file of this
// module, hidden folders other than .ci left out.
func walk(t *testing.T, visit func(name string, content []byte)) {
	t.Helper()
	walkModules(t, false, visit)
}

// walkModules is walk, if wanted through the modules within this one too.
func walkModules(t *testing.T, nested bool, visit func(name string, content []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(full, "go.mod"))
			if name != "." && (!nested && err == nil || strings.HasPrefix(d.Name(), ".") && name != ".ci") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(full)
		if err == nil {
			visit(name, content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	walk(t, func(name string, content []byte) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		if ast.IsGenerated(file) {
			return
		}
		var reasons []int // lines with a reason to be long
		for i, line := range bytes.Split(content, []byte("\n")) {
			if bytes.HasPrefix(bytes.TrimSpace(line), []byte(longMark)) {
				reasons = append(reasons, i+1)
			}
		}
		if n := bytes.Count(content, []byte("\n")); n > longestFile && len(reasons) == 0 {
			t.Errorf("%s has %d lines; split it, or say why it is long in a comment %q", name, n, longMark+"…")
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, start, end := set.Position(f.Pos()).Line, set.Position(f.Pos()).Line, set.Position(f.End()).Line
			if f.Doc != nil {
				from = set.Position(f.Doc.Pos()).Line
			}
			excused := slices.ContainsFunc(reasons, func(line int) bool { return line >= from-1 && line <= end })
			if n := end - start + 1; n > longestFunction && !excused {
				t.Errorf("%s:%d: %s has %d lines; split it, or say why it is long in a comment %q", name, start, f.Name.Name, n, longMark+"…")
			}
			if slices.Contains(core, path.Dir(name)) {
				checkNoGoroutines(t, set, f)
			}
		}
	})
}

// methodOf is the head of a method; its group is the type.
var methodOf = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)(?:\[.*?\])?\)`)

// TestTypesHaveFewMethods counts those of all files of a package.
func TestTypesHaveFewMethods(t *testing.T) {
	methods := map[string]int{}
	walk(t, func(name string, content []byte) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, of := range methodOf.FindAllSubmatch(content, -1) {
			methods[path.Dir(name)+"."+string(of[1])]++
		}
	})
	for of, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods, more than %d: split it, or make functions of those that need little of it", of, n, mostMethods)
		}
	}
}

func checkNoGoroutines(t *testing.T, set *token.FileSet, f *ast.FuncDecl) {
	ast.Inspect(f, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			t.Errorf("%v: core packages start no goroutines; their callers do", set.Position(g.Pos()))
		}
		return true
	})
}

// flagLike is what a flag of a command looks like in a message.
var flagLike = regexp.MustCompile(`--[a-z]`)

// foreignFlags are those of other programs, which messages may name.
var foreignFlags = map[string]string{"--long": "zstd"}

// TestTheLibraryNamesNoFlags holds that only the command knows how settings are called on
// the command line: see package setting.
func TestTheLibraryNamesNoFlags(t *testing.T) {
	walk(t, func(name string, content []byte) {
		top, _, _ := strings.Cut(name, "/")
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || slices.Contains([]string{"cmd", "bench", "deploy", "examples"}, top) {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			value := text.Value
			for flag := range foreignFlags {
				value = strings.ReplaceAll(value, flag, "")
			}
			if flagLike.MatchString(value) {
				t.Errorf("%v: %s names a flag: name the setting (internal/setting), and let the command say how it calls it", set.Position(n.Pos()), text.Value)
			}
			return true
		})
	})
}

// forbidden is what must not stand in any file of ours, and why. The words are put
// together so that this file does not hold them.
var forbidden = map[string]string{
	"TO" + "DO":    "do it, or write an issue",
	"FIX" + "ME":   "do it, or write an issue",
	"/wo" + "rk/":  "a path of one machine",
	"/ro" + "ot/":  "a path of one machine",
	"/ho" + "me/":  "a path of one machine",
	"/Us" + "ers/": "a path of one machine",
}

func TestNothingIsLeftLyingAround(t *testing.T) {
	text := []string{".go", ".s", ".md", ".sh", ".mod", ".txt", ".txtar", ".yml", ".yaml", ".html", ".js", ".css", ".json", ".toml", ""}
	walk(t, func(name string, content []byte) {
		if !slices.Contains(text, path.Ext(name)) || len(content) > 4<<20 {
			return
		}
		for word, why := range forbidden {
			if i := bytes.Index(content, []byte(word)); i >= 0 {
				t.Errorf("%s: %s: %s", fmt.Sprintf("%s:%d", name, 1+bytes.Count(content[:i], []byte("\n"))), word, why)
			}
		}
	})
}

func TestShellScriptsParse(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not here")
	}
	walk(t, func(name string, _ []byte) {
		if path.Ext(name) != ".sh" {
			return
		}
		if out, err := exec.Command(bash, "-n", filepath.Join(root, name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	})
}
