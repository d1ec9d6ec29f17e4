package stream

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/fault"
)

// mostSeconds is about the year 5138 in seconds since 1970. A larger number is in a smaller unit.
const mostSeconds = 1e11

// ParseTime parses the time of an event. It takes
//
//   - a date with a four-digit year first, such as 2026-11-21 or 2026/11/21, alone or with a time of day
//     behind a T or a space: RFC 3339, ISO 8601
//   - a date with the name of the month, in full or by three letters or more: 21 Nov 2026, 21-Nov-2026, Nov 21, 2026;
//     alone or with a time of day, with a weekday before it or not: RFC 822, 850, 1123 and 5322, ANSI C, Unix date
//   - 20261121100000, the fourteen digits of a date and time from 1900 to 2099
//   - any other number: the time since 1970 in seconds, milliseconds, microseconds or nanoseconds, whichever is the
//     largest of these units that gives a time before the year 5138. So a number of 13 digits is milliseconds.
//
// A time of day is 10:00, 10:00:00 or 10:00:00.5, also with AM or PM. It may have a zone: Z, +01:00, +0100, +01, GMT+1 or
// one of the names of RFC 822 (UT, GMT, EST, EDT, CST, CDT, MST, MDT, PST, PDT). Without a zone it is UTC, and so it is
// with any other name of one, as RFC 5322 has it. A year of two digits is one from 1969 to 2068. Dates of numbers that do not
// begin with the year are refused: 06/07/2026 may be in June or in July.
func ParseTime(value []byte) (time.Time, error) {
	s := strings.TrimSpace(string(value))
	if s == "" {
		return time.Time{}, fault.Because(fault.ErrNoTime, "no time: it is missing or empty")
	}
	if len(s) == len(fourteen) {
		if t, err := time.Parse(fourteen, s); err == nil && t.Year() >= 1900 && t.Year() < 2100 {
			return t, nil
		}
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return parseNumber(s, n)
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = parseDate(s)
	}
	if err != nil {
		return time.Time{}, fault.Because(fault.ErrNoTime,
			"no time: %s is in no form that is read, such as 2026-11-21T10:00:00Z; 2026-11-21 10:00; 21 Nov 2026 10:00; "+
				"21-Nov-2026; Nov 21, 2026; Sat, 21 Nov 2026 10:00:00 +0100; seconds, milli-, micro- or nanoseconds since 1970", excerpt(s))
	}
	return checkRange(t, s)
}

// fourteen is the layout of a date and time in digits.
const fourteen = "20060102150405"

// parseNumber parses a number since 1970. Whole numbers are exact; a fraction is rounded as a float64.
func parseNumber(s string, n float64) (time.Time, error) {
	unit := int64(time.Second)
	for size := math.Abs(n); size >= mostSeconds && unit > 1; size /= 1000 {
		unit /= 1000
	}
	if whole, err := strconv.ParseInt(s, 10, 64); err == nil && (unit == 1 || whole <= math.MaxInt64/unit && whole >= math.MinInt64/unit) {
		return time.Unix(0, whole*unit).UTC(), nil
	}
	nanoseconds := n * float64(unit)
	if !(math.Abs(nanoseconds) < math.MaxInt64) {
		return outOfRange(s)
	}
	return time.Unix(0, int64(nanoseconds)).UTC(), nil
}

// checkRange refuses times that do not fit in 64 bits of nanoseconds since 1970.
func checkRange(t time.Time, s string) (time.Time, error) {
	if year := t.Year(); year < 1700 || year > 2250 {
		return outOfRange(s)
	}
	return t.UTC(), nil
}

func outOfRange(s string) (time.Time, error) {
	return time.Time{}, fault.Because(fault.ErrNoTime, "no time: %s is out of range", excerpt(s))
}

// excerpt returns the beginning of a value in a form that is fit for a message.
func excerpt(s string) string {
	const most = 60
	if len(s) <= most {
		return fault.Shown(s)
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fault.Shown(s[:end]) + "…"
}
