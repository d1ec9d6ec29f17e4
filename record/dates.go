package record

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// parsedDate is what a value says of a date, as far as it has been read.
type parsedDate struct {
	part   [3]int
	length [3]int
	signs  [3]byte // before the second and the third number
	n      int     // numbers read
	month  int     // that a word names; 0: none
	named  int     // how many numbers stand before that word
	time   float64 // of the day, in seconds; NaN: none
}

// canonicalDate appends the date in a normalised value as three numbers separated by spaces. A date
// that ends with the year is reversed, so 24/06/1971 becomes "1971 06 24", and so does 06/24/1971, since no year has a
// 24th month. What may be either, such as 03/04/1971, is read with the day first where the year is last: if the month
// is meant to be first it has the same words in another order. Of a year with two digits after day and month the century
// is that of 1930 to 2029, as in spreadsheets. A month may be a word, in one of the languages of months, or its first three
// letters and more; other words do not count. Date and time of day are a fourth number, unless it is midnight: that two
// things happened at the same time of other days says nothing.
func canonicalDate(dst, value []byte) (_ []byte, ok bool) {
	p := parsedDate{time: math.NaN()}
	for i := 0; i < len(value); {
		b := value[i]
		switch {
		case '0' <= b && b <= '9':
			if i, ok = p.number(value, i); !ok {
				return nil, false
			}
		case 'a' <= b && b <= 'z':
			start := i
			for i < len(value) && 'a' <= value[i] && value[i] <= 'z' {
				i++
			}
			if m := monthOf(value[start:i]); m > 0 && p.month == 0 {
				p.month, p.named = m, p.n
			}
		default:
			i++
		}
	}
	part, ok := p.settle()
	if !ok || part[0] < 1000 || part[0] > 2999 || part[1] < 1 || part[2] < 1 || min(part[1], part[2]) > 12 || max(part[1], part[2]) > 31 {
		return nil, false
	}
	if part[1] > 12 {
		part[1], part[2] = part[2], part[1]
	}
	if dst = appendDay(dst, part, " "); p.time > 0 {
		dst = appendClock(appendDay(append(dst, ' '), part, ""), p.time)
	}
	return dst, true
}

// appendDay appends year, month and day with a sign in between.
func appendDay(dst []byte, part [3]int, between string) []byte {
	dst = append(appendDigits(dst, part[0], 4), between...)
	dst = append(appendDigits(dst, part[1], 2), between...)
	return appendDigits(dst, part[2], 2)
}

// number reads the number or the time that begins at i, and returns its end.
func (p *parsedDate) number(value []byte, i int) (end int, ok bool) {
	if p.n > 0 && math.IsNaN(p.time) {
		if seconds, length := clock(value[i:]); length > 0 {
			p.time = seconds
			return i + length + zone(value[i+length:]), true
		}
	}
	start := i
	for i < len(value) && '0' <= value[i] && value[i] <= '9' {
		i++
	}
	if p.n > 0 && start > 0 {
		p.signs[p.n-1] = value[start-1]
	}
	x, err := strconv.Atoi(string(value[start:i]))
	if err != nil || p.n == 3 {
		return 0, false
	}
	p.part[p.n], p.length[p.n] = x, i-start
	p.n++
	return i, true
}

// settle returns year, month and day, or year, day and month.
func (p *parsedDate) settle() (part [3]int, ok bool) {
	part, short := p.part, func(i int) bool { return p.length[i] <= 2 }
	switch {
	case p.month > 0 && p.n == 2 && p.length[0] == 4 && short(1):
		return [3]int{part[0], p.month, part[1]}, true
	case p.month > 0 && p.n == 2 && short(0) && p.named < 2:
		year := part[1]
		if p.length[1] == 2 {
			year = century(year)
		}
		return [3]int{year, p.month, part[0]}, true
	case p.n == 1 && p.length[0] == 8:
		return [3]int{part[0] / 10000, part[0] / 100 % 100, part[0] % 100}, true
	case p.n != 3:
	case p.length[0] == 4:
		return part, true
	case p.length[2] == 4:
		return [3]int{part[2], part[1], part[0]}, true
	case p.length[2] == 2 && short(0) && short(1) && p.signs[0] == p.signs[1] && bytes.IndexByte([]byte("./-"), p.signs[0]) >= 0:
		return [3]int{century(part[2]), part[1], part[0]}, true
	}
	return part, false
}

// century returns a year of 1930 to 2029 by its last two digits.
func century(year int) int {
	if year < 30 {
		return 2000 + year
	}
	return 1900 + year
}

