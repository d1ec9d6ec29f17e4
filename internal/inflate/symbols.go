package inflate

import "encoding/binary"

// symbols decodes the symbols of a block, as far as there are room and input: by the fast loop, and one by one near the
// end of the input and whatever the fast loop leaves.
func (d *Reader) symbols() error {
	for d.end < full {
		if d.fast(); d.end >= full {
			break
		}
		d.refill()
		from := d.place
		ended, err := d.one()
		if err == errShort {
			d.place = from
		}
		if err != nil || ended {
			return err
		}
	}
	return nil
}

// one decodes a literal, or a length and its distance, or the end of the block, and says whether that has come. It
// finds all damage.
func (d *Reader) one() (ended bool, err error) {
	symbol, err := d.symbol(&d.codes.literal)
	if err != nil {
		return false, err
	}
	if symbol < endOfBlock {
		d.out[d.end] = byte(symbol)
		d.end++
		return false, nil
	}
	if symbol == endOfBlock {
		d.endBlock()
		return true, nil
	}
	entry := literalEntries[symbol]
	length, err := d.withExtra(entry>>baseAt&lengthMask, entry)
	if err != nil {
		return false, err
	}
	if symbol, err = d.symbol(&d.codes.distance); err != nil {
		return false, err
	}
	entry = distanceEntries[symbol]
	distance, err := d.withExtra(entry>>baseAt&distanceMask, entry)
	if err != nil {
		return false, err
	}
	if distance > d.end-d.start {
		return false, d.corrupt()
	}
	for range length {
		d.out[d.end] = d.out[d.end-distance]
		d.end++
	}
	return false, nil
}

// withExtra adds the extra bits of a symbol, which follow it, to its base. 0 is the entry of a symbol without meaning.
func (d *Reader) withExtra(base, entry uint64) (int, error) {
	if entry == 0 {
		return 0, d.corrupt()
	}
	more, err := d.take(uint(entry & allMask))
	return int(base) + int(more), err
}

// fast decodes while there are sixteen bytes of input and room. It leaves the rest, without taking anything of it: the
// end of the block, damage, and codes longer than the tables know, at most 7 of 100 symbols.
//
//	until input or room ends:
//		entry = literals[next bits]             // up to two literals and a length, in one look
//		write its literals
//		take its bits; length += extra bits
//		distance = distances[next bits]         // takes no bits if the entry has no length
//		take its bits; distance += extra bits
//		copy length bytes from distance back
//
// What makes it 705 MB/s of articles (BenchmarkRead/articles/6 -benchtime 8x -count 3 -cpu 1, medians by turns):
//
//  1. Entries of several symbols; 614 with one.
//  2. An entry without a length goes the same way as others, with a length of 0: in prose a branch would be predicted
//     wrong for every fourth entry; 603 with it. Where nearly all are literals, it would not: there is a loop for runs.
//  3. The input that refills the bits is loaded before they are taken. The place of the load depends on the entry
//     before, and the next look on the bits, so that a load after they were taken is waited for; 665 so.
//  4. Copies are of sixteen bytes first, whatever the length, and may write beyond it.
//  5. No calls, which would make the compiler keep all variables in memory.
func (d *Reader) fast() {
	d.refill()
	var (
		c       = d.codes
		in, out = d.buf[:d.have], d.out[:]
		pos, o  = d.pos, d.end
		bits, n = d.bits, uint64(d.n) // at the head of the loop n ≥ 56: a symbol with its distance has up to 48
	)
	for pos+16 <= len(in) && o < full {
		more := binary.LittleEndian.Uint64(in[pos:])
		e := c.literals[bits&(1<<literalBits-1)]
		if e == 0 {
			break
		}
		binary.LittleEndian.PutUint32(out[o:], uint32(e>>bytesAt))
		to := o + int(e>>numberAt&numberMask)
		length := e>>baseAt&lengthMask + bits>>(e>>codeAt&codeMask)&(e>>maskAt&extraMask)
		after, left := bits>>(e&allMask), n-e // left is modulo 64

		if e&c.runs != 0 {
			for range 3 { // without a refill: 4·11 bits
				e := c.literals[after&(1<<literalBits-1)]
				if e&c.runs == 0 {
					break
				}
				binary.LittleEndian.PutUint32(out[to:], uint32(e>>bytesAt))
				to += int(e >> numberAt & numberMask)
				after, left = after>>(e&allMask), left-e
			}
			o, n = to, left&63
			bits = after | more<<n
			pos, n = pos+int((63-n)>>3), n|56
			continue
		}

		f := c.distances[after&(1<<distanceBits-1)|e>>(noLengthAt-distanceBits)&(1<<distanceBits)]
		if f == 0 {
			break
		}
		distance := int(f>>baseAt&distanceMask + after>>(f>>codeAt&codeMask)&(f>>bytesAt))
		from := to - distance
		if from < d.start {
			break
		}
		n = (left - f) & 63
		bits = after>>(f&allMask) | more<<n
		pos, n = pos+int((63-n)>>3), n|56

		if o = to + int(length); distance < 8 {
			period := repeated(binary.LittleEndian.Uint64(out[from:]), distance)
			for step := 8 / distance * distance; to < o; to += step {
				binary.LittleEndian.PutUint64(out[to:], period)
			}
			continue
		}
		binary.LittleEndian.PutUint64(out[to:], binary.LittleEndian.Uint64(out[from:]))
		binary.LittleEndian.PutUint64(out[to+8:], binary.LittleEndian.Uint64(out[from+8:]))
		for to, from = to+16, from+16; to < o; to, from = to+8, from+8 {
			binary.LittleEndian.PutUint64(out[to:], binary.LittleEndian.Uint64(out[from:]))
		}
	}
	d.end = o
	d.place = place{pos, bits & (1<<n - 1), uint(n)}
}

// repeated fills a word with its first n bytes, 1 to 7, over and over.
func repeated(w uint64, n int) uint64 {
	w &= 1<<(8*n) - 1
	w |= w << (8 * n)
	w |= w << (16 * n)
	return w | w<<(32*n)
}
