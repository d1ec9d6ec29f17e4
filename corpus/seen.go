package corpus

import (
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/setting"
)

// Seen notes which of the wanted fields records have, since one that none has may be misspelt. Parsers of any number of
// goroutines share it.
type Seen struct {
	records atomic.Bool // were parsed
	fields  sync.Map    // names
}

// Watch makes all parsers with these options note what they see.
func (o *Options) Watch() *Seen {
	o.seen = new(Seen)
	return o.seen
}

// Lacks tells whether records were parsed, and none of them has the field.
func (s *Seen) Lacks(field string) bool {
	_, has := s.fields.Load(field)
	return s.records.Load() && !has
}

// LacksIDs tells whether records should have had ids of their own, and none has.
func (s *Seen) LacksIDs(o Options) bool { return o.AsksForIDs() && s.Lacks(o.IDField) }

// NoIDs says that no record has the field of the ids.
func (o Options) NoIDs() setting.Text {
	return setting.Textf("no document has a field %q for its id (%s): they are named by file and line", o.IDField, setting.IDField)
}

// watch is what a parser has not yet seen.
type watch struct {
	*Seen
	unseen []wanted
}

// wanted is a field with its place in Record.Fields, -1 for the id.
type wanted struct {
	name string
	at   int
}

func newWatch(o Options) *watch {
	w := &watch{Seen: o.seen}
	if o.IDField != NoID {
		w.unseen = append(w.unseen, wanted{o.IDField, -1})
	}
	for at, name := range o.Fields {
		w.unseen = append(w.unseen, wanted{name, at})
	}
	return w
}

// note notes the fields of a record.
func (w *watch) note(r *Record) {
	if !w.records.Load() {
		w.records.Store(true)
	}
	rest := w.unseen[:0]
	for _, f := range w.unseen {
		if f.at < 0 && r.ID == nil || f.at >= 0 && r.Fields[f.at] == nil {
			rest = append(rest, f)
			continue
		}
		w.fields.Store(f.name, true)
	}
	w.unseen = rest
}
