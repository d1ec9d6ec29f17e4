package reread

import (
	"cmp"
	"slices"
	"sync"

	"github.com/alike-dev/alike/corpus"
)

// Kept holds what the first pass has decoded, as far as memory permits, so that records of
// compressed files need not be decoded a second time: decoding a gzip file takes longer than all
// other work on it. Records that do not fit are read once more.
type Kept struct {
	Memory int64 // in bytes; 0: no limit

	mu    sync.Mutex
	size  int64
	files map[int][]keptBlock
	full  bool // nothing more is added
}

// keptBlock is a block's bytes and their offset in the decoded file.
type keptBlock struct {
	offset int64
	data   []byte
}

// keptOverhead is the memory of a block in addition to its bytes.
const keptOverhead = 64

// Add keeps a copy of a block, which must not have been parsed yet: parsers overwrite what
// they read. It is safe for concurrent use.
func (k *Kept) Add(file int, b *corpus.Block) {
	size := int64(len(b.Data())) + keptOverhead
	k.mu.Lock()
	k.full = k.full || k.Memory > 0 && k.size+size > k.Memory
	full := k.full
	if !full {
		k.size += size
	}
	k.mu.Unlock()
	if full || len(b.Data()) == 0 {
		return
	}
	of := keptBlock{b.Offset, slices.Clone(b.Data())}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil {
		k.files = map[int][]keptBlock{}
	}
	k.files[file] = append(k.files[file], of)
}

// Seal ends the adding. From then on Record may be called, by any number of goroutines.
func (k *Kept) Seal() {
	for _, blocks := range k.files {
		slices.SortFunc(blocks, func(a, b keptBlock) int { return cmp.Compare(a.offset, b.offset) })
	}
}

// Release gives all memory back.
func (k *Kept) Release() { k.files, k.full = nil, true }

// Record returns the bytes of a record that begins at an offset of the decoded file, nil if they
// were not kept. They must not be changed.
func (k *Kept) Record(file int, offset int64, length uint32) []byte {
	if k == nil {
		return nil
	}
	blocks := k.files[file]
	i, found := slices.BinarySearchFunc(blocks, offset, func(b keptBlock, offset int64) int { return cmp.Compare(b.offset, offset) })
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	start := offset - blocks[i].offset
	end := start + int64(length)
	if end > int64(len(blocks[i].data)) {
		return nil
	}
	return blocks[i].data[start:end:end]
}
