package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/testsize"
)

// endless FILE BYTES TEXT: append so many bytes of a text that is repeated, as
// parts of 4 MiB, compressed as the name says. TEXT may hold the escapes of Go.
func cmdEndless(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "endless FILE BYTES TEXT")
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	part := bytes.Repeat([]byte(text), (4<<20)/len(text))
	packed := packedAs(ts, args[0], part)
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	ts.Check(err)
	for ; size > 0 && err == nil; size -= int64(len(part)) {
		_, err = file.Write(packed)
	}
	ts.Check(errors.Join(err, file.Close()))
}

// pack FILE TEXT...: append a text, compressed as the name says. TEXT may hold
// the escapes of Go.
func cmdPack(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "pack FILE TEXT...")
	var data []byte
	for _, arg := range args[1:] {
		text, err := strconv.Unquote("\"" + string(bytes.ReplaceAll([]byte(arg), []byte(`"`), []byte(`\"`))) + "\"")
		ts.Check(err)
		data = append(data, text...)
	}
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	ts.Check(err)
	_, err = file.Write(packedAs(ts, args[0], data))
	ts.Check(errors.Join(err, file.Close()))
}

// packedAs compresses data as a name says.
func packedAs(ts *testscript.TestScript, name string, data []byte) []byte {
	_, compression, _ := corpus.NameFormat(name)
	temp := filepath.Join(ts.Getenv("WORK"), "packed")
	defer os.Remove(temp)
	w, err := corpus.Create(temp, compression, 1)
	ts.Check(err)
	_, err = w.Write(data)
	ts.Check(errors.Join(err, w.Commit()))
	packed, err := os.ReadFile(temp)
	ts.Check(err)
	return packed
}

// socket PATH: make a socket in the file system.
func cmdSocket(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "socket PATH")
	// The path of a socket may be no longer than about a hundred bytes.
	dir, err := os.MkdirTemp("", "s")
	ts.Check(err)
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s")})
	ts.Check(err)
	l.SetUnlinkOnClose(false)
	ts.Check(l.Close())
	ts.Check(os.Rename(filepath.Join(dir, "s"), ts.MkAbs(args[0])))
}

// manyfiles DIR N: make so many small files.
func cmdManyFiles(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "manyfiles DIR N")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	for i := range n {
		name := strconv.Itoa(i)
		ts.Check(os.WriteFile(filepath.Join(dir, name+".txt"), []byte("text number "+name+" of many, with "+name+" "+name+" "+name+" in it"), 0o666))
	}
}

// TestEveryByteOfAnArchiveFlippedOrCutOff runs the whole program over a small
// archive with one byte changed, or cut off there: it never succeeds with other
// records than those of the whole file.
func TestEveryByteOfAnArchiveFlippedOrCutOff(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	dir := t.TempDir()
	plain := []byte(`{"id":1,"text":"one"}` + "\n" + `{"id":2,"text":"two"}` + "\n" + `{"id":3,"text":"three"}` + "\n")
	for _, suffix := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name := filepath.Join(dir, "a.jsonl"+suffix)
		_, compression, _ := corpus.NameFormat(name)
		w, err := corpus.Create(name, compression, 1)
		if err == nil {
			_, err = w.Write(plain)
		}
		if err == nil {
			err = w.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := sketches(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range packed {
			flipped := bytes.Clone(packed)
			flipped[i] ^= 0x20
			for what, bad := range map[string][]byte{"cut off": packed[:i], "flipped": flipped} {
				if err := os.WriteFile(name, bad, 0o666); err != nil {
					t.Fatal(err)
				}
				have, err := sketches(name)
				if err == nil && have != want || err != nil && !errors.Is(err, errSkipped) {
					t.Errorf("%s, byte %d %s: %v, %s", suffix, i, what, err, have)
				}
			}
		}
	}
}

// sketches runs alike sketch in this process.
func sketches(name string) (string, error) {
	var out bytes.Buffer
	cmd := newRoot([]string{"sketch", name, "--quiet"})
	cmd.SetOut(&out)
	err := cmd.Execute()
	return out.String(), err
}
