package stream

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/alike-dev/alike/internal/fault"
)

// layouts are the formats of times that are not numbers. Times without a zone are UTC. Any of them may have
// fractions of a second.
var layouts = []string{
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04",
	"2006-01-02",
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate,
	"Mon, 2 Jan 2006 15:04:05 -0700",
	"2-Jan-2006 15:04:05",
}

var errNoTime = errors.New("no time")

// mostSeconds is about the year 5138 in seconds since 1970. A larger number is in a smaller unit.
const mostSeconds = 1e11

// ParseTime parses the time of an event. It accepts RFC 3339, RFC 1123, ANSI C, "2006-01-02 15:04:05",
// the same without seconds or without a time of day, "2-Jan-2006 15:04:05", and a number since 1970. The
// number is in seconds, milliseconds, microseconds or nanoseconds: the largest of these units that gives a
// time before the year 5138.
func ParseTime(value []byte) (time.Time, error) {
	s := strings.TrimSpace(string(value))
	if s == "" {
		return time.Time{}, fmt.Errorf("%w: it is missing or empty", errNoTime)
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return parseNumber(s, n)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return checkRange(t, s)
		}
	}
	return time.Time{}, fmt.Errorf("%w: %s is neither such as 2006-01-02T15:04:05Z nor a number of seconds since 1970", errNoTime, fault.Shown(s))
}

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
		return time.Time{}, fmt.Errorf("%w: %s is out of range", errNoTime, fault.Shown(s))
	}
	return time.Unix(0, int64(nanoseconds)).UTC(), nil
}

// checkRange refuses times that do not fit in 64 bits of nanoseconds since 1970.
func checkRange(t time.Time, s string) (time.Time, error) {
	if year := t.Year(); year < 1700 || year > 2250 {
		return time.Time{}, fmt.Errorf("%w: %s is out of range", errNoTime, fault.Shown(s))
	}
	return t.UTC(), nil
}
