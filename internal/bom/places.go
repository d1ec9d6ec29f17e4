package bom

import "unicode/utf8"

// Places tell where the bytes of a text stand in its file.
type Places struct {
	e     Encoding
	text  []byte
	ats   []int // of UTF-16: the first character at or after every step-th byte of the text
	files []int // where these stand in the file
}

// step is the distance of the places that are known.
const step = 4096

func (e Encoding) Places(text []byte) *Places {
	p := &Places{e: e, text: text}
	if !e.Wide() {
		return p
	}
	file := e.Len()
	for at := 0; at < len(text); {
		if at >= len(p.ats)*step {
			p.ats, p.files = append(p.ats, at), append(p.files, file)
		}
		size, units := character(text[at:])
		at += size
		file += units
	}
	return p
}

// character returns the length of the first character of a text, and what it takes in UTF-16.
func character(text []byte) (size, units int) {
	r, size := utf8.DecodeRune(text)
	if r > 0xffff {
		return size, 4
	}
	return size, 2
}

// InFile returns the place in the file, in bytes, of the character that begins at a byte of the text.
func (p *Places) InFile(at int) int {
	if !p.e.Wide() {
		return p.e.Len() + at
	}
	if len(p.ats) == 0 {
		return p.e.Len()
	}
	i := min(at/step, len(p.ats)-1)
	if p.ats[i] > at {
		i--
	}
	file := p.files[i]
	for from := p.ats[i]; from < at; {
		size, units := character(p.text[from:])
		from += size
		file += units
	}
	return file
}
