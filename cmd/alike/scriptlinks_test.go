package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// linked KIND DIR PROGRAM ARG...: for every name in the folder of an index, the name becomes a link
// to a file or folder outside, and the program runs. KIND is symbolic, dangling or hard. Nothing
// outside may change, and no name may be made there. Over a symbolic link the program fails and names
// it; a hard link is a file with an odd content, which may be damage or of no account. The folder is as before after each run.
func cmdLinked(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 3, "linked KIND DIR PROGRAM ARG...")
	kind, dir := args[0], ts.MkAbs(args[1])
	whole := filepath.Join(ts.Getenv("WORK"), "whole")
	ts.Check(os.RemoveAll(whole))
	ts.Check(os.CopyFS(whole, os.DirFS(dir)))
	var names []string
	ts.Check(fs.WalkDir(os.DirFS(whole), ".", func(name string, d fs.DirEntry, err error) error {
		if name != "." && (kind != "hard" || !d.IsDir()) {
			names = append(names, name)
		}
		return err
	}))
	// Lock files are made by the first process, and gone after it.
	names = append(names, "lock", "store/LOCK")
	for _, name := range names {
		ts.Check(os.RemoveAll(dir))
		ts.Check(os.CopyFS(dir, os.DirFS(whole)))
		plant(ts, kind, filepath.Join(dir, name), filepath.Join(whole, name))
		err := ts.Exec(args[2], args[3:]...)
		checkOutside(ts, kind, name)
		stderr := ts.ReadFile("stderr")
		switch {
		case err == nil && kind != "hard":
			ts.Fatalf("%s as a %s link: not refused", name, kind)
		case err != nil && kind != "hard" && !strings.Contains(stderr, path.Base(name)):
			ts.Fatalf("%s as a %s link: the message does not name it: %s", name, kind, stderr)
		case strings.Contains(stderr, "panic"):
			ts.Fatalf("%s as a %s link: %s", name, kind, stderr)
		}
	}
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.Rename(whole, dir))
}

const outsideText = "this file is not alike's\n"

// plant replaces a name by a link to something in the folder outside.
func plant(ts *testscript.TestScript, kind, name, was string) {
	outside := filepath.Join(ts.Getenv("WORK"), "outside")
	ts.Check(os.RemoveAll(outside))
	ts.Check(os.Mkdir(outside, 0o777))
	target := filepath.Join(outside, "mine")
	info, err := os.Stat(was)
	switch {
	case kind == "dangling":
	case err == nil && info.IsDir():
		ts.Check(os.CopyFS(target, os.DirFS(was)))
	default:
		ts.Check(os.WriteFile(target, []byte(outsideText), 0o666))
	}
	ts.Check(os.RemoveAll(name))
	if kind == "hard" {
		ts.Check(os.Link(target, name))
	} else {
		ts.Check(os.Symlink(target, name))
	}
}

// checkOutside checks that the folder outside is as plant has made it.
func checkOutside(ts *testscript.TestScript, kind, name string) {
	outside := filepath.Join(ts.Getenv("WORK"), "outside")
	target := filepath.Join(outside, "mine")
	info, err := os.Stat(target)
	switch {
	case kind == "dangling":
		if err == nil {
			ts.Fatalf("%s: the target of a dangling link was made", name)
		}
	case err != nil:
		ts.Fatalf("%s: the target is gone: %v", name, err)
	case info.IsDir():
		was := filepath.Join(ts.Getenv("WORK"), "whole", name)
		if have, want := listing(ts, target), listing(ts, was); have != want {
			ts.Fatalf("%s: the folder outside has changed: %s, was %s", name, have, want)
		}
	default:
		if text := ts.ReadFile(target); text != outsideText {
			ts.Fatalf("%s: the file outside has changed: %q", name, text)
		}
	}
}

// listing returns the names and contents below a folder.
func listing(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		b.WriteString(rel + "=" + string(data) + ";")
		return err
	}))
	return b.String()
}

// lost PROGRAM ARG...: the program refuses to run without standard output.
func cmdLost(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "lost PROGRAM ARG...")
	cmdExits(ts, false, append([]string{"1", "sh", "-c", `"$@" < a.jsonl >&-`, "sh"}, args...))
	if stderr := ts.ReadFile("stderr"); !strings.Contains(stderr, "standard output is closed") {
		ts.Fatalf("%v without standard output: %s", args, stderr)
	}
}