// months are the names of months, without diacritics, in Danish, Dutch, English, French, German, Italian, Norwegian,
// Portuguese, Spanish and Swedish.
var months = [12][]string{
	{"january", "januar", "januari", "janvier", "janner", "enero", "gennaio", "janeiro"},
	{"february", "februar", "februari", "fevrier", "febrero", "febbraio", "fevereiro"},
	{"march", "marz", "mars", "maart", "marts", "marzo", "marco", "mrz", "mrt"},
	{"april", "avril", "abril", "aprile"},
	{"may", "mai", "mei", "maj", "mayo", "maggio", "maio"},
	{"june", "juni", "juin", "junio", "giugno", "junho"},
	{"july", "juli", "juillet", "julio", "luglio", "julho"},
	{"august", "augustus", "augusti", "aout", "agosto"},
	{"september", "septembre", "septiembre", "settembre", "setembro"},
	{"october", "oktober", "octobre", "octubre", "ottobre", "outubro"},
	{"november", "novembre", "noviembre", "novembro"},
	{"december", "dezember", "desember", "decembre", "diciembre", "dicembre", "dezembro"},
}

// monthOf returns the month that a word names, by its first three letters and more; 0: none, or several.
func monthOf(word []byte) (month int) {
	if len(word) < 3 {
		return 0
	}
	for m, names := range months {
		for _, name := range names {
			if strings.HasPrefix(name, string(word)) {
				if month != 0 && month != m+1 {
					return 0
				}
				month = m + 1
			}
		}
	}
	return month
}

// clock reads a time of day or a duration, such as 7:05, 07:05:33.5 or 7:05 pm, in seconds: hours and minutes, or minutes
// and seconds of a track. length is 0 if there is none.
func clock(v []byte) (seconds float64, length int) {
	var part [3]int
	n, i := 0, 0
	for n < 3 {
		start := i
		for i < len(v) && '0' <= v[i] && v[i] <= '9' && i-start < 3 {
			part[n] = 10*part[n] + int(v[i]-'0')
			i++
		}
		if i == start || n > 0 && (i-start != 2 || part[n] > 59) {
			return 0, 0
		}
		if n++; i+1 >= len(v) || v[i] != ':' || v[i+1] < '0' || v[i+1] > '9' {
			break
		}
		i++
	}
	if n < 2 {
		return 0, 0
	}
	seconds = float64(3600*part[0] + 60*part[1] + part[2])
	if n == 3 && i < len(v) && v[i] == '.' {
		start := i
		for i++; i < len(v) && '0' <= v[i] && v[i] <= '9'; i++ {
		}
		if x, err := strconv.ParseFloat("0"+string(v[start:i]), 64); err == nil {
			seconds += x
		}
	}
	rest := bytes.TrimLeft(v[i:], " ")
	for half, letter := range []byte("ap") {
		if len(rest) > 0 && rest[0] == letter && part[0] <= 12 && bytes.HasPrefix(bytes.TrimLeft(rest[1:], ". "), []byte("m")) {
			if part[0] == 12 {
				seconds -= 12 * 3600
			}
			return seconds + float64(half)*12*3600, len(v) - len(rest) + 1 + bytes.IndexByte(rest[1:], 'm') + 1
		}
	}
	return seconds, i
}

// zone returns the length of a difference from universal time, such as +02:00. Times are compared as they are written.
func zone(v []byte) int {
	if len(v) < 3 || v[0] != '+' && v[0] != '-' {
		return 0
	}
	i := 1
	for i < len(v) && ('0' <= v[i] && v[i] <= '9' || v[i] == ':') {
		i++
	}
	return i
}

// canonicalTime appends the time of day, or the duration, that a normalised value is: 070533 for 7:05:33.
func canonicalTime(dst, value []byte) (_ []byte, ok bool) {
	seconds, length := clock(value)
	if length == 0 || len(bytes.Trim(value[length:], " .z")) > 0 {
		return nil, false
	}
	return appendClock(dst, seconds), true
}

// appendClock appends hours, minutes and seconds as one word.
func appendClock(dst []byte, seconds float64) []byte {
	s := int(seconds)
	dst = appendDigits(dst, s/3600, 2)
	return appendDigits(appendDigits(dst, s/60%60, 2), s%60, 2)
}

// appendDigits appends a number of at least so many digits.
func appendDigits(dst []byte, x, digits int) []byte {
	for least := 10; digits > 1; digits-- {
		if x < least {
			dst = append(dst, '0')
		}
		least *= 10
	}
	return strconv.AppendInt(dst, int64(x), 10)
}
