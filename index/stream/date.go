package stream

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/fault"
)

// A date in words is cut at its spaces, after commas and stops have gone:
//
//	[weekday] date [time of day [AM|PM]] [zone] [year] [(remark)]
//
// The date is one word with hyphens or slashes, or three; in the form of ANSI C it is two, and the year comes last. Year,
// month and day are put into the form of ISO 8601, and package time checks the result.

var errForm = errors.New("in no form that is read")

var (
	months   = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)

// named returns the place of a name of which word is three letters or more, -1 if there is none.
func named(names []string, word string) int {
	word = strings.ToLower(word)
	return slices.IndexFunc(names, func(name string) bool { return len(word) >= 3 && strings.HasPrefix(name, word) })
}

// parseDate parses a date with or without a time of day.
func parseDate(s string) (time.Time, error) {
	words := dateWords(s)
	year := ""
	if n := len(words); n > 2 && len(words[n-1]) == 4 && digits(words[n-1]) && strings.Contains(strings.Join(words[:n-1], " "), ":") {
		year, words = words[n-1], words[:n-1]
	}
	clockAt := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, ":") })
	if clockAt < 0 {
		clockAt = len(words)
	}
	date := words[:clockAt:clockAt]
	if year != "" {
		date = append(date, year)
	}
	day, err := isoDate(date)
	if err != nil {
		return time.Time{}, err
	}
	clock, layout, offset, err := clockAndZone(words[clockAt:])
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse("2006-1-2"+layout, day+clock)
	return t.Add(-offset), err
}

// dateWords cuts a date into its words, without the weekday and a remark in brackets behind it.
func dateWords(s string) []string {
	if at := strings.LastIndexByte(s, '('); at > 0 && strings.HasSuffix(s, ")") {
		s = s[:at]
	}
	if len(s) > 10 && s[4] == '-' && s[10] == 'T' {
		s = s[:10] + " " + s[11:]
	}
	words := strings.Fields(s)
	for i, word := range words {
		words[i] = strings.TrimRight(word, ",.")
	}
	if len(words) > 0 && named(weekdays, words[0]) >= 0 {
		words = words[1:]
	}
	return words
}

// isoDate returns a date as year-month-day in digits.
func isoDate(words []string) (string, error) {
	if len(words) == 1 {
		if words = strings.Split(words[0], "-"); len(words) != 3 {
			words = strings.Split(words[0], "/")
		}
	}
	if len(words) != 3 {
		return "", errForm
	}
	day, month, year := words[0], words[1], words[2]
	yearFirst := len(day) == 4 && digits(day)
	switch {
	case yearFirst:
		year, day = day, year
	case named(months, day) >= 0:
		month, day = day, month
	}
	if m := named(months, month); m >= 0 {
		month = strconv.Itoa(m + 1)
	} else if !yearFirst { // day and month in digits: which is which?
		return "", errForm
	}
	if len(year) == 2 && digits(year) {
		if year >= "69" {
			year = "19" + year
		} else {
			year = "20" + year
		}
	}
	return year + "-" + month + "-" + day, nil
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// clockAndZone returns the time of day with its layout for package time, both empty if there is none, and how far its zone
// is ahead of UTC.
func clockAndZone(words []string) (clock, layout string, offset time.Duration, err error) {
	if len(words) == 0 {
		return "", "", 0, nil
	}
	clock, rest := words[0], words[1:]
	zone := ""
	if at := strings.IndexAny(clock, "+-Zz"); at > 0 {
		clock, zone = clock[:at], clock[at:]
	}
	layout = " 15:04"
	half := strings.ToUpper(strings.TrimLeft(clock, "0123456789:.,"))
	if len(rest) > 0 && half == "" {
		if word := strings.ToUpper(rest[0]); word == "AM" || word == "PM" {
			half, rest = word, rest[1:]
		}
	}
	if half == "AM" || half == "PM" {
		clock, layout = strings.TrimRight(clock, "AaPpMm")+half, " 3:04"
	}
	if strings.Count(clock, ":") == 2 {
		layout += ":05"
	}
	if layout[1] == '3' {
		layout += "PM"
	}
	for _, word := range rest {
		zone += word
	}
	offset, err = zoneOffset(zone)
	return " " + clock, layout, offset, err
}

// zones are the names of RFC 822 that do not mean UTC, by their hours ahead of it.
var zones = map[string]int{"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}

// zoneOffset returns how far a zone is ahead of UTC.
func zoneOffset(zone string) (time.Duration, error) {
	at := strings.IndexAny(zone, "+-")
	if at < 0 {
		if strings.Trim(zone, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" || len(zone) > 5 {
			return 0, errForm
		}
		return time.Duration(zones[strings.ToUpper(zone)]) * time.Hour, nil
	}
	if name := strings.ToUpper(zone[:at]); name != "" && name != "GMT" && name != "UTC" {
		return 0, errForm
	}
	hours, minutes := strings.ReplaceAll(zone[at+1:], ":", ""), "0"
	if len(hours) == 4 {
		hours, minutes = hours[:2], hours[2:]
	}
	h, err := strconv.ParseUint(hours, 10, 8)
	m, wrong := strconv.ParseUint(minutes, 10, 8)
	if err != nil || wrong != nil || h > 23 || m > 59 {
		return 0, errForm
	}
	offset := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if zone[at] == '-' {
		offset = -offset
	}
	return offset, nil
}

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
