package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/setting"
)

// log is the journal of a run that can be resumed. A nil log does nothing: then
// nothing is kept for another process.
type log struct {
	work    *workspace
	journal *journal.Journal

	mu    sync.Mutex
	begun time.Time
	noted time.Time
	notes int         // of this process, of what it has made
	early func() bool // in tests, instead of the time
	round int         // see lostRows
}

// noteInterval is how much time lies between two notes of how far a stage is, at
// least: a note makes what there is durable, which takes some milliseconds. In a long
// run it is noteShare of the time gone by, since every note of a stage makes a run
// and names all earlier ones.
const (
	noteInterval = 2 * time.Second
	noteShare    = 64
)

// Kinds of records.
const (
	partKind      = "part"      // a part of the read stage
	writtenKind   = "written"   // records of a file that are in the output
	lostKind      = "lost"      // rows that cannot be copied: the end of a round
	publishedKind = "published" // the summary: the output is whole and is being moved to its place
	finishedKind  = "finished"  // all was emitted: the folder is being emptied
)

// Resumed tells whether an earlier process has left something.
func (l *log) Resumed() bool { return l != nil && l.journal.Resumed() }

// keeps tells whether there is something that another process can go on with.
func (l *log) keeps() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Resumed() || l.notes > 0
}

// due tells whether it is time for a note.
func (l *log) due() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early != nil {
		return l.early()
	}
	return time.Since(l.noted) >= max(noteInterval, time.Since(l.begun)/noteShare)
}

// inRound returns the kind of a record as the round has it: what one round has done
// is of no use to the next.
func (l *log) inRound(kind string) string {
	switch kind {
	case partKind, lostKind, publishedKind, finishedKind:
		return kind
	}
	if l.round == 0 {
		return kind
	}
	return fmt.Sprintf("%s-round-%d", kind, l.round)
}

// note adds a record. The files that it names must be durable but for their names.
func (l *log) note(kind string, v any) error {
	if l == nil {
		return nil
	}
	if err := durable.SyncDir(l.work.fs, l.work.path); err != nil {
		return workError(err)
	}
	err := l.journal.Append(l.inRound(kind), v)
	l.mu.Lock()
	l.noted = time.Now()
	if kind != spooledKind { // of a copied stream alone nothing has been made yet
		l.notes++
	}
	l.mu.Unlock()
	return err
}

// last finds the last record of a kind.
func (l *log) last(kind string, into any) (bool, error) {
	if !l.Resumed() {
		return false, nil
	}
	return l.journal.Last(l.inRound(kind), into)
}

// filesFolder holds the files of a run in its work folder, beside the journal.
const filesFolder = "alike.files"

// openLog opens the journal of Config.Work and removes what its records do not
// name.
func (r *run) openLog(ctx context.Context, command string) error {
	w := r.work
	j, err := r.openJournal(ctx, command)
	if err != nil {
		return err
	}
	// A folder of its own below it: what a run removes there is its own, whatever
	// else the user keeps beside it.
	w.path = w.fs.PathJoin(w.parent, filesFolder)
	err = w.fs.MkdirAll(w.path, 0o755)
	if err == nil {
		err = durable.CheckDir(w.fs, w.path)
	}
	if err == nil {
		err = durable.SyncDir(w.fs, w.parent)
	}
	if err != nil {
		return workError(errors.Join(err, j.Close()))
	}
	w.log = &log{work: w, journal: j, begun: time.Now(), noted: time.Now(), early: r.config.limits.due}
	named := map[string]bool{}
	for record, err := range j.Records() {
		if err != nil {
			return err
		}
		for _, name := range ownName.FindAllString(string(record.Payload), -1) {
			named[name] = true
		}
	}
	if j.Resumed() {
		r.config.OnNotice(setting.Textf("going on with the run that %s holds", w.parent))
	}
	return w.clean(func(name string) bool { return named[name] })
}

// lockWait is how long another process may hold the work folder: one that was
// killed may take a moment to be gone.
const lockWait = 2 * time.Second

// openJournal opens the journal of the run that the folder holds, or of a new one
// if that had come to its end and was killed while it removed its files.
func (r *run) openJournal(ctx context.Context, command string) (*journal.Journal, error) {
	j, err := r.lockJournal(ctx, command, r.config.Fresh)
	if err != nil {
		return nil, err
	}
	finished, err := j.Last(finishedKind, new(bool))
	if err == nil && !finished {
		return j, nil
	}
	if err := errors.Join(err, j.Close()); err != nil {
		return nil, err
	}
	return r.lockJournal(ctx, command, true)
}

