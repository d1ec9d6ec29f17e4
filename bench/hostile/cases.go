//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	good  = `{"id":"good","text":"one document that is as it should be"}` + "\n"
	other = `{"id":"other","text":"another one after it, and nothing wrong with that"}` + "\n"
	kB    = 1000
	GB    = 1000 * 1000 * 1000
)

func cases() []hostile {
	var list []hostile
	for _, group := range [][]hostile{records(), longLines(), bombs(), archives(), folders(), changes(), outputs(), names()} {
		list = append(list, group...)
	}
	return list
}

func records() []hostile {
	return []hostile{
		{name: "malformed lines", make: text("in/a.jsonl", good+`{"id":"x","text":"not closed`+"\n[1]\n"+`{"text":"a" "id":3}`+"\n"+other), exit: 3, kept: 2, skipped: 3, says: "malformed JSON at byte"},
		{name: "lone surrogates", make: text("in/a.jsonl", good+`{"id":"s","text":"a \ud800 b \udc00\ud800 c"}`+"\n"), kept: 2},
		{name: "NUL bytes", make: text("in/a.jsonl", good+"\x00\x00\n{\"id\":\"n\",\"text\":\"a\x00b\"}\n"), exit: 3, kept: 1, skipped: 2, says: "malformed JSON"},
		{name: "not UTF-8", make: text("in/a.jsonl", good+"{\"id\":\"u\",\"text\":\"caf\xe9 \xff\xfe\"}\n"), kept: 2},
		{name: "100,000 levels of JSON", make: text("in/a.jsonl", good+`{"text":"a","x":`+strings.Repeat("[", 100*kB)+strings.Repeat("]", 100*kB)+"}\n"), exit: -1, kept: -1, skipped: -1},
		{name: "no text field", make: text("in/a.jsonl", good+`{"id":1,"body":"a","title":"b"}`+"\n"), exit: 3, kept: 1, skipped: 1, says: `no field "text", there are: id, body, title`},
		{name: "no such column", make: text("in/a.csv", "id,body\n1,a\n"), exit: 3, kept: 0, skipped: 1, says: `no column "text", there are: id, body`},
		{name: "wrong number of columns", make: text("in/a.csv", "id,text\n1,a\n2,b,c\n3\n"), exit: 3, kept: 1, skipped: 2, says: "3 fields where the header has 2"},
		{name: "quote that is never closed", make: text("in/a.csv", "id,text\n1,a\n2,\"b\n3,c\n4,d\n"), exit: 3, kept: 3, skipped: 1, says: "malformed CSV"},
		{name: "duplicate ids", make: text("in/a.jsonl", good+good+other), exit: 3, kept: 2, skipped: 1, says: `id "good" was there before`},
		{name: "empty file", make: text("in/a.jsonl", ""), says: "the input holds no records"},
		{name: "empty documents", make: text("in/a.jsonl", `{"id":1,"text":""}`+"\n"+`{"id":2,"text":""}`+"\n"+`{"id":3,"text":" . "}`+"\n"), kept: 3, says: "3 documents have no text to compare"},
		{name: "text field that no record has", make: text("in/a.jsonl", strings.Repeat(`{"body":"a"}`+"\n", 1000)), exit: 3, kept: 0, skipped: 1000, says: `1,000 in all: missing field \(1,000\)`},
		{name: "semicolons in .csv", make: text("in/a.csv", "id;text\n1;a\n"), exit: 3, kept: 0, skipped: 1, says: "seem to be separated by semicolons"},
		{name: "escapes in names of fields and in ids", make: text("in/a.jsonl", good+`{"\u001b[2J\u202e":"a"}`+"\n"), exit: 3, kept: 1, skipped: 1, says: `there are: "\\x1b\[2J\\u202e"`},
		{name: ".parquet of no bytes", make: all(text("in/a.parquet", ""), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 1, says: "a.parquet: not a Parquet file: it has 0 bytes"},
		{name: ".parquet that is none", make: all(text("in/a.parquet", good), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 1, says: "a.parquet: not a Parquet file: it starts with"},
		{name: "documents of one token", make: text("in/a.jsonl", `{"id":1,"text":"one"}`+"\n"+`{"id":2,"text":"one"}`+"\n"+`{"id":3,"text":"two"}`+"\n"), kept: 2},
		{name: "a million copies of one line, compressed", make: long("in/a.jsonl.gz", "", `{"text":"the same text in every line"}`+"\n", 39*1000*kB, ""), args: []string{"dedup", "in", "-o", "out", "--id-field", "-"}, kept: 1},
	}
}

func longLines() []hostile {
	head, tail := good+`{"id":"long","text":"`, "\"}\n"+other
	list := []hostile{}
	for _, ext := range []string{"", ".gz", ".zst", ".bz2", ".xz"} {
		list = append(list, hostile{
			name: "line of 1 GB in .jsonl" + ext, make: long("in/a.jsonl"+ext, head, "all the words of a very long line ", GB, tail),
			exit: 3, kept: 2, skipped: 1, says: "a.jsonl" + ext + ":2: record is longer than 67108864 bytes",
		})
	}
	return append(list,
		hostile{name: "line of 1 GB on standard input", stdin: repeated(head, "all the words of a very long line ", GB, tail), args: []string{"dedup", "-", "-o", "out"},
			exit: 3, kept: 2, skipped: 1, says: "stdin.jsonl:2: record is longer than 67108864 bytes"},
		hostile{name: "line of 1 GB in .csv", make: long("in/a.csv", "id,text\n1,a\n2,", "all the words of a very long line ", GB, "\n3,b\n"),
			exit: 3, kept: 2, skipped: 1, says: "a.csv:3: record is longer than 67108864 bytes"},
		hostile{name: "quoted field of 200 MB in .csv", make: long("in/a.csv", "id,text\n1,a\n2,\"", "a line of a very long field\n", 200*1000*kB, "\"\n3,b\n"),
			exit: 3, kept: -1, skipped: -1, says: "a.csv:3: malformed CSV"},
		hostile{name: "document of 1 GB", make: all(long("in/a.txt", "", "all the words of a very long text ", GB, ""), text("in/b.txt", "short")),
			exit: 3, kept: 1, skipped: 1, says: "a.txt:1: record is longer than"},
	)
}

func bombs() []hostile {
	head := good + `{"id":"bomb","text":"`
	bomb := "looks like a decompression bomb"
	return []hostile{
		{name: "gzip bomb, 64 GB in 64 MB", make: all(gzipZeros("in/a.jsonl.gz", 64), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 2, says: "a.jsonl.gz:1: expands to .*" + bomb},
		{name: "zstd bomb of one frame, 100 GB in 3 MB", make: zstdRuns("in/a.jsonl.zst", head, 'x', 100*GB), exit: 3, kept: 1, skipped: 2, says: bomb},
		{name: "zstd bomb of blank lines, 100 GB", make: zstdRuns("in/a.jsonl.zst", good, '\n', 100*GB), exit: 3, kept: 1, skipped: 1, says: bomb},
		{name: "zstd bomb of many frames, 20 GB", make: long("in/a.jsonl.zst", head, "x", 20*GB, ""), exit: 3, kept: 1, skipped: 2, says: bomb},
		{name: "bzip2 bomb, 20 GB in 30 kB", make: long("in/a.jsonl.bz2", head, "x", 20*GB, ""), exit: 3, kept: 1, skipped: 2, says: bomb},
		{name: "xz bomb, 20 GB in 4 MB", make: long("in/a.jsonl.xz", head, "x", 20*GB, ""), exit: 3, kept: 1, skipped: 2, says: bomb},
		{name: "zstd bomb of 84 million empty records", make: all(long("in/a.jsonl.zst", "", "{}\n", 252*1000*kB, ""), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: -1, says: bomb},
		{name: "Parquet dictionary of one text for 400,000 rows, 6.4 GB", make: all(oneText("in/a.parquet", 400*kB, 16*kB), text("in/b.jsonl", good)), args: []string{"dedup", "in", "-o", "out", "--id-field", "-"}, exit: 3, kept: 2, skipped: 1, says: "a.parquet:.*" + bomb},
		{name: "document that is a bomb", make: all(zstdRuns("in/a.txt.zst", "", 'x', 100*GB), text("in/b.txt", "short")), exit: 3, kept: 1, skipped: 1, says: "a.txt.zst:1: record is longer than"},
		{name: "zstd that asks for a window of 2 GB", make: all(func() error { return file("in/a.jsonl.zst", []byte("\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00\n")) }, text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 1, says: "a window of more than 128 MiB"},
		{name: "xz that asks for a dictionary of 1 GB", make: all(greedyXz("in/a.jsonl.xz"), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 1, says: "a dictionary of more than 128 MiB"},
	}
}

func archives() []hostile {
	var list []hostile
	for _, ext := range []string{"gz", "zst", "bz2", "xz"} {
		name := "in/a.jsonl." + ext
		list = append(list,
			hostile{name: "." + ext + " that breaks off", make: all(damaged(name, 3000, 0), text("in/b.jsonl", good)), exit: 3, kept: -1, skipped: 1, says: "a.jsonl." + ext + ".*unexpected end of"},
			hostile{name: "." + ext + " with a changed byte", make: all(damaged(name, 0, 3000), text("in/b.jsonl", good)), exit: 3, kept: -1, skipped: -1, says: "a.jsonl." + ext + ".*corrupt"},
			hostile{name: "." + ext + " that is none", make: all(text(name, good), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 1, says: "a.jsonl." + ext + ".*corrupt"},
			hostile{name: "." + ext + " with zero bytes after it", make: followed(name, make([]byte, 10240)), kept: 5000},
			hostile{name: "." + ext + " with garbage after it", make: followed(name, []byte("no archive\n")), exit: 3, kept: 5000, skipped: 1, says: "a.jsonl." + ext + ":5000: 11 bytes of garbage after complete"},
			hostile{name: "." + ext + " of no bytes", make: all(text(name, ""), text("in/b.jsonl", good)), exit: 3, kept: 1, skipped: 1, says: "a.jsonl." + ext + ".*unexpected end"},
		)
	}
	return list
}

func folders() []hostile {
	ok := text("in/a.jsonl", good)
	return []hostile{
		{name: "symbolic links in circles, to nothing, to themselves", make: all(ok, sh("cd in; ln -s . here; ln -s .. up; ln -s self self; ln -s nowhere none")), exit: 3, kept: 1, skipped: 4, says: "a symbolic link to the folder that it is in"},
		{name: "FIFO in a folder", make: all(ok, sh("mkfifo in/pipe in/pipe.jsonl")), exit: 3, kept: 1, skipped: 2, says: "a FIFO, not a file"},
		{name: "socket in a folder", make: all(ok, socket("in/socket")), exit: 3, kept: 1, skipped: 1, says: "a socket, not a file"},
		{name: "socket that was named", make: socket("socket"), args: []string{"dedup", "socket", "-o", "out"}, exit: 1, says: "a socket, not a file", noOutput: true},
		{name: "device in a folder", make: all(ok, sh("mknod in/zero c 1 5 && mknod in/disk b 7 200")), exit: 3, kept: 1, skipped: 2, says: "a device, not a file"},
		{name: "device that was named", shell: `ulimit -f 4000; "$alike" dedup /dev/zero -o out`, exit: 1, says: "a device, not a file", noOutput: true},
		{name: "FIFO that was named", make: sh("mkfifo pipe"), args: []string{"dedup", "pipe", "-o", "out"}, during: func() error { return file("pipe", []byte(good+other)) }, kept: 2},
		{name: "file that may not be read", make: all(ok, text("in/b.jsonl", good), sh("chmod 000 in/b.jsonl")), user: true, exit: 3, kept: 1, skipped: 1, says: "in/b.jsonl: permission denied; make it readable or leave it out"},
		{name: "folder that may not be read", make: all(ok, text("in/b/c.jsonl", good), sh("chmod 000 in/b")), user: true, exit: 3, kept: 1, skipped: 1, says: "in/b: permission denied"},
		{name: "file that is not there", args: []string{"dedup", "nowhere.jsonl", "-o", "out"}, exit: 1, says: "nowhere.jsonl: no such file or folder; check the name", noOutput: true},
		{name: "100,000 files in one folder", make: many("in", 100*kB), kept: 100 * kB},
		{name: "folders 3000 deep", make: all(ok, deep(3000)), exit: 3, kept: 1, skipped: 1, says: "file name too long"},
		{name: "folders 500 deep", make: all(ok, deep(500)), kept: 2},
	}
}

// many returns a step that makes many small files.
func many(dir string, n int) func() error {
	return func() error {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		for i := range n {
			if err := os.WriteFile(fmt.Sprintf("%s/%06d.txt", dir, i), fmt.Appendf(nil, "text %d of %d that is like no other one, %x", i, n, i*7919), 0o666); err != nil {
				return err
			}
		}
		return nil
	}
}

// deep returns a step that makes nested folders and a file in the innermost one.
func deep(n int) func() error {
	return sh(fmt.Sprintf(`cd in; i=0; while [ $i -lt %d ]; do mkdir d; cd -P d; i=$((i+1)); done; echo 'the text at the bottom' > bottom.txt`, n))
}

// changes are cases of files that change between listing and reading. A FIFO makes
// the run wait after it has listed its inputs and before it reads any.
func changes() []hostile {
	waiting := func(change func() error) func() error {
		return func() error {
			f, err := os.OpenFile("pipe", os.O_WRONLY, 0) // returns when alike opens it
			if err != nil {
				return err
			}
			defer f.Close()
			if err := change(); err != nil {
				return err
			}
			_, err = f.WriteString(other)
			return err
		}
	}
	setup := all(func() error { return file("in/a.jsonl", lines(1000)) }, sh("mkfifo pipe"))
	args := []string{"dedup", "pipe", "in", "-o", "out"}
	return []hostile{
		{name: "file that vanishes before it is read", make: setup, args: args, during: waiting(func() error { return os.Remove("in/a.jsonl") }), exit: 3, kept: 1, skipped: 1, says: "in/a.jsonl: no such file"},
		{name: "file that becomes a FIFO", make: setup, args: args, during: waiting(sh("rm in/a.jsonl; mkfifo in/a.jsonl")), exit: 3, kept: 1, skipped: 1, says: "in/a.jsonl: not a regular file any more"},
		{name: "file that shrinks before it is read", make: setup, args: args, during: waiting(func() error { return os.Truncate("in/a.jsonl", 1000) }), exit: 3, kept: 1, skipped: 1, says: "in/a.jsonl: the file has changed since it was looked up"},
		{name: "file that grows before it is read", make: setup, args: args, during: waiting(func() error { return file("in/a.jsonl", lines(1500)) }), exit: 3, kept: 1, skipped: 1, says: "in/a.jsonl: the file has changed since it was looked up"},
		{name: "standard input that stays open", stdin: func(w io.Writer) error {
			for range 20 {
				if _, err := w.Write([]byte("\n")); err != nil {
					return err
				}
				time.Sleep(50 * time.Millisecond)
			}
			_, err := w.Write([]byte(good))
			return err
		}, args: []string{"dedup", "-", "-o", "out"}, kept: 1},
	}
}

func outputs() []hostile {
	ok := func() error { return file("in/a.jsonl", lines(5000)) }
	tiny := func(size, command string) string {
		return "mkdir -p disk && unshare -rm sh -c 'mount -t tmpfs -o size=" + size + " none disk && { " + command + "; code=$?; find disk -mindepth 2 1>&2; exit $code; }'"
	}
	return []hostile{
		{name: "output folder on a full disk", make: ok, shell: tiny("64k", `"$alike" dedup in -o disk/out`), exit: 1, says: "no space left on device; make room, or name another disk"},
		{name: "work folder on a full disk", make: ok, shell: tiny("64k", `"$alike" dedup - -o out --work disk/w < in/a.jsonl`), exit: 1, says: "no space left on device; make room: finished work is in disk", noOutput: true},
		{name: "output folder on a read-only disk", make: ok, shell: "mkdir -p disk && unshare -rm sh -c 'mount -t tmpfs -o ro none disk && \"$alike\" dedup in -o disk/out'", exit: 1, says: "read-only file system; name another folder"},
		{name: "output folder without permission", make: all(ok, sh("mkdir locked; chmod 555 locked")), user: true, args: []string{"dedup", "in", "-o", "locked/out"}, exit: 1, says: "permission denied; name another folder"},
		{name: "/dev/full as output", make: ok, args: []string{"pairs", "in", "-o", "/dev/full"}, exit: 1, says: "no space left on device; make room"},
		{name: "output that is the input", make: ok, args: []string{"dedup", "in", "-o", "in"}, exit: 2, says: "output folder in is also an input: name another folder", noOutput: true},
		{name: "output inside the input", make: ok, args: []string{"dedup", "in", "-o", "in/out"}, exit: 2, says: "lies inside the input in: name a folder outside of it"},
		{name: "output folder that is not empty", make: all(ok, text("out/mine", "a")), exit: 1, says: "output folder out is not empty"},
	}
}

func names() []hostile {
	return []hostile{
		{name: "names with line feeds and escapes", make: all(text("in/a\nb.jsonl", good+"{\n"), text("in/\x1b[31mred.jsonl", other)), exit: 3, kept: 2, skipped: 1, says: `skipped "in/a\\nb.jsonl":2: malformed JSON`},
		{name: "names that are not UTF-8", make: all(text("in/caf\xe9.jsonl", good+"{\n"), text("in/\xff\xfe.txt", "a text")), exit: 3, kept: 2, skipped: 1, says: `skipped "in/caf\\xe9.jsonl":2: malformed JSON`},
		{name: "names of 255 bytes", make: all(text("in/"+strings.Repeat("n", 249)+".jsonl", good), text("in/"+strings.Repeat("n", 246)+".jsonl.gz", good)), exit: 3, kept: 1, skipped: 1, says: "corrupt gzip"},
		{name: "names that differ by case only", make: all(text("in/a.jsonl", good), text("in/A.jsonl", other)), kept: 2},
	}
}
