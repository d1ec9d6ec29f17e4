package pretext

import (
	"context"
	"errors"
	"golang.org/x/text/encoding/charmap"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
)

func TestHTMLIsWhatAReaderSees(t *testing.T) {
	cases := []struct{ page, want string }{
		{"<p>one <b>two</b>, three<p>four", "one two, three\nfour\n"},
		{"a&amp;b &lt;p&gt;&nbsp;c", "a&b <p>\u00a0c\n"},
		{"<script>x = '<p>no</p>'</script>yes<style>p{}</style>", "yes\n"},
		{"<noscript>no<p>no</noscript>yes<template><p>no</template>", "yes\n"},
		{"<title>Title</title><h1>Head</h1><table><tr><td>a<td>b<tr><td>c</table>", "Title\nHead\na b\nc\n"},
		{"line\n  broken\tin\r\nthe source<br/>next", "line broken in the source\nnext\n"},
		{"<pre>  kept\n\tas it is</pre>after", "  kept\n\tas it is\nafter\n"},
		{"w<wbr>or<i>d</i> x<!-- no -->y", "word xy\n"},
		{"<p>caf\xe9</p>", "café\n"},
		{"<meta charset=utf-8><p>caf\xe9</p>", "caf\ufffd\n"},
		{"\xef\xbb\xbf<p>café", "café\n"},
		{"\xff\xfe<\x00p\x00>\x00a\x00", "a\n"},
		{"", ""}, {"<", "<\n"}, {"</script>a", "a\n"}, {"<p", ""},
	}
	for _, c := range cases {
		var out strings.Builder
		if err := textOfHTML(&out, strings.NewReader(c.page), 1000); err != nil || out.String() != c.want {
			t.Errorf("%q is %q (%v), want %q", c.page, out.String(), err, c.want)
		}
	}
	if err := textOfHTML(io.Discard, strings.NewReader("<meta charset=shift_jis>\x83\x65"), 1000); err == nil || !strings.Contains(err.Error(), "shift_jis") {
		t.Errorf("a page in Shift JIS: %v", err)
	}
	if err := textOfHTML(io.Discard, strings.NewReader("<p>long"), 3); !errors.Is(err, errLong) {
		t.Errorf("a page that is too long: %v", err)
	}
}

// files writes files into a folder and returns their sources.
func files(t *testing.T, content map[string]string) []corpus.Source {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, _, err := corpus.Find(t.Context(), []string{dir}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// texts returns the text of each source, by the name of its file.
func texts(t *testing.T, sources []corpus.Source) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, s := range sources {
		r, err := s.OpenBytes(t.Context(), corpus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(s.Path)] = string(text)
	}
	return out
}

func TestAPageThatIsNotUTF8IsInWindows1252(t *testing.T) {
	page := make([]byte, 256)
	for i := range page {
		page[i] = byte(i)
	}
	want, err := charmap.Windows1252.NewDecoder().Bytes(page)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := asUTF8(page); err != nil || string(got) != string(want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestACommandRunsOnceForEachStateOfAFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	sources := files(t, map[string]string{"a.pdf": "one", "-b.pdf": "two", "c.txt": "three", "d.jsonl": `{"text":"x"}`})
	log := filepath.Join(t.TempDir(), "log")
	c := &Converter{Command: `echo x >>` + log + `; echo "$(basename "$1")"; cat #`, Globs: []string{"*.pdf"}, Most: 1000, Cache: t.TempDir()}
	want := map[string]string{"a.pdf": "a.pdf\none", "-b.pdf": "-b.pdf\ntwo", "c.txt": "three", "d.jsonl": `{"text":"x"}`}
	runs := func() int {
		said, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(said), "x")
	}
	for range 2 {
		made, failed, err := c.Convert(t.Context(), sources)
		if err != nil || len(failed) > 0 {
			t.Fatal(err, failed)
		}
		for name, text := range texts(t, made) {
			if text != want[name] {
				t.Errorf("%s is %q, want %q", name, text, want[name])
			}
		}
		for _, s := range made {
			if s.Format == corpus.Text && s.MakesIDs() {
				t.Errorf("the path of %s names it no more", s.Path)
			}
		}
		if n := runs(); n != 2 {
			t.Fatalf("the command has run %d times for two files", n)
		}
	}
	if err := os.WriteFile(sources[1].Path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, _, err := corpus.Find(t.Context(), []string{filepath.Dir(sources[0].Path)}, corpus.Options{Texts: c.Convert})
	if err != nil || texts(t, again)["a.pdf"] != "a.pdf\nother" || runs() != 3 {
		t.Errorf("after a change: %q, %d runs (%v)", texts(t, again), runs(), err)
	}
}

func TestWhatACommandCannotDoIsAProblem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	cases := []struct{ command, want string }{
		{"echo the reason >&2; exit 3 #", "exit status 3: the reason"},
		{"sleep 60 & sleep 60 #", "has not ended after 200ms"},
		{"cat; cat /dev/zero #", "longer than a record"},
		{"no-such-command-there-is", "exit status 127"},
	}
	sources := files(t, map[string]string{"a.pdf": "one"})
	for _, test := range cases {
		c := &Converter{Command: test.command, Timeout: 200 * time.Millisecond, Most: 1000, Cache: t.TempDir()}
		if strings.Contains(test.command, "zero") || strings.Contains(test.command, "exit") {
			c.Timeout = 0 // not what is tested
		}
		made, failed, err := c.Convert(t.Context(), sources)
		if err != nil || len(made) != 0 || len(failed) != 1 || !strings.Contains(failed[0].Error(), test.want) {
			t.Errorf("%s: %v, %v (%v), want %q", test.command, made, failed, err, test.want)
		}
		left, err := os.ReadDir(c.Cache)
		if err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v (%v)", test.command, left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (&Converter{Command: "sleep 60 #", Cache: t.TempDir()}).Convert(ctx, sources); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestOldTextsLeaveTheCache(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"old": 2 * unused, "new": unused / 2} {
		path, when := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := (&Converter{Command: HTML, Cache: dir}).Convert(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "new" {
		t.Errorf("%v stay (%v)", left, err)
	}
}
