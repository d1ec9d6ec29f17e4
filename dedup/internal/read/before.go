package read

import (
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/resume"
)

// before is what an earlier process has read of each file; nil: nothing.
type before struct {
	blocks map[int]bitset.Set[int64] // by file, their numbers
	whole  map[int]bool              // files that are read completely
}

// wanted tells whether some of a file is left to read.
func (p *before) wanted(file int) bool { return p == nil || !p.whole[file] }

// done returns the blocks of a file that need not be read.
func (p *before) done(file int) func(seq int64) bool {
	if p == nil || p.blocks[file] == nil {
		return nil
	}
	return p.blocks[file].Has
}

// count returns how many blocks of a file were read.
func (p *before) count(file int) int64 {
	if p == nil {
		return 0
	}
	return int64(p.blocks[file].Len())
}

// restore puts the parts of an earlier process into the table.
func (r *reader) restore() error {
	if !r.Table.Log.Resumed() {
		return nil
	}
	p := &before{blocks: map[int]bitset.Set[int64]{}, whole: map[int]bool{}}
	var ends []doctable.Block // of files
	for name, err := range resume.All[doctable.PartName](r.Table.Log, resume.Part) {
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
			p.blocks[file] = p.blocks[file].Grown(b.Seq + 1)
			p.blocks[file].Add(b.Seq) // perhaps again, for another piece of the block
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
