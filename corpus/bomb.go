package corpus

import (
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

const (
	// bombRecords is how many times MaxRecord a compressed file may go on without a
	// record. The most that deflate makes of a byte is about a thousand, zstd and
	// bzip2 make tens of thousands: a small file may have no end that anyone would
	// see.
	bombRecords = 16
	// recordCost is what a record counts for beside its bytes: about what is kept of
	// it in a run, and far more than `{}` has.
	recordCost = 256
	// bombRatio is how many times the size of its file what is read may cost, beyond
	// bombAnyway. Logs that compress 200 to 1 come to a fifth of it.
	bombRatio  = 4096
	bombAnyway = 1 << 30
)

// expansion counts what is made of the bytes of a file, in compressed files and in
// Parquet files, whose dictionaries repeat a value for a few bits. All of it depends
// on the file and the options alone, so that the file ends at the same record for any
// number of workers.
type expansion struct {
	idle    int64 // bytes decoded without a record: blank lines, or of one over MaxRecord
	bytes   int64 // decoded, in records
	records int64
}

// add counts records.
func (e *expansion) add(records, bytes int64) {
	e.records += records
	e.bytes += bytes
}

// problem tells what of a file seems to be made to have no end, nil if nothing does.
// maxRecord is Options.MaxRecord, size that of the file.
func (e *expansion) problem(maxRecord, size int64) error {
	if e.idle/bombRecords > maxRecord {
		return fault.Because(ErrBomb, "expands to more than %d bytes without a record; %s", bombRecords*maxRecord, bombRemedy)
	}
	if over := e.bytes + recordCost*e.records - max(bombAnyway, bombRecords*maxRecord); over > 0 && over/bombRatio > size {
		return fault.Because(ErrBomb, "expands to %d records of %d bytes so far, from a file of %d bytes; %s", e.records, e.bytes, size, bombRemedy)
	}
	return nil
}

var bombRemedy = setting.Textf("looks like a decompression bomb; leave it out, or raise the limit (%s) if it is none", setting.MaxRecord)
