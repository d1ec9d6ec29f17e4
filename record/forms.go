package record

import (
	"bytes"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// canonicalNumber appends the shortest form of the number in a normalised value. Only currency
// signs, percent and white space may stand beside it. The form has no grouping signs and no
// superfluous zeros; a number of more than 15 digits keeps all of them, as codes do. A comma is the decimal sign if
// it is the only one, and one or two digits follow it: 1.200,50 is 1200.5, and 1,200 is 1200.
func canonicalNumber(dst, value []byte) (_ []byte, ok bool) {
	v := bytes.TrimFunc(value, func(r rune) bool {
		return r != '-' && r != '.' && (r < '0' || r > '9') && !isWord(r)
	})
	digits := 0
	clean := dst
	decimal := decimalComma(v)
	for i, b := range v {
		switch {
		case '0' <= b && b <= '9':
			digits++
			clean = append(clean, b)
		case i == decimal:
			clean = append(clean, '.')
		case b == '.' && decimal >= 0: // it parts thousands
		case b == ',' && i > 0 && len(v)-i > 3:
		case b == '.' || b == '-' && i == 0:
			clean = append(clean, b)
		default:
			return nil, false
		}
	}
	clean = bytes.TrimSuffix(clean, []byte("."))
	if digits == 0 || digits > 15 {
		return nil, false
	}
	f, err := strconv.ParseFloat(string(clean), 64)
	if err != nil {
		return nil, false
	}
	return strconv.AppendFloat(clean[:0], f, 'f', -1, 64), true
}

// decimalComma returns the place of the comma that is the decimal sign of a number; -1: there is none.
func decimalComma(v []byte) int {
	at := bytes.IndexByte(v, ',')
	after := len(v) - at - 1
	if at < 1 || after < 1 || after > 2 || bytes.IndexByte(v[at+1:], '.') >= 0 {
		return -1
	}
	for i := at; i > 0; { // thousands are parted by nothing or by points
		point := bytes.LastIndexByte(v[:i], '.')
		if point < 0 {
			break
		}
		if i-point != 4 {
			return -1
		}
		i = point
	}
	return at
}

// cutUnit cuts a normalised value into a number and the unit behind it, with or without a space: 5.84 g, 20mm, 1,200 eur; or
// before it, with a space: usd 1,200. Without a unit the number is the value.
func cutUnit(value []byte) (number, unit []byte) {
	v := bytes.TrimSpace(value)
	if end := bytes.IndexFunc(v, unicode.IsLetter); end > 0 {
		number, unit = v[:end], v[end:]
	} else if end := bytes.IndexByte(v, ' '); end > 0 {
		number, unit = v[end:], v[:end]
	}
	if inner := bytes.TrimRight(unit, "0123456789"); bytes.ContainsAny(inner, "0123456789") || bytes.HasSuffix(inner, []byte(" ")) {
		return v, nil // 3 or 4 is no number; m2 is a unit
	}
	if len(unit) == 0 {
		return v, nil
	}
	return number, unit
}

// Unit returns the unit of a value that is a number with one, such as 5.84 g or 20mm; the slice is valid until the next call.
// ok is false for other values.
func (c *Cutter) Unit(value []byte) (unit []byte, ok bool) {
	c.normalise(value)
	if len(c.normal) > longestForm {
		return nil, false
	}
	number, unit := cutUnit(c.normal)
	if len(unit) == 0 || len(unit) > longestUnit {
		return nil, false
	}
	_, ok = canonicalNumber(c.joined[:0], number)
	return unit, ok
}

// coordinates returns the two numbers of a normalised value that is a place, such as 48.8566, 2.3522: both have decimals,
// and neither more than 180 degrees.
func coordinates(value []byte) (of [2][]byte, ok bool) {
	v := bytes.Trim(value, " ()[]")
	if inside, is := bytes.CutPrefix(v, []byte("point")); is { // well-known text, in which the longitude comes first
		of, ok = coordinates(inside)
		of[0], of[1] = of[1], of[0]
		return of, ok
	}
	at := bytes.IndexAny(v, ",; ")
	if at < 0 {
		return of, false
	}
	of[0], of[1] = v[:at], bytes.TrimLeft(v[at+1:], " ")
	for _, number := range of {
		if x, err := strconv.ParseFloat(string(number), 64); err != nil || !(math.Abs(x) <= 180) || bytes.IndexByte(number, '.') < 0 {
			return of, false
		}
	}
	return of, true
}

// Shape guesses the kind of one value: Date, Time, Place, Number, Code (one word of letters and digits, with or
// without separators) or Text. A column is of a kind if nearly all of its values are. parts is how many parts between spaces a
// value has that may be a code or a number, as at least half of its letters and digits are digits; else 0.
func (c *Cutter) Shape(value []byte) (kind Kind, parts int) {
	c.normalise(value)
	v := bytes.TrimSpace(c.normal)
	if len(v) > longestDate {
		return Text, 0
	}
	if _, ok := canonicalDate(nil, v); ok {
		return Date, 0
	}
	if len(v) > longestForm {
		return Text, 0
	}
	if _, ok := canonicalTime(nil, v); ok {
		return Time, 0
	}
	if _, ok := coordinates(v); ok {
		return Place, 0
	}
	digits, letters := 0, 0
	for _, b := range v {
		switch {
		case '0' <= b && b <= '9':
			digits++
		case 'a' <= b && b <= 'z' || b >= utf8.RuneSelf:
			letters++
		}
	}
	if digits >= max(letters, leastOfCode) {
		parts = len(bytes.Fields(v))
	}
	if _, ok := canonicalNumber(nil, v); ok {
		return Number, parts
	}
	if parts == 1 && 2*digits >= len(v) {
		return Code, parts
	}
	return Text, parts
}

const (
	// longestDate is the most bytes of a date in words, and longestForm that of another value that is no text.
	longestDate, longestForm = 64, 40
	// longestUnit is the most bytes of a unit.
	longestUnit = 8
	// leastOfCode is the least number of digits of a code.
	leastOfCode = 4
)
