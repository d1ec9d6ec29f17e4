package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
)

// tutorialData makes what a tutorial has its reader download, of the shared data: contents by path.
var tutorialData = map[string]func(t *testing.T) map[string][]byte{
	"pages.md": func(t *testing.T) map[string][]byte {
		files := map[string][]byte{}
		for _, page := range shareddata.Docs(t, 0, "versioned_etcd", "docs.jsonl.zst") {
			files[filepath.Join("website", filepath.FromSlash(page.ID))] = []byte(page.Text)
		}
		return files
	},
	"people.md": func(t *testing.T) map[string][]byte {
		rows, cluster := rowsOf(t, "dedup_splink_fake1000", "table.csv"), map[string]string{}
		for _, pair := range rowsOf(t, "dedup_splink_fake1000", "truth.csv")[1:] {
			cluster[pair[0]] = cmp.Or(cluster[pair[0]], pair[0]) // pairs stand in the order of their records, and clusters are complete
			cluster[pair[1]] = cluster[pair[0]]
		}
		rows[0] = append(rows[0], "cluster")
		for i, row := range rows[1:] {
			rows[i+1] = append(row, cmp.Or(cluster[row[0]], row[0]))
		}
		return map[string][]byte{"fake_1000.csv": csvOf(t, rows)}
	},
	"products.md": func(t *testing.T) map[string][]byte {
		thing := map[string]string{} // by the record of either table
		for i, pair := range rowsOf(t, "er_abt_buy_full", "truth.csv")[1:] {
			id := cmp.Or(thing[pair[0]], thing[pair[1]], fmt.Sprint(i))
			thing[pair[0]], thing[pair[1]] = id, id
		}
		files := map[string][]byte{}
		for name, of := range map[string]string{"AbtBuy_Abt.csv": "tableA.csv.zst", "AbtBuy_Buy.csv": "tableB.csv"} {
			rows := rowsOf(t, "er_abt_buy_full", of)
			for _, row := range rows {
				row[0] = cmp.Or(thing[row[0]], row[0])
			}
			files[name] = csvOf(t, rows)
		}
		return files
	},
}

// TestTutorialsPrintWhatTheySay types the commands of every tutorial into a shell in an empty folder. Numbers may be
// others, since the data are a part of what a reader downloads, or a copy with other names; an ellipsis stands for anything.
func TestTutorialsPrintWhatTheySay(t *testing.T) {
	if testsize.Small() {
		t.Skip("runs programs for a minute")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "tutorials", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "alike")); err != nil { // which is the command under this name
		t.Skip(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		typed := typedIn(string(text))
		if len(typed) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			files := tutorialData[filepath.Base(page)](t)
			t.Chdir(t.TempDir())
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			for path, content := range files {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			var script strings.Builder
			for _, c := range typed {
				fmt.Fprintf(&script, "%s\necho '@@'\n", c.command)
			}
			cmd := exec.CommandContext(t.Context(), bash, "-c", "exec 2>&1\n"+script.String())
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			printed := strings.Split(string(out), "@@\n")
			for i, c := range typed {
				if !says(c.printed, printed[i]) {
					t.Errorf("$ %s\nprinted\n%s\nand the page says\n%s", c.command, printed[i], c.printed)
				}
			}
		})
	}
}

// typedCommand is a command of a page, with what it prints there.
type typedCommand struct{ command, printed string }

var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```")

func typedIn(page string) (all []typedCommand) {
	for _, block := range console.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				all = append(all, typedCommand{command: strings.TrimSpace(command)})
			} else {
				all[len(all)-1].printed += line
			}
		}
	}
	return all
}

var (
	aNumber = regexp.MustCompile(`\d[\d,.]*`)
	spaces  = regexp.MustCompile(` +`)
)

// says tells whether what a page says is what was printed, whatever the numbers.
func says(want, got string) bool {
	plain := func(s string) string {
		s = spaces.ReplaceAllString(aNumber.ReplaceAllString(s, "N"), " ")
		return strings.ReplaceAll(s, ", N MB/s", "") // of runs that take some time
	}
	parts := strings.Split(plain(want), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*?") + "$").MatchString(plain(got))
}

// rowsOf returns the rows of a table of the shared data.
func rowsOf(t *testing.T, elem ...string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(shareddata.Open(t, elem...)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func csvOf(t *testing.T, rows [][]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
