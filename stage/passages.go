package stage

import (
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/internal/splice"
)

// cutOptions says how the texts of a plan of the command Cut are cut into pieces.
func cutOptions(c *dedup.Passages) pieces.Options {
	return pieces.Options{Unit: c.Unit, Tokens: c.MinTokens, Code: c.Code}
}

// settlePassages checks what a plan of the command Cut says. It has no defaults, so that it says all that results depend on.
func settlePassages(c *dedup.Passages) error {
	settled, err := c.Settled()
	if err == nil && settled != *c {
		err = errors.New("the plan leaves open which passages are cut")
	}
	return err
}

// passageStages returns the stages of a plan of the command Cut. Tokens are looked up again where the first document has
// them, since rows know their numbers only.
func passageStages(c *dedup.Passages, files, hashes int) []Stage {
	all := []Stage{{Name: "pieces", Tasks: files, Documents: true, writes: []Stream{Pieces, Cards, Damaged, Counts}, run: sendPieces}}
	if c.Threshold > 0 {
		all = append(all, nearStages(files, hashes)...)
	} else {
		all = append(all, Stage{Name: "repeated", Tasks: hashes, reads: []Stream{Pieces}, writes: []Stream{Repeated}, run: findRepeated})
	}
	return append(all, []Stage{
		{Name: Write, Tasks: files, reads: []Stream{Repeated, Damaged}, Documents: true, writes: []Stream{Sources, LittleText, Counts}, run: cutTexts},
		{Name: "sources", Tasks: files, reads: []Stream{Sources, Cards}, Documents: c.Unit == pieces.Substring, writes: []Stream{Sourced}, run: nameSources},
		{Name: "found", Tasks: files, reads: []Stream{Sourced, Cards}, writes: []Stream{FoundText}, run: listFound},
		{Name: Publish, Tasks: 1, reads: []Stream{FoundText, LittleText, Counts}},
	}...)
}

// inFile returns where a byte of the text stands: in the file, if the document is one of its own.
func (d *Document) inFile(at int) int {
	if d.InFile == nil {
		return at
	}
	return d.InFile(at)
}

