package main

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/ulikunitz/xz"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/stage"
)

// scriptCommands are the commands of the scripts beyond those of testscript.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":      cmdExits,
	"account":    cmdAccount,
	"untouched":  cmdUntouched,
	"same":       cmdSame,
	"keys":       cmdKeys,
	"peak":       cmdPeak,
	"bytes":      cmdBytes,
	"longline":   cmdLongLine,
	"compress":   cmdCompress,
	"decompress": cmdDecompress,
	"parquet":    cmdParquet,
	"cutoff":     cmdCutOff,
	"flip":       cmdFlip,
	"prefix":     cmdPrefix,
	"fifo":       cmdFIFO,
	"await":      cmdAwait,
	"endless":    cmdEndless,
	"pack":       cmdPack,
	"socket":     cmdSocket,
	"manyfiles":  cmdManyFiles,
	"runplan":    cmdRunPlan,
	"linked":     cmdLinked,
	"lost":       cmdLost,
	"quiets":     cmdQuiets,
	"spoil":      cmdSpoil,
	"fits":       cmdFits,
	"utf16":      cmdUTF16,
}

// fits NAME FILE: every JSON value of FILE is as alike schema NAME says, and has no member that the schema does not name.
func cmdFits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "fits NAME FILE")
	i := slices.IndexFunc(jsonKinds, func(d jsonKind) bool { return d.name == args[0] })
	need(ts, i >= 0, "a name of a schema")
	closed, err := jsonKinds[i].schema()
	ts.Check(err)
	strict, err := json.Marshal(closed)
	ts.Check(err)
	written := ts.ReadFile(args[1])
	ts.Check(ts.Exec("alike", "schema", args[0]))
	for _, text := range []string{ts.ReadFile("stdout"), string(strict)} {
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		ts.Check(err)
		c := jsonschema.NewCompiler()
		ts.Check(c.AddResource("schema.json", parsed))
		compiled, err := c.Compile("schema.json")
		ts.Check(err)
		values := json.NewDecoder(strings.NewReader(written))
		values.UseNumber()
		n := 0
		for ; values.More(); n++ {
			var value any
			ts.Check(values.Decode(&value))
			if err := compiled.Validate(value); err != nil {
				ts.Fatalf("%s, value %d: %v", args[1], n, err)
			}
		}
		if n == 0 {
			ts.Fatalf("%s is empty", args[1])
		}
	}
}

// utf16 FROM TO [be]: TO is the text FROM in UTF-16 with its mark, little-endian unless told otherwise.
func cmdUTF16(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && (len(args) == 2 || len(args) == 3), "utf16 FROM TO [be]")
	e := bom.UTF16LE
	if len(args) == 3 {
		e = bom.UTF16BE
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), e.AppendBack(nil, []byte("\ufeff"+ts.ReadFile(args[0]))), 0o666))
}

// runplan PLAN [CODE]: all tasks of all stages of a plan run, the last of a stage first. Each ends with the exit code 0,
// publish with CODE.
func cmdRunPlan(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && (len(args) == 1 || len(args) == 2), "runplan PLAN [CODE]")
	ts.Check(ts.Exec("alike", "stage", "list", "--plan", args[0]))
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n") {
		name, n, _ := strings.Cut(line, " ")
		tasks, err := strconv.Atoi(n)
		ts.Check(err)
		code := "0"
		if name == stage.Publish && len(args) > 1 {
			code = args[1]
		}
		for task := tasks - 1; task >= 0; task-- {
			cmdExits(ts, false, []string{code, "alike", "stage", name, "--task", strconv.Itoa(task), "--plan", args[0]})
		}
	}
}

// exits CODE PROGRAM ARG...: the program ends with exactly this exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "exits CODE PROGRAM ARG...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// account DIR READ KEPT REMOVED SKIPPED: the summary in DIR has these counts,
// they and the files agree, and nothing half-written is left.
func cmdAccount(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 5, "account DIR READ KEPT REMOVED SKIPPED")
	var s struct{ Read, Kept, Removed, Skipped, Clusters int }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0]+"/summary.json")), &s))
	got := fmt.Sprint([]int{s.Read, s.Kept, s.Removed, s.Skipped})
	if want := fmt.Sprint(args[1:]); got != want {
		ts.Fatalf("read, kept, removed, skipped are %s, want %s", got, want)
	}
	if s.Read != s.Kept+s.Removed+s.Skipped {
		ts.Fatalf("read = kept + removed + skipped does not hold: %s", got)
	}
	if n := len(readCSV(ts, args[0]+"/removed.csv")) - 1; n != s.Removed {
		ts.Fatalf("removed.csv has %d rows, summary.json says %d", n, s.Removed)
	}
	clusters := map[string]bool{}
	for _, row := range readCSV(ts, args[0]+"/clusters.csv")[1:] {
		clusters[row[1]] = true
	}
	if len(clusters) != s.Clusters {
		ts.Fatalf("clusters.csv has %d clusters, summary.json says %d", len(clusters), s.Clusters)
	}
	noRemains(ts)
}

