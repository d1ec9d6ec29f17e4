package stage

// Flags of the stream Documents.
const (
	documentMade = 1 << iota
	documentHasField
	documentFields = 8 // from this bit on: the number of values of a record; 0 for texts
)

// A Packer packs documents into blocks, for an engine that holds the documents itself.
type Packer struct {
	out     emitter
	payload []byte
}

// NewPacker returns a packer of the documents of a task.
func NewPacker(p *Plan, task int, out Output) *Packer {
	return &Packer{out: emitter{plan: p, task: task, out: out}}
}

// Add adds a document. Positions must ascend.
func (p *Packer) Add(d *Document) error {
	flags := uint64(0)
	if d.Made {
		flags |= documentMade
	}
	if d.Field != nil {
		flags |= documentHasField
	}
	p.payload = appendPart(p.payload[:0], d.Name)
	if p.out.plan.Join != nil {
		flags |= uint64(len(d.Fields)) << documentFields
		for _, value := range d.Fields {
			p.payload = appendPart(p.payload, value)
		}
	} else {
		p.payload = appendPart(p.payload, d.Text)
	}
	p.payload = p.out.plan.within().append(appendPart(p.payload, d.Field), d.Within)
	return p.out.add(Documents, p.out.task, p.payload, d.Position, flags)
}

// Flush hands what was added so far to the output.
func (p *Packer) Flush() error { return p.out.flush() }

// EachDocument visits the documents of a block that a Packer made. The error wraps ErrBlock.
func EachDocument(block []byte, p *Plan, visit func(d *Document) error) error {
	return EachRow(block, p.id, Documents, func(words []uint64, payload []byte) (err error) {
		d := &Document{Position: words[0], Made: words[1]&documentMade != 0}
		if d.Name, payload, err = cutPart(payload); err != nil {
			return err
		}
		if n := words[1] >> documentFields; n > 0 {
			d.Row = uint64(uint32(d.Position)) + 1 // an engine packs usable records only
			if n > maxColumns {
				return errParts
			}
			d.Fields = make([][]byte, n)
			for i := range d.Fields {
				if d.Fields[i], payload, err = cutPart(payload); err != nil {
					return err
				}
			}
		} else if d.Text, payload, err = cutPart(payload); err != nil {
			return err
		}
		if d.Field, payload, err = cutPart(payload); err != nil {
			return err
		}
		if d.Within, _, err = p.within().cut(payload); err != nil {
			return err
		}
		if words[1]&documentHasField == 0 {
			d.Field = nil
		}
		return visit(d)
	})
}
