//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/ulikunitz/xz"

	"github.com/alike-dev/alike/corpus"
)

// lines returns n records with different texts.
func lines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"id":"r%d","text":"record number %d has a text of its own, of %x and %x"}`+"\n", i, i, i*i*2654435761, i*7919*i)
	}
	return b.Bytes()
}

// file writes a file and the folders above it.
func file(path string, data ...[]byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Join(data, nil), 0o666)
}

// text returns a step that writes a file.
func text(path, content string) func() error {
	return func() error { return file(path, []byte(content)) }
}

func all(steps ...func() error) func() error {
	return func() error {
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
}

// sh is a step of the shell.
func sh(script string) func() error {
	return func() error {
		if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %s", err, bytes.TrimSpace(out))
		}
		return nil
	}
}

// packed compresses data as the suffix of a name says.
func packed(name string, data []byte) ([]byte, error) {
	_, c, _ := corpus.NameFormat(name)
	if c == corpus.Plain {
		return data, nil
	}
	dir, err := os.MkdirTemp("", "hostile-pack-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x")
	w, err := corpus.Create(path, c, 1)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// long returns a step that writes head, size bytes that repeat piece, and tail, to
// a file that is compressed as its name says. It does not hold the whole in memory.
func long(path, head, piece string, size int64, tail string) func() error {
	return func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		chunk := bytes.Repeat([]byte(piece), 1<<20/len(piece))
		if strings.HasSuffix(path, ".bz2") { // whole blocks, as large as they can be
			chunk = bytes.Repeat([]byte(piece), 40<<20/len(piece))
		}
		middle, err := packed(path, chunk)
		if err != nil {
			return err
		}
		for _, end := range []string{head, "", tail} {
			if end == "" {
				for left := size; left > 0; left -= int64(len(chunk)) {
					if _, err := f.Write(middle); err != nil {
						return err
					}
				}
				continue
			}
			data, err := packed(path, []byte(end))
			if err != nil {
				return err
			}
			if _, err := f.Write(data); err != nil {
				return err
			}
		}
		return nil
	}
}

// zstdRuns returns a step that writes a zstd file of one frame: head, and then size
// bytes of one value, in blocks of 128 KiB that take 4 bytes each.
func zstdRuns(path, head string, b byte, size int64) func() error {
	return func() error {
		data, err := packed(path, []byte(head))
		if err != nil {
			return err
		}
		data = append(data, "\x28\xb5\x2f\xfd\x00\x38"...)
		for left := size >> 17; left > 0; left-- {
			h := 1<<1 | 128<<10<<3
			if left == 1 {
				h |= 1
			}
			data = append(data, byte(h), byte(h>>8), byte(h>>16), b)
		}
		return file(path, data)
	}
}

// damaged returns a step that writes compressed records, and then cuts the file off
// or changes a byte. Both places count from the end; 0 means none.
func damaged(path string, cut, flip int) func() error {
	return func() error {
		data, err := packed(path, lines(5000))
		if err != nil {
			return err
		}
		data = data[:len(data)-cut]
		if flip > 0 {
			data[len(data)-flip] ^= 0xff
		}
		return file(path, data)
	}
}

// followed returns a step that writes compressed records with something after them.
func followed(path string, by []byte) func() error {
	return func() error {
		data, err := packed(path, lines(5000))
		if err != nil {
			return err
		}
		return file(path, data, by)
	}
}

// oneText returns a step that writes a Parquet file whose rows have the same text, which it holds once, in a dictionary.
func oneText(path string, rows, size int) func() error {
	type row struct {
		Text string `parquet:"text,dict"`
	}
	return func() error {
		one, all := strings.Repeat("all the words of it ", size/20), make([]row, rows)
		for i := range all {
			all[i].Text = one
		}
		var data bytes.Buffer
		w := parquet.NewGenericWriter[row](&data, parquet.Compression(&parquet.Zstd), parquet.SkipPageBounds("text"))
		_, err := w.Write(all)
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
		return file(path, data.Bytes())
	}
}

// gzipZeros returns a step that writes gigabytes of one byte as gzip members of
// 64 MiB, with deflate's best compression, 1000 to 1.
func gzipZeros(path string, gigabytes int) func() error {
	return func() error {
		var one bytes.Buffer
		z, err := gzip.NewWriterLevel(&one, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, io.LimitReader(zeros{}, 64<<20)); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		return file(path, bytes.Repeat(one.Bytes(), gigabytes*16))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'z'
	}
	return len(p), nil
}

// repeated writes head, size bytes that repeat piece, and tail to a pipe.
func repeated(head, piece string, size int64, tail string) func(io.Writer) error {
	return func(w io.Writer) error {
		chunk := bytes.Repeat([]byte(piece), 1<<20/len(piece))
		_, err := io.WriteString(w, head)
		for left := size; left > 0 && err == nil; left -= int64(len(chunk)) {
			_, err = w.Write(chunk)
		}
		if err == nil {
			_, err = io.WriteString(w, tail)
		}
		return err
	}
}

// socket returns a step that makes a socket in the file system.
func socket(path string) func() error {
	return func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		return l.Close()
	}
}

// greedyXz returns a step that writes 10 MB of records as one xz stream that needs
// a dictionary of 1 GB.
func greedyXz(path string) func() error {
	return func() error {
		var b bytes.Buffer
		w, err := xz.WriterConfig{DictCap: 1 << 20}.NewWriter(&b)
		if err != nil {
			return err
		}
		if _, err := w.Write(bytes.Repeat(lines(100), 1500)); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		// The header of the first block: length, flags, filter, its length, code of
		// the dictionary, padding, check sum.
		h := b.Bytes()[12:24]
		h[4] = 36
		binary.LittleEndian.PutUint32(h[8:], crc32.ChecksumIEEE(h[:8]))
		return file(path, b.Bytes())
	}
}