func (r *run) lockJournal(ctx context.Context, command string, fresh bool) (j *journal.Journal, err error) {
	for wait := time.Duration(0); wait < lockWait; wait += lockWait / 20 {
		j, err = journal.Open(r.work.fs, r.work.parent, r.settings(command), fresh)
		var other *journal.MismatchError
		if errors.As(err, &other) && other.Was.Name == other.Is.Name && strings.HasPrefix(other.Is.Name, inputSetting) {
			return nil, fmt.Errorf("%w (a file counts as another one once it was written, replaced, moved, linked, or given other permissions)", err)
		}
		if !errors.Is(err, journal.ErrInUse) {
			return j, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockWait / 20):
		}
	}
	return nil, err
}

// ownName matches the names of files that a run makes in its work folder, but for the
// journal and files that are not whole, which tempName does.
var (
	ownName  = regexp.MustCompile(`[a-z]+-\d{6,}(-\d{6,}\.run|\.part)|input-\d+|records(\.index)?`)
	tempName = regexp.MustCompile(`^\.alike-[0-9a-z]+\.tmp$`)
	serial   = regexp.MustCompile(`^[a-z]+-(\d{6,})`)
)

// clean removes the files of a run but those to keep, and goes on numbering behind
// them.
func (w *workspace) clean(keep func(name string) bool) error {
	names, err := w.fs.List(w.path)
	if err != nil {
		return workError(err)
	}
	for _, name := range names {
		whole := ownName.FindString(name) == name || tempName.MatchString(name)
		if !whole {
			continue
		}
		if !keep(name) {
			if err := w.Remove(name); err != nil {
				return workError(err)
			}
			continue
		}
		if m := serial.FindStringSubmatch(name); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return err
			}
			w.serial = max(w.serial, n)
		}
	}
	return nil
}

// engineVersion changes with what a work folder holds: a run of another version is
// refused by it.
const engineVersion = "4"

// inputSetting begins the names of the settings of inputs.
const inputSetting = "input "

// settings are all that the result of a run depends on: what is compared and how, and
// the state of every input. TestEveryFieldOfConfigIsInTheFingerprint holds that no field
// of Config is forgotten.
func (r *run) settings(command string) iter.Seq[journal.Setting] {
	c := &r.config
	return func(yield func(journal.Setting) bool) {
		set := []journal.Setting{
			{Name: "command", Value: command},
			{Name: "engine", Value: engineVersion},
			{Name: string(setting.Measure), Value: c.Measure.String()},
			{Name: string(setting.Threshold), Value: fmt.Sprint(c.Threshold)},
			{Name: string(setting.Recall), Value: fmt.Sprint(c.Recall)},
			{Name: string(setting.Candidates), Value: string(c.Candidates)},
			{Name: string(setting.Verify), Value: string(c.Verify)},
			{Name: string(setting.Shared), Value: strconv.FormatBool(c.Shared)},
			{Name: "recipe", Value: r.recipe.String()},
			{Name: string(setting.BucketCap), Value: fmt.Sprint(c.BucketCap)},
			{Name: string(setting.Keep), Value: c.Keep.String()},
			{Name: string(setting.Star), Value: fmt.Sprint(c.Star)},
			{Name: string(setting.OnError), Value: string(c.OnError)},
			{Name: string(setting.Format), Value: string(c.Corpus.Format)},
			{Name: string(setting.TextField), Value: c.Corpus.TextField},
			{Name: string(setting.IDField), Value: c.Corpus.IDField},
			{Name: "fields", Value: fmt.Sprintf("%q", c.Corpus.Fields)},
			{Name: string(setting.MaxRecord), Value: fmt.Sprint(c.Corpus.MaxRecord)},
			{Name: "block size", Value: fmt.Sprint(c.Corpus.BlockSize)},
			{Name: "output", Value: c.Output},
			{Name: "ids only", Value: strconv.FormatBool(c.IDsOnly)},
			{Name: "references", Value: fmt.Sprint(r.refSources)},
			{Name: string(setting.With), Value: withSetting(c, r.leftFiles)},
		}
		for _, s := range set {
			if !yield(s) {
				return
			}
		}
		for _, s := range r.sources {
			if !yield(journal.Setting{Name: inputSetting + s.Path, Value: s.State()}) {
				return
			}
		}
		// The same file may be known by another name where other inputs are given.
		names := uint64(0)
		for _, s := range r.sources {
			names = hashing.Bytes(append(binary.LittleEndian.AppendUint64(nil, names), s.Name...))
		}
		yield(journal.Setting{Name: "names of the outputs", Value: fmt.Sprintf("%016x", names)})
	}
}

// withSetting says which of the inputs stand before --with.
func withSetting(c *Config, leftFiles int) string {
	if len(c.With) == 0 {
		return "no"
	}
	return fmt.Sprintf("after %d files", leftFiles)
}

// stored is a finished step, or what there is of it: sorted entries on disk and
// what was counted on the way.
type stored struct {
	Runs  [][]extsort.Run
	Count int64
}

