package ordered

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// all returns the numbers of the snapshots, the newest first.
func (f *folder) all() []uint64 {
	names, err := f.fs.List(f.dir)
	if err != nil {
		return nil
	}
	var all []uint64
	for _, name := range names {
		if number, ok := numberOf(name); ok {
			all = append(all, number)
		}
	}
	slices.SortFunc(all, func(a, b uint64) int { return cmp.Compare(b, a) })
	return all
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
	for _, old := range f.all()[min(keptSnapshots, len(f.all())):] {
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

// keep begins a snapshot when it is time for one.
func (r *Replica) keep(bytes int64) error {
	r.since += bytes
	due := r.since >= max(r.c.SnapshotBytes, r.size.Load()/2) || time.Since(r.saved) > snapshotEvery
	if !due || r.saving.Load() {
		return nil
	}
	header, err := r.state.appendHeader(nil)
	if err != nil {
		return err
	}
	write, err := r.c.Machine.Save()
	if err != nil {
		return &standsStill{err}
	}
	r.since, r.saved = 0, time.Now()
	r.saving.Store(true)
	number := r.state.Applied
	// Entries up to this one are in the snapshots that all members have told of, and have done what they do.
	before := min(r.state.oldest()+1, r.c.Machine.Needs(number))
	r.saves.Go(func() {
		defer r.saving.Store(false)
		if err := r.save(number, before, header, write); err != nil && r.ctx.Err() == nil {
			r.c.Report.Error("a snapshot was not made", "entry", number, "error", err)
		}
	})
	return nil
}

// snapshotEvery is how old the newest snapshot gets, if there are entries behind it.
const snapshotEvery = time.Hour

// save writes a snapshot, and trims the log.
func (r *Replica) save(number, before uint64, header []byte, write func(to io.Writer) error) error {
	size, err := r.local.write(number, func(to io.Writer) error {
		if _, err := to.Write(header); err != nil {
			return err
		}
		return write(cancelling{r.ctx, to})
	})
	if err != nil {
		return err
	}
	if r.c.Bucket != nil {
		if err := r.upload(number, size); err != nil {
			return err
		}
	}
	r.size.Store(size)
	r.newest.Store(number)
	r.unsaid.Store(true)
	if before <= 1 {
		return nil
	}
	return r.c.Log.Trim(r.ctx, before)
}

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

// upload copies a snapshot into the bucket, unless a replica has put one there that is nearly as new.
func (r *Replica) upload(number uint64, size int64) error {
	all, err := r.inBucket()
	if err != nil {
		return err
	}
	file, err := durable.OpenOwn(r.c.FS, r.local.path(number))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := r.c.Bucket.Upload(r.ctx, snapshotName(number), file, size); err != nil {
		return err
	}
	for i, old := range all {
		if i+1 >= keptSnapshots {
			err = errors.Join(err, r.c.Bucket.Remove(r.ctx, snapshotName(old)))
		}
	}
	return err
}

// inBucket returns the numbers of the snapshots in the bucket, the newest first.
func (r *Replica) inBucket() (all []uint64, err error) {
	if r.c.Bucket == nil {
		return nil, nil
	}
	err = r.c.Bucket.List(r.ctx, func(name string, _ int64) error {
		if number, ok := numberOf(name); ok {
			all = append(all, number)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b uint64) int { return cmp.Compare(b, a) })
	return all, err
}

// kept returns the last entry of the newest snapshot that outlives this process, 0 if there is none.
func (r *Replica) kept() uint64 {
	if !r.c.Durable && r.c.Bucket == nil {
		return 0
	}
	return r.newest.Load()
}

// load loads the newest snapshot that the log goes on from, or begins with nothing if the log has everything.
func (r *Replica) load() error {
	bucket, err := r.inBucket()
	if err != nil {
		return err
	}
	local := r.local.all()
	newest := slices.Max(slices.Concat(local, bucket, []uint64{0}))
	if err := r.c.Log.Open(r.ctx, newest+1); err != nil {
		return err
	}
	first, last, err := r.c.Log.Bounds(r.ctx)
	if err != nil {
		return err
	}
	fits := func(number uint64) bool { return number+1 >= first && number <= last }
	if r.loadOwn(local, fits) || r.loadFromBucket(bucket, fits) {
		return nil
	}
	if number, err := r.fetch(fits); err == nil {
		return r.loadLocal(number)
	}
	switch {
	case first > 1:
		return fmt.Errorf("the log begins at entry %d, and no replica or bucket has a snapshot from which it goes on: %w", first, ErrTrimmed)
	case newest > last:
		return fmt.Errorf("the log ends at entry %d, and a snapshot has %d: see docs/operations.md, Restore: %w", last, newest, ErrShort)
	}
	if err := r.c.Machine.Load(nil); err != nil {
		return err
	}
	r.began(newState())
	return nil
}

func (r *Replica) loadOwn(all []uint64, fits func(number uint64) bool) bool {
	for _, number := range all {
		if !fits(number) {
			continue
		}
		err := r.loadLocal(number)
		if err == nil {
			return true
		}
		r.c.Report.Error("a snapshot was not loaded", "entry", number, "error", err)
	}
	return false
}

func (r *Replica) loadFromBucket(all []uint64, fits func(number uint64) bool) bool {
	for _, number := range all {
		if !fits(number) {
			continue
		}
		_, err := r.local.write(number, func(to io.Writer) error { return r.c.Bucket.Download(r.ctx, snapshotName(number), to) })
		if err == nil {
			err = r.loadLocal(number)
		}
		if err == nil {
			return true
		}
		r.c.Report.Error("a snapshot of the bucket was not loaded", "entry", number, "error", err)
	}
	return false
}

// loadLocal loads a snapshot of the folder.
func (r *Replica) loadLocal(number uint64) error {
	file, err := durable.OpenOwn(r.c.FS, r.local.path(number))
	if err != nil {
		return err
	}
	defer file.Close()
	from := bufio.NewReaderSize(file, 1<<20)
	s, err := readHeader(from)
	if err == nil && s.Applied != number {
		err = errNoSnapshot
	}
	if err == nil {
		err = r.c.Machine.Load(from)
	}
	if err != nil {
		return err
	}
	r.newest.Store(number)
	r.unsaid.Store(true)
	r.began(s)
	return nil
}

func (r *Replica) began(s state) {
	r.state = s
	r.chains.begin(&s)
	r.past.Store(&past{s.Applied, s.Chain})
	r.applied.Store(s.Applied)
	r.knows.Store(int64(s.knows()))
	r.since = 0
}

// question asks another replica for a snapshot: for the number of its newest one, or for a piece of one.
type question struct {
	To     string `json:"to,omitempty"` // the replica; "": whoever has one
	From   string `json:"from"`
	Number uint64 `json:"number,omitempty"`
	Offset int64  `json:"offset,omitempty"`
}

// offer is the answer to a question for the newest snapshot. That to one for a piece is the piece itself.
type offer struct {
	Name   string `json:"name"`
	Number uint64 `json:"number"`
	Size   int64  `json:"size"`
}

// answer answers the questions of others.
func (r *Replica) answer(body []byte) []byte {
	var q question
	if json.Unmarshal(body, &q) != nil || q.From == r.c.Name || q.To != "" && q.To != r.c.Name {
		return nil
	}
	if q.To == "" {
		q.Number = r.newest.Load()
	}
	if q.Number == 0 {
		return nil
	}
	file, err := durable.OpenOwn(r.c.FS, r.local.path(q.Number))
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	if q.To == "" {
		answer, err := json.Marshal(offer{r.c.Name, q.Number, info.Size()})
		if err != nil {
			return nil
		}
		return answer
	}
	piece := make([]byte, max(min(int64(r.c.Log.MostBytes()), mostEntry, info.Size()-q.Offset), 0))
	if n, err := file.ReadAt(piece, q.Offset); err != nil && !(errors.Is(err, io.EOF) && n == len(piece)) {
		return nil
	}
	return piece
}

// fetch copies the newest snapshot of another replica into the folder, if it fits.
func (r *Replica) fetch(fits func(number uint64) bool) (number uint64, err error) {
	var o offer
	answer, err := r.ask(question{From: r.c.Name})
	if err == nil {
		err = json.Unmarshal(answer, &o)
	}
	if err == nil && !fits(o.Number) {
		err = ErrTrimmed
	}
	if err != nil {
		return 0, err
	}
	_, err = r.local.write(o.Number, func(to io.Writer) error {
		for at := int64(0); at < o.Size; {
			piece, err := r.ask(question{From: r.c.Name, To: o.Name, Number: o.Number, Offset: at})
			if err == nil && len(piece) == 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			if _, err := io.Copy(to, bytes.NewReader(piece)); err != nil {
				return err
			}
			at += int64(len(piece))
		}
		return nil
	})
	return o.Number, err
}

func (r *Replica) ask(q question) ([]byte, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, askLimit)
	defer cancel()
	return r.c.Log.Ask(ctx, body)
}

const askLimit = 2 * time.Second