// sendPieces sends each piece of a text once, with its first place there, to the task of its hash.
func sendPieces(t *task) error {
	cutter := pieces.NewCutter(cutOptions(t.plan.Passages))
	var own []extsort.Entry // key; check and place
	var card []byte
	n, err := t.in.Documents(t.ctx, everything, func(d *Document) error {
		if d.Damaged {
			return t.out.add(Damaged, t.number, nil, d.Position)
		}
		card = appendPart(card[:0], d.Name)
		if err := t.out.add(Cards, t.number, card, d.Position, uint64(len(d.Text)), 0); err != nil {
			return err
		}
		own = own[:0]
		for _, p := range cutter.Pieces(d.Text) {
			at := p.First
			if t.plan.Passages.Unit != pieces.Substring {
				at = d.inFile(p.Start)
			}
			own = append(own, extsort.Entry{Key: p.Key, Value: uint64(p.Check)<<32 | uint64(uint32(at))})
		}
		cutter.Trim()
		sorting.Func(own, func(a, b extsort.Entry) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
		own = slices.CompactFunc(own, func(a, b extsort.Entry) bool { return a.Key == b.Key && a.Value>>32 == b.Value>>32 })
		for _, e := range own {
			if err := t.out.add(Pieces, t.plan.hashed(e.Key), nil, e.Key, d.Position, e.Value); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, t.count(CountRead, n.Read), t.count(CountSkipped, n.Skipped))
}

// pieceAt is a piece of a document.
type pieceAt struct {
	position uint64
	at       uint32 // its first place there
}

// findRepeated sends the pieces that go to the tasks of their documents, with the first places of them all.
func findRepeated(t *task) error {
	all, err := t.shelved(0, 4, Pieces)
	if err != nil {
		return err
	}
	g := pieces.Group[pieceAt]{Least: t.plan.Passages.MinCount, Goes: func(key uint64, first, doc pieceAt) error {
		return t.out.add(Repeated, t.plan.TaskOf(doc.position), nil, doc.position, key, first.position, uint64(first.at))
	}}
	return all.each(func(key uint64, r row) error { // those of one key in the order of the documents
		return g.Add(pieces.Hash{Key: key, Check: uint32(r.words[2] >> 32)}, pieceAt{r.words[1], uint32(r.words[2])})
	})
}

// cutTexts finds what goes of the documents of a task, and has them copied without it.
func cutTexts(t *task) error {
	cuts, err := t.shelf(8)
	if err != nil {
		return err
	}
	if err = findCuts(t, cuts); err == nil {
		err = cuts.end(t.ctx)
	}
	if err == nil && !t.plan.Passages.FoundOnly {
		err = keepWithout(t, cuts)
	}
	return err
}

// findCuts finds what goes of the documents for which there are repeated pieces.
func findCuts(t *task, cuts *shelf) error {
	asked, err := t.asked(Repeated)
	if err != nil {
		return err
	}
	c := newTextCutter(t)
	_, err = t.in.Documents(t.ctx, asked.has, func(d *Document) error {
		clear(c.sources)
		err := asked.of(d.Position, func(r row) error {
			c.sources[r.words[1]] = pieces.Source{Document: r.words[2], At: uint32(r.words[3])}
			return nil
		})
		return errors.Join(err, c.cut(d, cuts))
	})
	return errors.Join(err, c.end(), asked.end())
}

// textCutter cuts the texts of a task.
type textCutter struct {
	t                                   *task
	cutter                              *pieces.Cutter
	sources                             map[uint64]pieces.Source // of the keys that go of the document
	spans                               []splice.Span
	payload                             []byte
	text                                []byte
	little                              *csv.Writer
	rows, bytes, changed, emptied, left int64
}

func newTextCutter(t *task) *textCutter {
	return &textCutter{t: t, cutter: pieces.NewCutter(cutOptions(t.plan.Passages)), sources: map[uint64]pieces.Source{}, little: t.text(LittleText)}
}

// cut finds what goes of a document, sends its rows to the tasks of the first documents, and adds its spans to cuts.
func (c *textCutter) cut(d *Document, cuts *shelf) error {
	spans, rows := c.cutter.Find(d.Text, c.cutter.Pieces(d.Text), func(key uint64) (pieces.Source, bool) {
		s, ok := c.sources[key]
		return s, ok
	})
	if len(spans) == 0 {
		return nil
	}
	for _, r := range rows {
		place := uint64(d.inFile(r.Start))<<32 | uint64(d.inFile(r.End))
		if err := c.t.out.add(Sources, c.t.plan.TaskOf(r.Source.Document), nil, r.Source.Document, d.Position, place, uint64(r.Source.At)); err != nil {
			return err
		}
	}
	c.spans, c.payload = c.spans[:0], c.payload[:0]
	for _, s := range spans {
		c.spans = append(c.spans, splice.Span(s))
		c.payload = binary.LittleEndian.AppendUint64(c.payload, uint64(d.inFile(s.Start))<<32|uint64(d.inFile(s.End)))
		c.bytes += int64(s.End - s.Start)
	}
	c.rows += int64(len(rows))
	c.changed++
	c.text = splice.Cut(c.text[:0], d.Text, c.spans)
	words := c.cutter.Words(c.text)
	c.cutter.Trim()
	if words == 0 {
		c.emptied++
	}
	err := cuts.add(d.Position, c.payload)
	if words < pieces.Little {
		c.left++
		err = errors.Join(err, c.little.Write([]string{string(d.Name), strconv.Itoa(words)}))
	}
	return err
}

// end ends the list, and counts.
func (c *textCutter) end() error {
	c.little.Flush()
	return errors.Join(c.little.Error(), c.t.count(CountPairs, c.rows), c.t.count(CountCutBytes, c.bytes), c.t.count(CountChanged, c.changed),
		c.t.count(CountEmptied, c.emptied), c.t.count(CountLittle, c.left))
}

// keepWithout has the documents copied without what goes of them.
func keepWithout(t *task, cuts *shelf) error {
	damaged, err := t.sorted(8, Damaged)
	if err != nil {
		return err
	}
	drops, at := t.lookup(damaged), t.lookup(cuts.sorted)
	kept := func(position uint64) bool {
		_, drop := drops.Find(position)
		return !drop
	}
	var spans []splice.Span
	return t.in.Keep(t.ctx, kept, Edits{
		CutsIn: func(first, end uint64) bool {
			at.Find(first)
			next, ok := at.Peek()
			return ok && next.Key < end
		},
		Cut: func(position uint64) ([]splice.Span, error) {
			offset, ok := at.Find(position)
			if !ok {
				return nil, nil
			}
			r, err := cuts.row(offset)
			spans = spans[:0]
			for b := r.payload; len(b) >= 8; b = b[8:] {
				place := binary.LittleEndian.Uint64(b)
				spans = append(spans, splice.Span{Start: int(place >> 32), End: int(uint32(place))})
			}
			return spans, err
		},
	})
}

// nameSources sends rows on to the tasks of their documents, with the name of the first document and the place there.
func nameSources(t *task) error {
	asked, err := t.asked(Sources)
	if err != nil {
		return err
	}
	send := func(position uint64, name []byte, place func(at uint64) (uint64, error)) error {
		return asked.of(position, func(r row) error {
			at, err := place(r.words[3])
			return errors.Join(err, t.out.add(Sourced, t.plan.TaskOf(r.words[1]), name, r.words[1], r.words[2], at))
		})
	}
	if t.plan.Passages.Unit != pieces.Substring {
		err = t.each(Cards, func(r row) error {
			if !asked.has(r.words[0]) {
				return nil
			}
			name, _, err := cutPart(r.payload)
			return errors.Join(err, send(r.words[0], name, func(at uint64) (uint64, error) { return at, nil }))
		})
		return errors.Join(err, asked.end())
	}
	cutter := pieces.NewCutter(cutOptions(t.plan.Passages))
	_, err = t.in.Documents(t.ctx, asked.has, func(d *Document) error {
		cutter.Pieces(d.Text)
		defer cutter.Trim()
		tokens := cutter.Tokens()
		return send(d.Position, d.Name, func(at uint64) (uint64, error) {
			if at >= uint64(len(tokens)) {
				return 0, errParts
			}
			return uint64(d.inFile(tokens[at].Start)), nil
		})
	})
	return errors.Join(err, asked.end())
}

// askedRows are the rows of a stream by the positions of documents, which are asked for in ascending order.
type askedRows struct {
	shelf  *shelf
	reader *extsort.Reader
}

func (t *task) asked(s Stream) (*askedRows, error) {
	shelf, err := t.shelved(0, 4, s)
	if err != nil {
		return nil, err
	}
	return &askedRows{shelf, t.reader(shelf.sorted)}, nil
}

func (a *askedRows) has(position uint64) bool {
	e, ok := a.reader.Peek()
	return ok && e.Key == position
}

func (a *askedRows) of(position uint64, visit func(r row) error) error {
	for a.has(position) {
		e, _ := a.reader.Next()
		r, err := a.shelf.row(e.Value)
		if err == nil {
			err = visit(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// end returns an error if there are rows of documents that were not asked for.
func (a *askedRows) end() error {
	if _, left := a.reader.Peek(); left {
		return errParts
	}
	return nil
}

// listFound makes the lines of the list of passages, in the order of the documents and of their places there.
func listFound(t *task) error {
	rows, err := t.shelved(0, 4, Sourced)
	if err != nil {
		return err
	}
	cards, err := t.shelved(0, 8, Cards)
	if err != nil {
		return err
	}
	card := t.lookup(cards.sorted)
	out := t.text(FoundText)
	var found []foundRow
	err = rows.eachGroup(func(position uint64, offsets []uint64) error {
		at, ok := card.Find(position)
		if !ok {
			return errors.Join(errParts, card.Err())
		}
		r, err := cards.row(at)
		if err != nil {
			return err
		}
		part, _, err := cutPart(r.payload)
		name := string(part)
		found = found[:0]
		for _, offset := range offsets {
			r, failed := rows.row(offset)
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			found = append(found, foundRow{place: r.words[1], at: r.words[2], first: string(r.payload)})
		}
		sorting.Func(found, func(a, b foundRow) int { return int(int64(a.place>>32) - int64(b.place>>32)) })
		for _, f := range found {
			err = errors.Join(err, out.Write([]string{name, decimal(f.place >> 32), decimal(uint64(uint32(f.place))), f.first, decimal(f.at)}))
		}
		return err
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// foundRow is a line of the list of passages, without the name of its document.
type foundRow struct {
	place uint64 // start and end, 32 bits each
	at    uint64 // start in the first document
	first string // its name
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
