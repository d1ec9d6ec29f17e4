package among

import (
	"encoding/binary"
	"io"
	"path/filepath"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// sizesSuffix ends the name of the file with the sizes of an index:
//
//	first slot, 8 bytes | sizes, 4 bytes each | CRC-32C of all before, 4 bytes
//
// The sizes in it stay true when documents come and go, since no slot is used twice.
const sizesSuffix = ".sizes"

// sizes returns the sizes of an index's documents, and writes those that were not known. The folder is locked.
func (c *cache) sizes(name string, x *index.Index) (index.Sizes, error) {
	path := filepath.Join(c.dir, name+sizesSuffix)
	s, known := x.NewSearcher(), readSizes(path)
	s.UseSizes(known)
	all, err := s.Sizes()
	if err != nil || len(all.Of) == len(known.Of) {
		return all, err
	}
	return all, writeSizes(path, all)
}

// readSizes returns what the file holds, nothing if it is not whole.
func readSizes(path string) (s index.Sizes) {
	f, err := durable.OpenOwn(vfs.OS, path)
	if err != nil {
		return s
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < 12 || info.Size()%4 != 0 {
		return s
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return s
	}
	content, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if durable.Checksum(0, content) != sum {
		return s
	}
	s.From = binary.LittleEndian.Uint64(content)
	for b := content[8:]; len(b) > 0; b = b[4:] {
		s.Of = append(s.Of, binary.LittleEndian.Uint32(b))
	}
	return s
}

func writeSizes(path string, s index.Sizes) error {
	data := binary.LittleEndian.AppendUint64(nil, s.From)
	for _, n := range s.Of {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	data = binary.LittleEndian.AppendUint32(data, durable.Checksum(0, data))
	return writeWhole(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

// writeWhole writes a file that is whole, and on disk, or as it was before.
func writeWhole(path string, write func(to io.Writer) error) error {
	f, err := filelock.Create(vfs.OS, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}
