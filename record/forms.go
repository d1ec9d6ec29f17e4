package record

import (
	"bytes"
	"strconv"
)

// canonicalNumber appends the shortest form of the number in a normalised value. Only currency
// signs, percent and white space may stand beside it. The form has no grouping commas and no
// superfluous zeros; a number of more than 15 digits keeps all of them, as codes do.
func canonicalNumber(dst, value []byte) (_ []byte, ok bool) {
	v := bytes.TrimFunc(value, func(r rune) bool {
		return r != '-' && r != '.' && (r < '0' || r > '9') && !isWord(r)
	})
	digits := 0
	clean := dst
	for i, b := range v {
		switch {
		case '0' <= b && b <= '9':
			digits++
			clean = append(clean, b)
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

// canonicalDate appends the date in a normalised value as three numbers separated by spaces. A date
// that ends with the year is reversed, so 24/06/1971 becomes "1971 06 24", and so does 06/24/1971, since no year has a
// 24th month. What may be either, such as 03/04/1971, is read with the day first where the year is last: if the month
// is meant to be first it has the same words in another order. Of a year with two digits after day and month the century
// is that of 1930 to 2029, as in spreadsheets.
func canonicalDate(dst, value []byte) (_ []byte, ok bool) {
	var part [3]int
	var length [3]int
	var signs [3]byte // before the second and the third number
	n := 0
	for i := 0; i < len(value); {
		if value[i] < '0' || value[i] > '9' {
			i++
			continue
		}
		start := i
		for i < len(value) && '0' <= value[i] && value[i] <= '9' {
			i++
		}
		if n > 0 && start > 0 {
			signs[n-1] = value[start-1]
		}
		x, err := strconv.Atoi(string(value[start:i]))
		if err != nil || n == 3 {
			return nil, false
		}
		part[n], length[n] = x, i-start
		n++
	}
	switch {
	case n == 1 && length[0] == 8:
		part = [3]int{part[0] / 10000, part[0] / 100 % 100, part[0] % 100}
	case n == 3 && length[0] == 4:
	case n == 3 && length[2] == 4:
		part[0], part[2] = part[2], part[0]
	case n == 3 && length[2] == 2 && length[0] <= 2 && length[1] <= 2 && signs[0] == signs[1] && bytes.IndexByte([]byte("./-"), signs[0]) >= 0:
		part[0], part[2] = century(part[2]), part[0]
	default:
		return nil, false
	}
	if part[0] < 1000 || part[0] > 2999 || part[1] < 1 || part[2] < 1 || min(part[1], part[2]) > 12 || max(part[1], part[2]) > 31 {
		return nil, false
	}
	if part[1] > 12 {
		part[1], part[2] = part[2], part[1]
	}
	dst = strconv.AppendInt(dst, int64(part[0]), 10)
	for _, x := range part[1:] {
		dst = append(dst, ' ')
		if x < 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendInt(dst, int64(x), 10)
	}
	return dst, true
}

// century returns a year of 1930 to 2029 by its last two digits.
func century(year int) int {
	if year < 30 {
		return 2000 + year
	}
	return 1900 + year
}

// Shape guesses the kind of one value: Date, Number, Code (one word of letters and digits, with or
// without separators) or Text. A column is of a kind if nearly all of its values are.
func Shape(value []byte) Kind {
	v := bytes.ToLower(bytes.TrimSpace(value))
	if _, ok := canonicalDate(nil, v); ok {
		return Date
	}
	if len(v) <= 40 {
		if _, ok := canonicalNumber(nil, v); ok {
			return Number
		}
	}
	digits := 0
	for _, b := range v {
		if '0' <= b && b <= '9' {
			digits++
		}
	}
	if 2*digits >= len(v) && digits >= 4 && len(v) <= 40 && bytes.IndexByte(v, ' ') < 0 {
		return Code
	}
	return Text
}