// step returns what an earlier process has made of a step of the run or, if it
// did not come so far, makes it and keeps it for the next one.
func (r *run) step(ctx context.Context, kind string, make func() ([]*extsort.Sorted, int64, error), options ...extsort.Options) ([]*extsort.Sorted, int64, error) {
	l := r.work.log
	var s stored
	if found, err := l.last(kind, &s); err != nil {
		return nil, 0, err
	} else if found {
		return r.openAll(ctx, s, options)
	}
	made, n, err := make()
	if err != nil || l == nil {
		return made, n, err
	}
	s.Count = n
	for _, sorted := range made {
		runs, err := sorted.Save(ctx)
		if err != nil {
			return nil, 0, errors.Join(err, r.work.releaseAll(made...))
		}
		s.Runs = append(s.Runs, runs)
	}
	if err := l.note(kind, s); err != nil {
		return nil, 0, errors.Join(err, r.work.releaseAll(made...))
	}
	return made, n, nil
}

func (r *run) openAll(ctx context.Context, s stored, options []extsort.Options) (opened []*extsort.Sorted, n int64, err error) {
	if len(s.Runs) != len(options) {
		return nil, 0, errDamaged
	}
	for i, o := range options {
		o.Runs = s.Runs[i]
		sorted, err := extsort.Open(ctx, o)
		if err != nil {
			return nil, 0, errors.Join(err, r.work.releaseAll(opened...))
		}
		opened = append(opened, sorted)
	}
	return opened, s.Count, nil
}

// partLog notes finished parts.
type partLog struct {
	log   *log
	every int64 // bytes of input that a part is made of, at least
}

// partShare is the share of the input that one part is made of; with it goes what
// is lost when the run is killed.
const partShare = 64

// minPart and maxPart are limits of that, in bytes.
const (
	minPart = 8 << 20
	maxPart = 1 << 30
)

func (r *run) partLog() *partLog {
	if r.work.log == nil {
		return nil
	}
	every := min(max(r.inputBytes()/partShare, minPart), maxPart)
	if part := r.config.limits.part; part > 0 {
		every = part
	}
	return &partLog{r.work.log, every}
}

func (p *partLog) add(name partName) error { return p.log.note(partKind, name) }

// resumedParts is what an earlier process has read of each file.
type resumedParts struct {
	blocks map[int]*seqSet // by file
	whole  map[int]bool    // files of which nothing is left to read
}

// seqSet is a set of the numbers of blocks.
type seqSet struct {
	bits bitset
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

// wanted tells whether something of a file is left to read.
func (p *resumedParts) wanted(file int) bool { return p == nil || !p.whole[file] }

// done returns the blocks of a file that need not be read.
func (p *resumedParts) done(file int) func(seq int64) bool {
	if p == nil || p.blocks[file] == nil {
		return nil
	}
	return p.blocks[file].has
}

// count returns how many blocks of a file were read.
func (p *resumedParts) count(file int) int64 {
	if p == nil || p.blocks[file] == nil {
		return 0
	}
	return p.blocks[file].n
}

// restore puts the parts of an earlier process into the table.
func (r *reader) restore() error {
	if r.parts == nil || !r.parts.log.Resumed() {
		return nil
	}
	p := &resumedParts{blocks: map[int]*seqSet{}, whole: map[int]bool{}}
	var ends []block // of files
	for name, err := range journal.All[partName](r.parts.log.journal, partKind) {
		if err != nil {
			return err
		}
		if ends, err = r.restorePart(name, p, ends); err != nil {
			return err
		}
	}
	for _, end := range ends {
		file := int(end.file)
		if int64(end.row) != p.count(file) {
			continue // some of the file's blocks were lost, and are read again with its end
		}
		if p.whole[file] {
			continue // that was read again
		}
		p.whole[file] = true
		r.t.blocks = append(r.t.blocks, end)
	}
	r.resume = p
	if r.features.Load() > r.config.limits.retain && !r.keepAll {
		r.keepSets.Store(false)
	}
	return nil
}

func (r *reader) restorePart(name partName, p *resumedParts, ends []block) ([]block, error) {
	part, index, err := r.work.openPart(name)
	if err != nil {
		return nil, err
	}
	first, number := int32(len(r.t.segments)), int32(len(r.t.parts))
	r.t.parts = append(r.t.parts, part)
	r.features.Add(index.features)
	for _, l := range index.segments {
		r.t.segments = append(r.t.segments, &segment{rows: int(l.rows), part: number, layout: l})
	}
	for _, b := range index.blocks {
		if int(b.file) >= len(r.sources) {
			return nil, fmt.Errorf("%s: %w", name.Name, errDamaged)
		}
		b.segment += first
		if b.seq == endOfFile {
			ends = append(ends, b)
			continue
		}
		file := int(b.file)
		if p.blocks[file] == nil {
			p.blocks[file] = &seqSet{}
		}
		p.blocks[file].add(b.seq)
		r.t.blocks = append(r.t.blocks, b)
		r.items.Add(int64(b.docs))
	}
	return ends, nil
}
