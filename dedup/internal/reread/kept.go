package reread

import (
	"cmp"
	"slices"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/vfs"
)

// Kept holds what the first pass has decoded, so that compressed files need not be decoded a second time, neither to
// verify nor to write: decoding a gzip file takes longer than all other work on it. A little is in memory, the rest in
// a file that the system's cache has room for. What does not fit is read once more.
type Kept struct {
	Held int64 // bytes in memory, at most

	space *scratch.Space
	most  int64 // bytes; 0: no limit

	mu    sync.Mutex
	size  int64
	files map[int][]keptBlock
	full  bool // nothing more is added
	disk  vfs.File
	used  int64 // bytes of disk
	taken int   // files whose Blocks are not at their end
}

// keptBlock is a block's bytes and their offset in the decoded file.
type keptBlock struct {
	seq    int64
	offset int64
	length int64
	data   []byte   // nil: on disk
	at     int64    // place on disk
	sums   []uint32 // of its pages there
}

const (
	keptName     = "decoded"
	keptOverhead = 64
	keptPage     = 4 << 10
	longBlock    = 16 << 20 // larger ones are only read when a reader of files admits it
)

// keptInMemory is the most that is held, so that small inputs never touch the disk. So much may be
// kept in all, whatever the memory, since the system's cache takes it.
const (
	keptInMemory = 24 << 20
	keptAtLeast  = 1 << 30
)

// NewKept keeps up to an eighth of the memory for data, wherever it is, or 1 GiB if that is more.
func NewKept(space *scratch.Space) *Kept {
	k := &Kept{Held: keptInMemory, space: space}
	if share := space.Share(8); share > 0 {
		k.Held, k.most = min(k.Held, share), max(share, keptAtLeast)
	}
	return k
}

// Expect returns how many of so many decoded bytes will be in memory, and how many on disk.
func (k *Kept) Expect(decoded int64) (held, onDisk int64) {
	if k.most > 0 {
		decoded = min(decoded, k.most)
	}
	held = min(decoded, k.Held)
	return held, decoded - held
}

// Add keeps a copy of a block, which must not have been parsed yet: parsers overwrite what
// they read. If the disk fails, nothing more is kept. It is safe for concurrent use.
func (k *Kept) Add(file int, b *corpus.Block) {
	data := b.Data()
	of := keptBlock{seq: b.Seq, offset: b.Offset, length: int64(len(data))}
	inMemory, ok := k.place(&of)
	switch {
	case !ok || len(data) == 0:
		return
	case inMemory:
		of.data = slices.Clone(data)
	default:
		for page := range slices.Chunk(data, keptPage) {
			of.sums = append(of.sums, durable.Checksum(0, page))
		}
		if _, err := k.disk.WriteAt(data, of.at); err != nil {
			k.mu.Lock()
			k.full = true
			k.mu.Unlock()
			return
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil {
		k.files = map[int][]keptBlock{}
	}
	k.files[file] = append(k.files[file], of)
}

// place finds room for a block, in memory or at of.at on disk.
func (k *Kept) place(of *keptBlock) (inMemory, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := of.length + keptOverhead
	k.full = k.full || k.most > 0 && k.size+size > k.most
	if inMemory = k.size+size <= k.Held; !inMemory && !k.full && k.disk == nil {
		file, err := k.space.Create(keptName)
		k.disk, k.full = file, err != nil
	}
	if k.full {
		return false, false
	}
	k.size += size
	if !inMemory {
		of.at = k.used
		k.used += of.length
	}
	return inMemory, true
}

// Seal ends the adding. From then on everything else may be called, by any number of goroutines.
func (k *Kept) Seal() {
	for _, blocks := range k.files {
		sorting.Func(blocks, func(a, b keptBlock) int { return cmp.Compare(a.offset, b.offset) })
	}
}

// Release gives back all memory and the file. Nothing is kept after it.
func (k *Kept) Release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.release()
}

// release is Release with k.mu held.
func (k *Kept) release() {
	if k.files, k.full = nil, true; k.disk != nil {
		_ = k.disk.Close()
		_ = k.space.Remove(keptName) // otherwise it goes with its folder
		k.disk = nil
	}
}

// Drop gives back the memory of a file.
func (k *Kept) Drop(file int) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.files, file)
	}
}

