package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// manual is where scripts/release wants the manual pages and completions. They are made by a test since the program
// itself has no use for what renders them.
var manual = flag.String("manual", "", "`folder` that the manual pages and completions are written to, too")

// manualPages writes a page of section 1 for every command into dir. SOURCE_DATE_EPOCH is the date that they show.
func manualPages(t *testing.T, root *cobra.Command, dir string) {
	t.Helper()
	root.DisableAutoGenTag = true
	root.InitDefaultVersionFlag()
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "alike", Manual: "alike"}, dir); err != nil {
		t.Fatal(err)
	}
}

// completions writes what each shell loads, under the names that packages give it.
func completions(t *testing.T, root *cobra.Command, dir string) {
	t.Helper()
	for name, make := range map[string]func(path string) error{
		"alike.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_alike":     root.GenZshCompletionFile,
		"alike.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"alike.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := make(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryCommandHasAManualPageWithItsFlags(t *testing.T) {
	dir := *manual
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRoot(nil)
	manualPages(t, root, dir)
	completions(t, root, dir)
	eachCommand(func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			// A page writes a hyphen as it is, or escaped.
			if !f.Hidden && !bytes.Contains(bytes.ReplaceAll(page, []byte(`\-`), []byte("-")), []byte("--"+f.Name)) {
				t.Errorf("%s does not name --%s", name, f.Name)
			}
		})
	})
	for _, name := range []string{"alike.bash", "_alike", "alike.fish", "alike.ps1"} {
		if script, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Contains(script, []byte("alike")) {
			t.Errorf("%s: %d bytes (%v)", name, len(script), err)
		}
	}
}
