package corpus

import (
	"bytes"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

const (
	// bombRecords is how many times MaxRecord a compressed file may decode to without a
	// record. Deflate makes at most about a thousand bytes of one, zstd and bzip2 tens of
	// thousands: a small file may seem endless.
	bombRecords = 16
	// recordCost is what a record counts for in addition to its bytes: about the memory that
	// a run keeps of it, and far more than `{}` has.
	recordCost = 256
	// bombRatio is the limit of the cost of a file's records, beyond bombAnyway, as a
	// multiple of the file's size. Logs that compress 200 to 1 come to a fifth of it.
	bombRatio  = 4096
	bombAnyway = 1 << 30
	// bombText is the same for their bytes alone, at least bombTexts times MaxRecord: to compare
	// texts costs far more than to decode them.
	bombText  = 256 << 20
	bombTexts = 4
)

// expansion counts how many bytes and records come out of a compressed file, or of a
// Parquet file, whose dictionaries repeat a value for a few bits. The counts depend on
// the file and the options alone, so that the file ends at the same record for any number
// of workers.
type expansion struct {
	idle    int64 // bytes decoded without a record: blank lines, or a record over MaxRecord
	bytes   int64 // decoded, in records
	records int64
}

func (e *expansion) add(records, bytes int64) {
	e.records += records
	e.bytes += bytes
}

// tally counts data, the whole lines of a block, as idle if all of them are blank.
func (e *expansion) tally(k *kind, data []byte) {
	if k.blank == nil || len(bytes.TrimLeft(data, k.blanks+"\n")) > 0 {
		e.idle = 0
		return
	}
	e.idle += int64(len(data))
}

// problem returns an error if the file seems to be made to expand without end, otherwise
// nil. maxRecord is Options.MaxRecord, size that of the file.
func (e *expansion) problem(maxRecord, size int64) error {
	if e.idle/bombRecords > maxRecord {
		return fault.Because(ErrBomb, "expands to more than %d bytes without a record; %s", bombRecords*maxRecord, bombRemedy)
	}
	cost, text := max(bombAnyway, bombRecords*maxRecord), max(bombText, bombTexts*maxRecord)
	if over := max(e.bytes+recordCost*e.records-cost, e.bytes-text); over > 0 && over/bombRatio > size {
		return fault.Because(ErrBomb, "expands to %d records of %d bytes so far, from a file of %d bytes; %s", e.records, e.bytes, size, bombRemedy)
	}
	return nil
}

var bombRemedy = setting.Textf("looks like a decompression bomb; leave it out, or raise the limit (%s) if it is none", setting.MaxRecord)