// Has tells whether the bytes of a record that begins at an offset of the decoded file are kept.
func (k *Kept) Has(file int, offset int64, length uint32) bool {
	return k != nil && k.find(file, offset, length) != nil
}

// find returns the block of a record, nil if it is not kept.
func (k *Kept) find(file int, offset int64, length uint32) *keptBlock {
	blocks := k.files[file]
	i, found := slices.BinarySearchFunc(blocks, offset, func(b keptBlock, offset int64) int { return cmp.Compare(b.offset, offset) })
	if !found {
		i--
	}
	if i < 0 || offset-blocks[i].offset+int64(length) > blocks[i].length {
		return nil
	}
	return &blocks[i]
}

// Record returns the bytes of a record that is kept. In memory they must not be changed; otherwise
// they are in buf, if that has room for two pages more.
func (k *Kept) Record(buf []byte, file int, offset int64, length uint32) (raw []byte, inMemory bool, err error) {
	b := k.find(file, offset, length)
	start := offset - b.offset
	end := start + int64(length)
	if b.data != nil {
		return b.data[start:end:end], true, nil
	}
	first := start / keptPage * keptPage
	last := min((end+keptPage-1)/keptPage*keptPage, b.length)
	if buf, err = k.read(scratch.Buffer(buf, int(last-first)), b, first); err != nil {
		return nil, false, err
	}
	return buf[start-first : end-first : end-first], false, nil
}

// read fills buf with bytes of a block on disk, from the beginning of a page to the end of one, or of the block.
func (k *Kept) read(buf []byte, b *keptBlock, first int64) ([]byte, error) {
	if _, err := k.disk.ReadAt(buf, b.at+first); err != nil {
		return nil, fault.InWorkFolder(err)
	}
	sums := b.sums[first/keptPage:]
	for page := range slices.Chunk(buf, keptPage) {
		if durable.Checksum(0, page) != sums[0] {
			return nil, scratch.ErrDamaged
		}
		sums = sums[1:]
	}
	return buf, nil
}

// Whole returns the blocks of a file, in order, if all that have documents are kept; otherwise nil. The file itself is
// dropped.
func (k *Kept) Whole(t *doctable.Table, file int) *Blocks {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	blocks := k.files[file]
	delete(k.files, file)
	i := 0
	for _, b := range t.BlocksOfFile(file) {
		for i < len(blocks) && blocks[i].seq < b.Seq {
			i++
		}
		if b.Docs > 0 && (i == len(blocks) || blocks[i].seq != b.Seq || blocks[i].length > longBlock) {
			return nil
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	last := &blocks[len(blocks)-1]
	k.taken++
	return &Blocks{kept: k, left: blocks, size: last.offset + last.length}
}

// end ends the taking of a file.
func (k *Kept) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.taken--; k.taken == 0 && len(k.files) == 0 {
		k.release()
	}
}

// Blocks are those of a file that was kept, for one goroutine.
type Blocks struct {
	kept *Kept
	left []keptBlock
	size int64 // of the decoded file
	buf  []byte
}

// Next returns the number of the next block, where it begins in the decoded file, and its bytes, which are valid until the
// next call. It gives back their memory. ok is false once, at the end; with that of the last file all is given back.
func (b *Blocks) Next() (seq, offset int64, data []byte, ok bool, err error) {
	if len(b.left) == 0 {
		b.kept.end()
		return 0, 0, nil, false, nil
	}
	next := b.left[0]
	b.left[0] = keptBlock{}
	b.left = b.left[1:]
	if next.data == nil && next.length > 0 {
		b.buf = scratch.Buffer(b.buf, int(next.length))
		next.data, err = b.kept.read(b.buf, &next, 0)
	}
	return next.seq, next.offset, next.data, err == nil, err
}

// Read returns how much of the file is before the next block, of a total of size.
func (b *Blocks) Read(size int64) int64 {
	if len(b.left) == 0 {
		return size
	}
	return int64(float64(size) * float64(b.left[0].offset) / float64(b.size))
}
