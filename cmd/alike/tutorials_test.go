package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/internal/testsize"
)

// What a tutorial has its reader download is made of the shared data here.
var tutorialData = map[string]func(t *testing.T, shared string){
	"pages.md": func(t *testing.T, shared string) {
		for line := range bytes.Lines(unpacked(t, filepath.Join(shared, "versioned_etcd", "docs.jsonl.zst"))) {
			var page struct{ ID, Text string }
			if err := json.Unmarshal(line, &page); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("website", filepath.FromSlash(page.ID))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			writeTutorial(t, path, []byte(page.Text))
		}
	},
	"people.md": func(t *testing.T, shared string) {
		folder := filepath.Join(shared, "dedup_splink_fake1000")
		rows, cluster := rowsOf(t, readTutorial(t, filepath.Join(folder, "table.csv"))), map[string]string{}
		for _, pair := range rowsOf(t, readTutorial(t, filepath.Join(folder, "truth.csv")))[1:] {
			if _, has := cluster[pair[0]]; !has { // pairs stand in the order of their records, and clusters are complete
				cluster[pair[0]] = pair[0]
			}
			cluster[pair[1]] = cluster[pair[0]]
		}
		rows[0] = append(rows[0], "cluster")
		for i, row := range rows[1:] {
			c, has := cluster[row[0]]
			if !has {
				c = row[0]
			}
			rows[i+1] = append(row, c)
		}
		writeTutorial(t, "fake_1000.csv", csvOf(t, rows))
	},
	"products.md": func(t *testing.T, shared string) {
		folder := filepath.Join(shared, "er_abt_buy_full")
		left := rowsOf(t, unpacked(t, filepath.Join(folder, "tableA.csv.zst")))
		right := rowsOf(t, readTutorial(t, filepath.Join(folder, "tableB.csv")))
		thing := map[string]string{} // by the record of either table
		for i, pair := range rowsOf(t, readTutorial(t, filepath.Join(folder, "truth.csv")))[1:] {
			id := cmp.Or(thing[pair[0]], thing[pair[1]], fmt.Sprint(i))
			thing[pair[0]], thing[pair[1]] = id, id
		}
		for name, rows := range map[string][][]string{"AbtBuy_Abt.csv": left, "AbtBuy_Buy.csv": right} {
			for i, row := range rows {
				if id, has := thing[row[0]]; has && i > 0 {
					row[0] = id
				}
			}
			writeTutorial(t, name, csvOf(t, rows))
		}
	},
}

// TestTutorialsPrintWhatTheySay types the commands of every tutorial into a shell in an empty folder. Numbers may be
// others, since the data are a part of what a reader downloads, or a copy with other names; an ellipsis stands for anything.
func TestTutorialsPrintWhatTheySay(t *testing.T) {
	if testsize.Small() {
		t.Skip("runs programs for a minute")
	}
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(shared); err != nil {
		t.Skip("needs the shared data")
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
		typed := typedIn(string(readTutorial(t, page)))
		if len(typed) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			tutorialData[filepath.Base(page)](t, shared)
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

func readTutorial(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeTutorial(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	data, err := decoder.DecodeAll(readTutorial(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func rowsOf(t *testing.T, data []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func csvOf(t *testing.T, rows [][]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(slices.Clone(rows)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
