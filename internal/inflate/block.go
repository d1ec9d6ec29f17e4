package inflate

// block reads the header of a block. If the input ends in it, it is read again.
func (d *Reader) block() error {
	from := d.place
	err := d.blockHeader()
	if err == errShort {
		d.place = from
	}
	return err
}

func (d *Reader) blockHeader() error {
	h, err := d.take(3)
	if err != nil {
		return err
	}
	switch h >> 1 {
	case 0:
		err, d.next = d.storedHeader(), (*Reader).copyStored
	case 1:
		d.codes, d.next = fixed(), (*Reader).symbols
	case 2:
		err = d.dynamicHeader()
		d.codes, d.next = &d.own, (*Reader).symbols
	case 3:
		return d.corrupt()
	}
	if err == errShort {
		d.next = (*Reader).block
	}
	d.last = h&1 != 0
	return err
}

// endBlock says what comes after a block.
func (d *Reader) endBlock() {
	d.next = (*Reader).block
	if d.last {
		d.next = (*Reader).trailer
	}
}

func (d *Reader) storedHeader() error {
	d.align()
	size, err := d.take(16)
	if err != nil {
		return err
	}
	check, err := d.take(16)
	if err != nil {
		return err
	}
	if size != check^0xffff {
		return d.corrupt()
	}
	d.align()
	d.stored = int(size)
	return nil
}

// copyStored copies what there is of a stored block, as far as there is room.
func (d *Reader) copyStored() error {
	n := copy(d.out[d.end:max(d.end, full)], d.rest()[:min(d.stored, len(d.rest()))])
	d.pos += n
	d.end += n
	d.stored -= n
	switch {
	case d.stored == 0:
		d.endBlock()
	case d.end < full:
		return errShort
	}
	return nil
}

// codeOrder is the order of the lengths of the code for lengths (RFC 1951, section 3.2.7).
var codeOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamicHeader reads the codes of a block.
func (d *Reader) dynamicHeader() error {
	h, err := d.take(14)
	if err != nil {
		return err
	}
	literals, distances, n := int(h&31)+257, int(h>>5&31)+1, int(h>>10)+4
	if literals > maxLiterals || distances > maxDistances {
		return d.corrupt()
	}
	var lengths [maxLiterals + maxDistances]uint8
	for _, at := range codeOrder[:n] {
		v, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[at] = uint8(v)
	}
	var c code
	if !c.build(lengths[:len(codeOrder)]) {
		return d.corrupt()
	}
	if err := d.codeLengths(&c, lengths[:literals+distances]); err != nil {
		return err
	}
	if !d.own.build(lengths[:literals], lengths[literals:literals+distances]) {
		return d.corrupt()
	}
	return nil
}

// repeats are the meanings of the symbols 16, 17 and 18 in the code for lengths: repeat the length before, or zero, a
// number of times.
var repeats = [...]struct {
	bits  uint
	least int
}{{2, 3}, {3, 3}, {7, 11}}

func (d *Reader) codeLengths(c *code, lengths []uint8) error {
	for i := 0; i < len(lengths); {
		symbol, err := d.symbol(c)
		if err != nil {
			return err
		}
		if symbol < 16 {
			lengths[i] = uint8(symbol)
			i++
			continue
		}
		var value uint8
		if symbol == 16 {
			if i == 0 {
				return d.corrupt()
			}
			value = lengths[i-1]
		}
		r := repeats[symbol-16]
		more, err := d.take(r.bits)
		if err != nil {
			return err
		}
		times := r.least + int(more)
		if i+times > len(lengths) {
			return d.corrupt()
		}
		for range times {
			lengths[i] = value
			i++
		}
	}
	return nil
}
