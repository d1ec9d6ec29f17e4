package journal

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

const folder = "/some/work"

// settingsOf makes settings of "name value" texts.
func settingsOf(texts ...string) iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for _, text := range texts {
			name, value, _ := strings.Cut(text, " ")
			if !yield(Setting{name, value}) {
				return
			}
		}
	}
}

var someSettings = settingsOf("threshold 0.8", "input a.jsonl", "input b.jsonl")

func open(t testing.TB, fs vfs.FS) *Journal {
	t.Helper()
	j, err := Open(fs, folder, someSettings, false)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func closeJournal(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func add(t testing.TB, j *Journal, kind string, v any) {
	t.Helper()
	if err := j.Append(kind, v); err != nil {
		t.Error(err)
	}
}

// records returns all records as "kind payload".
func records(t testing.TB, j *Journal) []string {
	t.Helper()
	all := []string{}
	for r, err := range j.Records() {
		if err != nil {
			t.Error(err)
		}
		all = append(all, r.Kind+" "+string(r.Payload))
	}
	return all
}

func names(t testing.TB, fs vfs.FS) []string {
	t.Helper()
	list, err := fs.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func readFile(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, info.Size())
	if _, err := f.ReadAt(content, 0); err != nil && len(content) > 0 {
		t.Fatal(err)
	}
	return content
}

func writeFile(t testing.TB, fs vfs.FS, name string, content []byte) {
	t.Helper()
	if err := fs.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(slices.Clone(content)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

type part struct {
	Number int
	Files  []string
}

func TestRecordsAreThereAgainAfterClose(t *testing.T) {
	fs := vfstest.NewMem()
	j := open(t, fs)
	if j.Resumed() {
		t.Error("resumed from nothing")
	}
	add(t, j, "part", part{1, []string{"x\ny", "ü"}})
	add(t, j, "stage", "read")
	add(t, j, "part", part{2, nil})
	want := records(t, j)
	closeJournal(t, j)

	j = open(t, fs)
	defer closeJournal(t, j)
	if got := records(t, j); !slices.Equal(got, want) || len(got) != 3 || !j.Resumed() {
		t.Errorf("resumed: %v, records %q, want %q", j.Resumed(), got, want)
	}
	var last part
	if ok, err := j.Last("part", &last); !ok || err != nil || last.Number != 2 {
		t.Errorf("last part %v, %v, %v", last, ok, err)
	}
	if ok, err := j.Last("par", &last); ok || err != nil {
		t.Errorf("a record of a kind that there is not: %v, %v", ok, err)
	}
	var numbers []int
	for p, err := range All[part](j, "part") {
		if err != nil {
			t.Error(err)
		}
		numbers = append(numbers, p.Number)
	}
	if !slices.Equal(numbers, []int{1, 2}) {
		t.Errorf("parts %v", numbers)
	}
	var wrong int
	if _, err := j.Last("stage", &wrong); err == nil || !strings.Contains(err.Error(), "Fresh") {
		t.Errorf("a text read as a number: %v", err)
	}
	for range All[part](j, "part") {
		break
	}
}

func TestAJournalWithoutRecordsIsNotResumed(t *testing.T) {
	fs := vfstest.NewMem()
	closeJournal(t, open(t, fs))
	j := open(t, fs)
	defer closeJournal(t, j)
	if j.Resumed() || len(records(t, j)) != 0 {
		t.Error("resumed")
	}
}

func TestAppendIsSafeForConcurrentUse(t *testing.T) {
	fs := vfstest.NewMem()
	j := open(t, fs)
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range 50 {
				add(t, j, "part", 50*worker+i)
				records(t, j)
			}
		})
	}
	wait.Wait()
	closeJournal(t, j)
	j = open(t, fs)
	defer closeJournal(t, j)
	var got []int
	for n, err := range All[int](j, "part") {
		if err != nil {
			t.Error(err)
		}
		got = append(got, n)
	}
	slices.Sort(got)
	if len(got) != 200 || len(slices.Compact(got)) != 200 {
		t.Errorf("%d records", len(got))
	}
}

func TestWhatCannotBeAppendedIsRefused(t *testing.T) {
	j := open(t, vfstest.NewMem())
	for kind, v := range map[string]any{
		"": 1, "a b": 1, "=": 1, "a\n": 1, "Part": 1, // kinds
		"function": func() {}, "long": strings.Repeat("x", maxRecord),
	} {
		if err := j.Append(kind, v); err == nil {
			t.Errorf("a record of kind %q was appended", kind)
		}
	}
	add(t, j, "part-2", nil)
	if got := records(t, j); !slices.Equal(got, []string{"part-2 null"}) {
		t.Errorf("records %q", got)
	}
	closeJournal(t, j)
	closeJournal(t, j) // a second time
	if err := j.Append("part", 1); !errors.Is(err, errClosed) {
		t.Errorf("append to a closed journal: %v", err)
	}
	for _, err := range j.Records() {
		if !errors.Is(err, errClosed) {
			t.Errorf("records of a closed journal: %v", err)
		}
	}
	if _, err := j.Last("part", new(int)); !errors.Is(err, errClosed) {
		t.Errorf("last record of a closed journal: %v", err)
	}
}

func TestOtherSettingsAreRefusedByName(t *testing.T) {
	fs := vfstest.NewMem()
	closeJournal(t, open(t, fs))
	for name, c := range map[string]struct {
		now  iter.Seq[Setting]
		want string
	}{
		"another value": {
			settingsOf("threshold 0.9", "input a.jsonl", "input b.jsonl"),
			"with threshold 0.8, and it is 0.9 now;",
		},
		"one fewer in the middle": {
			settingsOf("threshold 0.8", "input b.jsonl"),
			"with input a.jsonl, and it is b.jsonl now;",
		},
		"one fewer at the end": {
			settingsOf("threshold 0.8", "input a.jsonl"),
			"with input b.jsonl, which is missing now;",
		},
		"one more": {
			settingsOf("threshold 0.8", "input a.jsonl", "input b.jsonl", "input c.jsonl"),
			"without input c.jsonl;",
		},
		"another name": {
			settingsOf("threshold 0.8", "scheme kmins"),
			"with input a.jsonl where there is scheme kmins now;",
		},
		"none at all": {settingsOf(), "with threshold 0.8, which is missing now;"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(fs, folder, c.now, false)
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) {
				t.Fatalf("not a mismatch: %v", err)
			}
			for _, want := range []string{folder, c.want, "Fresh", "another work folder"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
	closeJournal(t, open(t, fs)) // refusals change nothing
}

func TestSettingsOfAnyBytesAreToldApart(t *testing.T) {
	odd := []string{"a", "a\nb", "a\xff", "a\xfe", "a�", `a"`, `a\`, "", " ", "\x00"}
	for _, was := range odd {
		for _, is := range odd {
			fs := vfstest.NewMem()
			one := func(value string) iter.Seq[Setting] { return slices.Values([]Setting{{"input", value}}) }
			j, err := Open(fs, folder, one(was), false)
			if err != nil {
				t.Fatal(err)
			}
			closeJournal(t, j)
			j, err = Open(fs, folder, one(is), false)
			var mismatch *MismatchError
			switch {
			case was == is && err != nil:
				t.Errorf("%q: %v", was, err)
			case was != is && (!errors.As(err, &mismatch) || mismatch.Was.Value != was || mismatch.Is.Value != is):
				t.Errorf("%q after %q: %v", is, was, err)
			}
			if err == nil {
				closeJournal(t, j)
			}
		}
	}
}

func TestAnotherFormatVersionIsRefused(t *testing.T) {
	fs := vfstest.NewMem()
	closeJournal(t, open(t, fs))
	line := []byte("alike journal 2")
	sum := make([]byte, checksumLen)
	putChecksum(sum, line)
	writeFile(t, fs, journalName, fmt.Appendf(nil, "%s %s\nwhatever comes then", line, sum))
	_, err := Open(fs, folder, someSettings, false)
	var mismatch *MismatchError
	if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "journal format 2, and it is 1 now") {
		t.Errorf("%v", err)
	}
}

func TestTheFormatStaysAsItIs(t *testing.T) {
	fs := vfstest.NewMem()
	j := open(t, fs)
	add(t, j, "part", part{1, []string{"x"}})
	closeJournal(t, j)
	const want = `alike journal 1 fa2b1ed1
663d3646 = "threshold" "0.8"
5815ad9c = "input" "a.jsonl"
83512af5 = "input" "b.jsonl"
34f8c9fb . 3
1084c7c5 part {"Number":1,"Files":["x"]}
`
	if got := string(readFile(t, fs, journalName)); got != want {
		t.Errorf("the journal is now\n%s", got)
	}
}

func TestFreshStartsOverAndTouchesOwnNamesOnly(t *testing.T) {
	for name, content := range map[string]string{
		"a journal of other settings": "alike journal 1 fa2b1ed1\n34f8c9fb . 2\n",
		"no journal at all":           "Dear diary",
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfstest.NewMem()
			writeFile(t, fs, "foreign", []byte("x"))
			writeFile(t, fs, newName, []byte("left over"))
			writeFile(t, fs, lockName, nil)
			writeFile(t, fs, journalName, []byte(content))
			if _, err := Open(fs, folder, someSettings, false); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "Fresh") {
				t.Errorf("opened as it was: %v", err)
			}
			j, err := Open(fs, folder, someSettings, true)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := names(t, fs), []string{journalName, lockName, "foreign"}; !slices.Equal(got, want) {
				t.Errorf("files %q, want %q", got, want)
			}
			add(t, j, "part", 1)
			closeJournal(t, j)
			if got, want := names(t, fs), []string{journalName, "foreign"}; !slices.Equal(got, want) {
				t.Errorf("files %q, want %q", got, want)
			}
			j = open(t, fs)
			if err := j.Remove(); err != nil {
				t.Error(err)
			}
			if got, want := names(t, fs), []string{"foreign"}; !slices.Equal(got, want) {
				t.Errorf("files %q, want %q", got, want)
			}
		})
	}
}

func TestOpenWorksInAFolderThatIsThereWithOtherFiles(t *testing.T) {
	fs := vfstest.NewMem()
	writeFile(t, fs, "foreign", []byte("x"))
	j := open(t, fs)
	defer closeJournal(t, j)
	if string(readFile(t, fs, "foreign")) != "x" {
		t.Error("changed")
	}
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	dir := t.TempDir() + "/file"
	if err := os.WriteFile(dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, dir + "/below"} {
		_, err := Open(vfs.OS, d, someSettings, false)
		if err == nil || !strings.Contains(err.Error(), "work folder "+d) || !strings.Contains(err.Error(), "another folder") {
			t.Errorf("%v", err)
		}
	}
}

func TestManySettingsAreNotHeldInMemory(t *testing.T) {
	fs := vfstest.NewMem()
	const n = 20_000
	many := func(yield func(Setting) bool) {
		s := Setting{"input", strings.Repeat("long/", 20) + "file.jsonl, 123456 bytes"}
		for range n {
			if !yield(s) {
				return
			}
		}
	}
	j, err := Open(fs, folder, many, false)
	if err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	allocs := testing.AllocsPerRun(1, func() {
		j, err := Open(fs, folder, many, false)
		if err != nil {
			t.Fatal(err)
		}
		closeJournal(t, j)
	})
	if allocs > 200 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzOpen(f *testing.F) {
	fs := vfstest.NewMem()
	j := open(f, fs)
	add(f, j, "part", 1)
	add(f, j, "part", []string{"two"})
	closeJournal(f, j)
	whole := readFile(f, fs, journalName)
	empty := slices.Index(whole, '.')
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(whole[:empty])
	f.Add(whole[:bytesToRecords(whole)])
	f.Add(append(slices.Clone(whole), "\x00\x00\n\x00"...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		fs := vfstest.NewMem()
		writeFile(t, fs, journalName, content)
		j, err := Open(fs, folder, someSettings, false)
		var mismatch *MismatchError
		if errors.Is(err, ErrCorrupt) || errors.As(err, &mismatch) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		was := records(t, j)
		add(t, j, "more", 1)
		closeJournal(t, j)
		j = open(t, fs)
		defer closeJournal(t, j)
		if got := records(t, j); !slices.Equal(got, append(was, "more 1")) {
			t.Errorf("records %q after %q and one more", got, was)
		}
	})
}

// bytesToRecords returns where the records of a journal of someSettings begin.
func bytesToRecords(journal []byte) int {
	at := 0
	for range 5 {
		at += 1 + slices.Index(journal[at:], '\n')
	}
	return at
}
