// Package steps keeps the finished steps of a join for another process.
package steps

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// A Keeper stores the finished steps of a join for another process. Without a work folder its Log is nil, and it
// stores nothing.
type Keeper struct {
	Log   *resume.Log
	Space *scratch.Space
	After func(kind string) error // called after each note; nil: nothing is
}

// Names returns the function that names the files of pairs to keep; nil if none are kept.
func (k *Keeper) Names() func(prefix string) string {
	if k.Log == nil {
		return nil
	}
	return func(prefix string) string { return k.Space.Unique(prefix, "") }
}

func (k *Keeper) Note(kind string, v any) error {
	if k.Log == nil {
		return nil
	}
	if err := k.Log.Note(kind, v); err != nil || k.After == nil {
		return err
	}
	return k.After(kind)
}

// Scores returns the best scores within a table: those that an earlier process has noted, else those of
// find. Their bits are noted, since JSON has no infinity.
func (k *Keeper) Scores(kind string, find func() (model.Bests, error)) (model.Bests, error) {
	var noted []uint64
	switch found, err := k.Log.Last(kind, &noted); {
	case err != nil:
		return nil, err
	case found:
		b := make(model.Bests, len(noted))
		for i, x := range noted {
			b[i] = math.Float64frombits(x)
		}
		return b, nil
	}
	b, err := find()
	if err != nil {
		return nil, err
	}
	for _, z := range b {
		noted = append(noted, math.Float64bits(z))
	}
	return b, k.Note(kind, noted)
}

// Compared names a file with compared candidates.
type Compared struct {
	Name  string
	Count int
	Sum   uint32 // CRC-32C of the file
}

// For each candidate the file has, little endian: 4 bytes for either record, 4 for the similarity of the
// records as a float, 8 for the probability as a float, 1 for each level.
const comparedBytes = 20

// Write writes the candidates from index from on. probability has the probability of each, or is nil.
func (k *Keeper) Write(prefix string, c *compare.Comparison, from int, probability []float64) (f Compared, err error) {
	var b []byte
	for i := from; i < len(c.Pairs); i++ {
		p := 0.0
		if probability != nil {
			p = probability[i]
		}
		b = binary.LittleEndian.AppendUint32(b, c.Pairs[i].A)
		b = binary.LittleEndian.AppendUint32(b, c.Pairs[i].B)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.Wholes[i]))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p))
		b = append(b, c.Of(i)...)
	}
	f = Compared{k.Space.Unique(prefix, ".part"), len(c.Pairs) - from, durable.Checksum(0, b)}
	file, err := k.Space.Create(f.Name)
	if err != nil {
		return f, err
	}
	_, err = file.Write(b)
	if err == nil {
		err = file.Sync()
	}
	return f, fault.InWorkFolder(errors.Join(err, file.Close()))
}

// Read appends the candidates of a file to c, and their probabilities to the given ones, which it returns.
func (k *Keeper) Read(f Compared, c *compare.Comparison, probability []float64) ([]float64, error) {
	file, err := k.Space.Open(f.Name)
	if err != nil {
		return nil, fault.InWorkFolder(err)
	}
	one := comparedBytes + c.Width
	b := make([]byte, f.Count*one+1)
	n, err := file.ReadAt(b, 0)
	if err = errors.Join(ignoreEOF(err), file.Close()); err != nil {
		return nil, fault.InWorkFolder(err)
	}
	if b = b[:n]; n != f.Count*one || durable.Checksum(0, b) != f.Sum {
		return nil, scratch.ErrDamaged
	}
	for ; len(b) > 0; b = b[one:] {
		c.Pairs = append(c.Pairs, compare.Pair{A: binary.LittleEndian.Uint32(b), B: binary.LittleEndian.Uint32(b[4:])})
		c.Wholes = append(c.Wholes, math.Float32frombits(binary.LittleEndian.Uint32(b[8:])))
		probability = append(probability, math.Float64frombits(binary.LittleEndian.Uint64(b[12:])))
		c.Levels = append(c.Levels, bytes.Clone(b[comparedBytes:one])...)
	}
	return probability, nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
