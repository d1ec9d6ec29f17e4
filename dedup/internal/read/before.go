package read

import (
	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/resume"
)

// before is what an earlier process has read of each file; nil: nothing.
type before struct {
	blocks map[int]*seqSet // by file
	whole  map[int]bool    // files that are read completely
}

// seqSet is a set of the numbers of blocks.
type seqSet struct {
	bits bitset.Set
	n    int64
}

func (s *seqSet) add(seq int64) {
	if s.has(seq) { // by another piece of the block
		return
	}
	for int64(len(s.bits)) <= seq/64 {
		s.bits = append(s.bits, 0)
	}
	s.bits[seq/64] |= 1 << (seq % 64)
	s.n++
}

func (s *seqSet) has(seq int64) bool {
	return seq/64 < int64(len(s.bits)) && s.bits[seq/64]&(1<<(seq%64)) != 0
}

// wanted tells whether some of a file is left to read.
func (p *before) wanted(file int) bool { return p == nil || !p.whole[file] }

// done returns the blocks of a file that need not be read.
func (p *before) done(file int) func(seq int64) bool {
	if p == nil || p.blocks[file] == nil {
		return nil
	}
	return p.blocks[file].has
}

// count returns how many blocks of a file were read.
func (p *before) count(file int) int64 {
	if p == nil || p.blocks[file] == nil {
		return 0
	}
	return p.blocks[file].n
}

// restore puts the parts of an earlier process into the table.
func (r *reader) restore() error {
	if !r.Table.Log.Resumed() {
		return nil
	}
	p := &before{blocks: map[int]*seqSet{}, whole: map[int]bool{}}
	var ends []table.Block // of files
	for name, err := range resume.All[table.PartName](r.Table.Log, resume.Part) {
		if err != nil {
			return err
		}
		blocks, err := r.table.AddPart(name)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if b.IsEnd() {
				ends = append(ends, b)
				continue
			}
			file := int(b.File)
			if p.blocks[file] == nil {
				p.blocks[file] = &seqSet{}
			}
			p.blocks[file].add(b.Seq)
			r.table.AddBlocks(b)
			r.items.Add(int64(b.Docs))
		}
	}
	for _, end := range ends {
		file := int(end.File)
		if end.BlocksBefore() != p.count(file) {
			continue // some of the file's blocks were lost, and are read again with its end
		}
		if p.whole[file] {
			continue // because it was read again
		}
		p.whole[file] = true
		r.table.AddBlocks(end)
	}
	r.before = p
	return nil
}
