package parquetfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/internal/testsize"
)

// damaged calls do with files that have one bit flipped, one in every step bytes:
// as they are, and with the checksum of its page made right again.
func damaged(t *testing.T, step int, do func(what string, bad []byte)) {
	if testsize.Small() {
		step *= 3
	}
	for version := 1; version <= 2; version++ {
		data := tiny(t, version)
		pages := pagesOf(t, data)
		for i := 0; i < len(data); i += step {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << (i * 5 % 8)
			do(fmt.Sprintf("version %d, byte %d", version, i), bad)
			if h := pages[i]; h != nil && sumAgain(bad, h) {
				do(fmt.Sprintf("version %d, byte %d under a checksum", version, i), bad)
			}
		}
	}
}

// pagesOf returns the page to whose body each byte of a file belongs.
func pagesOf(t *testing.T, data []byte) map[int]*pageHead {
	f := open(t, data)
	pages := map[int]*pageHead{}
	for g := range f.groups {
		for i := range f.Leaves {
			c, err := f.chunk(g, i)
			must(t, err)
			for cur := f.cursor(c, DefaultMaxPage); ; {
				h, err := cur.next()
				if err == io.EOF {
					break
				}
				must(t, err)
				for at := h.at + int64(h.size); at < h.end(); at++ {
					pages[int(at)] = h
				}
			}
		}
	}
	return pages
}

// sumAgain writes the checksum of a page into its header, where that has room for
// any number.
func sumAgain(data []byte, h *pageHead) bool {
	old, _ := h.fields.int(headCRC)
	was := binary.AppendVarint(nil, old)
	at := bytes.Index(data[h.at:h.at+int64(h.size)], was)
	if len(was) < binary.MaxVarintLen32 || at < 0 {
		return false
	}
	now := binary.AppendVarint(nil, int64(int32(crc32.ChecksumIEEE(data[h.at+int64(h.size):h.end()]))))
	for len(now) < len(was) {
		now[len(now)-1] |= 0x80
		now = append(now, 0)
	}
	copy(data[int(h.at)+at:], now)
	return true
}

// readable reads every value of every column, with this package and, if strictly,
// with parquet-go, which reads files less liberally.
func readable(data []byte, strictly bool) (rows int64, err error) {
	own, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	if rows, err = own.WholeRows(context.Background(), 0); err != nil || !strictly {
		return rows, err
	}
	defer func() {
		if r := recover(); r != nil {
			rows, err = own.Rows, nil // it cannot be asked
		}
	}()
	rows = 0
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if strings.Contains(err.Error(), "5:FIELD<LIST>") { // it wants a value of every key, the format does not
			return own.Rows, nil
		}
		return 0, err
	}
	for _, g := range f.RowGroups() {
		rows += g.NumRows()
		for _, c := range g.ColumnChunks() {
			if err := readChunk(c); err != nil {
				return 0, err
			}
		}
	}
	if rows != f.NumRows() {
		return 0, fmt.Errorf("%d rows in row groups, %d in the file", rows, f.NumRows())
	}
	return rows, nil
}

func readChunk(c parquet.ColumnChunk) error {
	pages := c.Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		values := make([]parquet.Value, p.NumValues())
		if n, err := p.Values().ReadValues(values); n < len(values) {
			return fmt.Errorf("%d of %d values: %w", n, len(values), err)
		}
	}
}

func TestCopyOfADamagedFileIsValidOrRefused(t *testing.T) {
	damaged(t, 1, func(what string, bad []byte) {
		f, err := Open(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			return
		}
		for name, keep := range map[string]func(row int64) bool{
			"all": func(int64) bool { return true }, "some": func(row int64) bool { return row%3 > 0 },
		} {
			var out bytes.Buffer
			if err := f.Copy(context.Background(), &out, 2, 0, nil, keep, nil); err != nil {
				if !IsDamage(err) {
					t.Errorf("%s: %s: %v", what, name, err)
				}
				continue
			}
			want := int64(0)
			for row := range f.Rows {
				if keep(row) {
					want++
				}
			}
			if rows, err := readable(out.Bytes(), !strings.Contains(what, "under a checksum")); err != nil || rows != want {
				t.Errorf("%s: the copy of %s rows has %d of %d rows that can be read: %v", what, name, rows, want, err)
			}
		}
	})
}

func TestWholeRowsCanBeCopied(t *testing.T) {
	found := map[int64]int{}
	damaged(t, 3, func(what string, bad []byte) {
		f, err := Open(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			return
		}
		rows, damage := f.WholeRows(context.Background(), 0)
		if damage != nil && !IsDamage(damage) || (damage == nil) != (rows == f.Rows) {
			t.Fatalf("%s: %d of %d rows, %v", what, rows, f.Rows, damage)
		}
		found[rows]++
		var out bytes.Buffer
		if err := f.Copy(context.Background(), &out, 2, 0, nil, func(row int64) bool { return row < rows }, nil); err != nil {
			t.Fatalf("%s: %d of %d rows are whole, but not copied: %v", what, rows, f.Rows, err)
		}
		if have, err := readable(out.Bytes(), !strings.Contains(what, "under a checksum")); err != nil || have != rows {
			t.Errorf("%s: %d of %d rows are whole, %d were copied: %v", what, rows, f.Rows, have, err)
		}
	})
	if len(found) < 4 {
		t.Errorf("damage was found after these numbers of rows only: %v", found)
	}
}