// untouched PATH...: a failed run has not made these, nor left anything else.
func cmdUntouched(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg, "untouched PATH...")
	for _, path := range args {
		if _, err := os.Lstat(ts.MkAbs(path)); !errors.Is(err, fs.ErrNotExist) {
			ts.Fatalf("%s is there", path)
		}
	}
	noRemains(ts)
}

// noRemains fails when a temporary file or folder of the program is left.
func noRemains(ts *testscript.TestScript) {
	err := filepath.WalkDir(ts.Getenv("WORK"), func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		if err == nil && (strings.HasSuffix(name, ".partial") || filepath.Ext(name) == ".tmp" && name != ".tmp" || strings.HasPrefix(name, "alike-")) {
			return fmt.Errorf("%s is left behind", path)
		}
		return nil // a folder that cannot be read has nothing of ours
	})
	ts.Check(err)
}

// same DIR1 DIR2: both hold the same files with the same bytes, save for what
// a summary.json measures.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 2, "same DIR1 DIR2")
	a, b := tree(ts, args[0]), tree(ts, args[1])
	difference := ""
	for name := range a {
		if a[name] != b[name] {
			difference = name
		}
	}
	if len(a) != len(b) {
		difference = "the number of files"
	}
	if (difference != "") != neg {
		ts.Fatalf("difference: %q", difference)
	}
}

// tree returns the contents of all files below a folder.
func tree(ts *testscript.TestScript, dir string) map[string]string {
	files := map[string]string{}
	dir = ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		if name == "summary.json" && err == nil {
			data, err = withoutMeasures(data)
		}
		files[name] = string(data)
		return err
	}))
	return files
}

func withoutMeasures(summary []byte) ([]byte, error) {
	var s map[string]any
	if err := json.Unmarshal(summary, &s); err != nil {
		return nil, err
	}
	for _, key := range []string{"stages", "seconds", "peak_memory_bytes"} {
		delete(s, key)
	}
	return json.Marshal(s)
}

// keys FILE[:KEY] KEY...: the JSON object in FILE, or the one there under KEY,
// has exactly these keys, in this order. An array's first object stands for all.
func cmdKeys(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "keys FILE[:KEY] KEY...")
	name, inner, _ := strings.Cut(args[0], ":")
	data := json.RawMessage(ts.ReadFile(name))
	if inner != "" {
		var object map[string]json.RawMessage
		ts.Check(json.Unmarshal(data, &object))
		data = object[inner]
	}
	var array []json.RawMessage
	if json.Unmarshal(data, &array) == nil {
		need(ts, len(array) > 0, "an array with elements")
		data = array[0]
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	_, err := decoder.Token()
	ts.Check(err)
	var got []string
	for decoder.More() {
		key, err := decoder.Token()
		ts.Check(err)
		got = append(got, key.(string))
		var value json.RawMessage
		ts.Check(decoder.Decode(&value))
	}
	if !slices.Equal(got, args[1:]) {
		ts.Fatalf("keys are\n%s\nwant\n%s", strings.Join(got, " "), strings.Join(args[1:], " "))
	}
}

