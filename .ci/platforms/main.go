// Platforms type-checks the packages of the module here, for each platform GOOS/GOARCH in its arguments:
// from source, and of the packages that they import what is declared alone. A build says the same in ten times
// as long, as it compiles all that is imported for each platform again. What no types tell, such as whether
// assembly can be assembled and a program linked, is left to steps of CI that build.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	for _, platform := range os.Args[1:] {
		if err := check(platform); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			os.Exit(1)
		}
	}
}

// listed is what `go list -json` says of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string // what the standard library calls its vendored packages
	DepOnly         bool              // only imported, not a package of this module
	Module          *struct{ GoVersion string }
}

// check type-checks the packages in ./... for a platform, each after those it imports: the order of the list.
func check(platform string) error {
	system, arch, _ := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return fmt.Errorf("no such architecture")
	}
	list := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,DepOnly,Module", "./...")
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	checked := imported{"unsafe": types.Unsafe}
	for packages := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if checked[p.ImportPath], err = p.check(checked, sizes); err != nil {
			return err
		}
	}
}

func (p listed) check(checked imported, sizes types.Sizes) (*types.Package, error) {
	var files []*ast.File
	positions := token.NewFileSet()
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(positions, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{
		Importer:         renamed{checked, p.ImportMap},
		Sizes:            sizes,
		IgnoreFuncBodies: p.DepOnly,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	return config.Check(p.ImportPath, positions, files, nil)
}

// imported has the packages that are checked, by path.
type imported map[string]*types.Package

// renamed finds them by the names that one package imports them by.
type renamed struct {
	imported
	names map[string]string
}

func (r renamed) Import(name string) (*types.Package, error) {
	if path, ok := r.names[name]; ok {
		name = path
	}
	if p := r.imported[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not listed before what imports it", name)
}
