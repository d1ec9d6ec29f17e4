package ordered

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// A snapshot is the file NUMBER.snapshot, with the number of the last entry in it:
//
//	"alike replica 1\n", size of the state uvarint, state in JSON, its CRC-32C, what the machine has written
const (
	snapshotMagic  = "alike replica 1\n"
	snapshotSuffix = ".snapshot"
	keptSnapshots  = 2
)

// errNoSnapshot says that a file is no snapshot.
var errNoSnapshot = errors.New("no snapshot of this version, or a damaged one")

// A Bucket has snapshots that all replicas may load.
type Bucket interface {
	List(ctx context.Context, each func(name string, size int64) error) error
	Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error
	Download(ctx context.Context, name string, to io.Writer) error
	Remove(ctx context.Context, name string) error
}

func snapshotName(number uint64) string { return fmt.Sprintf("%020d%s", number, snapshotSuffix) }

// numberOf returns the number in the name of a snapshot.
func numberOf(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, snapshotSuffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}

// folder has the snapshots of one replica.
type folder struct {
	fs  vfs.FS
	dir string
}

func (f *folder) path(number uint64) string { return filepath.Join(f.dir, snapshotName(number)) }

// IsSnapshot tells whether a file has the name of a snapshot.
func IsSnapshot(name string) bool {
	_, ok := numberOf(name)
	return ok
}

// all returns the numbers of the snapshots, the newest first.
func (f *folder) all() (all []uint64, err error) {
	names, err := f.fs.List(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		if number, ok := numberOf(name); ok {
			all = append(all, number)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, nil
}

func (f *folder) remove(number uint64) error { return f.fs.Remove(f.path(number)) }

// write makes a snapshot, and removes old ones.
func (f *folder) write(number uint64, write func(to io.Writer) error) (size int64, err error) {
	file, err := durable.Create(f.fs, f.path(number))
	if err != nil {
		return 0, err
	}
	defer file.Abort()
	counted := &counting{to: file}
	if err := write(counted); err != nil {
		return 0, err
	}
	if err := file.Commit(); err != nil {
		return 0, err
	}
	all, err := f.all()
	for _, old := range all[min(keptSnapshots, len(all)):] {
		err = errors.Join(err, f.remove(old))
	}
	return counted.n, err
}

type counting struct {
	to io.Writer
	n  int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.to.Write(p)
}

// appendState appends what stands before the machine's part of a snapshot.
func (s *state) appendHeader(dst []byte) ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return dst, err
	}
	dst = binary.AppendUvarint(append(dst, snapshotMagic...), uint64(len(body)))
	return binary.LittleEndian.AppendUint32(append(dst, body...), durable.Checksum(0, body)), nil
}

// mostState is the largest size of a state, in bytes.
const mostState = 16 << 20

func readHeader(from *bufio.Reader) (s state, err error) {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(from, magic); err != nil || string(magic) != snapshotMagic {
		return s, errNoSnapshot
	}
	size, err := binary.ReadUvarint(from)
	if err != nil || size > mostState {
		return s, errNoSnapshot
	}
	body := make([]byte, size+durable.ChecksumSize)
	if _, err := io.ReadFull(from, body); err != nil {
		return s, errNoSnapshot
	}
	body, sum := body[:size], body[size:]
	if binary.LittleEndian.Uint32(sum) != durable.Checksum(0, body) {
		return s, errNoSnapshot
	}
	s = newState()
	return s, json.Unmarshal(body, &s)
}

func (s *snapshots) write(ctx context.Context, number uint64, header []byte, write func(to io.Writer) error) (size int64, err error) {
	return s.folder.write(number, func(to io.Writer) error {
		if _, err := to.Write(header); err != nil {
			return err
		}
		return write(cancelling{ctx, to})
	})
}

// last writes a snapshot of all that was applied, so that the next process has nothing to apply again, and whoever wants a copy
// has it.
func (s *snapshots) last(of *state) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), lastLimit)
	defer cancel()
	header, err := of.appendHeader(nil)
	if err != nil {
		return err
	}
	write, err := s.c.Machine.Save()
	if err != nil {
		return err
	}
	if _, err = s.write(ctx, of.Applied, header, write); err == nil {
		s.newest.Store(of.Applied)
	}
	return err
}

// lastLimit is how long a replica that ends writes: Kubernetes waits for 30 s, of which some are over.
const lastLimit = 15 * time.Second

// cancelling is a writer that fails once the context has ended.
type cancelling struct {
	ctx context.Context
	to  io.Writer
}

func (c cancelling) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.to.Write(p)
}