// peak DIR MB: the run that wrote DIR has never held so many megabytes. The race
// detector takes a multiple of the memory.
func cmdPeak(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "peak DIR MB")
	var s struct {
		Peak int64 `json:"peak_memory_bytes"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0]+"/summary.json")), &s))
	limit, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Logf("peak %d MB", s.Peak/1e6)
	if s.Peak >= limit*1e6 && !testsize.Race {
		ts.Fatalf("peak memory %d bytes, want below %d MB", s.Peak, limit)
	}
}

// bytes FILE TEXT...: write a file; TEXT may hold the escapes of Go.
func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 1, "bytes FILE TEXT...")
	var data []byte
	for _, arg := range args[1:] {
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(arg, `"`, `\"`) + `"`)
		ts.Check(err)
		data = append(data, s...)
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// longline FILE BYTES: append a JSON line that is that long.
func cmdLongLine(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "longline FILE BYTES")
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	head, tail := `{"id":"long","text":"`, `"}`+"\n"
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	ts.Check(err)
	_, err = file.WriteString(head)
	ts.Check(err)
	words := bytes.Repeat([]byte("word "), 1<<16)
	for left := size - len(head) - len(tail); left > 0; left -= len(words) {
		_, err = file.Write(words[:min(left, len(words))])
		ts.Check(err)
	}
	_, err = file.WriteString(tail)
	ts.Check(errors.Join(err, file.Close()))
}

// compress FROM TO: by the ending of TO.
func cmdCompress(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "compress FROM TO")
	_, compression, _ := corpus.NameFormat(args[1])
	w, err := corpus.Create(ts.MkAbs(args[1]), compression, 1)
	ts.Check(err)
	_, err = io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(errors.Join(err, w.Commit()))
}

// decompress FROM TO: with decoders other than the program's where there are
// some.
func cmdDecompress(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "decompress FROM TO")
	var r io.Reader = strings.NewReader(ts.ReadFile(args[0]))
	var err error
	switch filepath.Ext(args[0]) {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".zst":
		r, err = zstd.NewReader(r)
	case ".bz2":
		r = bzip2.NewReader(r)
	case ".xz":
		r, err = xz.NewReader(r)
	default:
		ts.Fatalf("%s is not compressed", args[0])
	}
	ts.Check(err)
	data, err := io.ReadAll(r)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// parquetRow is a row of the scripts' Parquet files.
type parquetRow struct {
	ID   string  `json:"id" parquet:"id"`
	Text *string `json:"text" parquet:"text,optional"`
	Meta struct {
		Lang string `json:"lang" parquet:"lang,dict"`
	} `json:"meta" parquet:"meta"`
	Tags []string `json:"tags" parquet:"tags,list"`
}

// parquet FROM TO: JSON lines become a Parquet file with row groups of three
// rows; a Parquet file, read by another reader than the program's, becomes JSON
// lines.
func cmdParquet(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "parquet FROM TO")
	var out bytes.Buffer
	from := ts.ReadFile(args[0])
	if filepath.Ext(args[0]) == ".parquet" {
		rows, err := parquet.Read[parquetRow](strings.NewReader(from), int64(len(from)))
		ts.Check(err)
		for _, r := range rows {
			ts.Check(json.NewEncoder(&out).Encode(r))
		}
	} else {
		w := parquet.NewGenericWriter[parquetRow](&out, parquet.MaxRowsPerRowGroup(3), parquet.Compression(&parquet.Uncompressed))
		for decoder := json.NewDecoder(strings.NewReader(from)); decoder.More(); {
			var r parquetRow
			ts.Check(decoder.Decode(&r))
			_, err := w.Write([]parquetRow{r})
			ts.Check(err)
		}
		ts.Check(w.Close())
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o666))
}

// cutoff FILE BYTES: drop the last bytes.
func cmdCutOff(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "cutoff FILE BYTES")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(len(ts.ReadFile(args[0]))-n)))
}

// flip FILE PLACE: change one byte; a negative place counts from the end.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "flip FILE PLACE")
	data := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 0xff
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// prefix FILE ALL: FILE is the beginning of ALL, whole lines and some.
func cmdPrefix(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "prefix FILE ALL")
	part, all := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if !strings.HasPrefix(all, part) || part != "" && !strings.HasSuffix(part, "\n") {
		ts.Fatalf("%s is not whole lines from the beginning of %s", args[0], args[1])
	}
	ts.Logf("%d of %d lines", strings.Count(part, "\n"), strings.Count(all, "\n"))
}

// fifo PATH: make a named pipe, or skip the script where there are none.
func cmdFIFO(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "fifo PATH")
	ts.Check(exec.Command("mkfifo", ts.MkAbs(args[0])).Run())
}

// await PATH: wait until a background command has made it.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "await PATH")
	for range 1000 {
		if found, err := filepath.Glob(ts.MkAbs(args[0])); err == nil && len(found) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s was not made", args[0])
}

func need(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func readCSV(ts *testscript.TestScript, name string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(name))).ReadAll()
	ts.Check(err)
	return rows
}
