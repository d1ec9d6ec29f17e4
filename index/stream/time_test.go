package stream_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index/stream"
)

func TestTimesAreReadAsPeopleWriteThem(t *testing.T) {
	at := time.Date(1987, 2, 26, 15, 1, 1, 790_000_000, time.UTC)
	second := at.Truncate(time.Second)
	for s, want := range map[string]time.Time{
		"1987-02-26T15:01:01.79Z":               at,
		"1987-02-26T16:01:01.79+01:00":          at,
		"1987-02-26 15:01:01.79":                at,
		" 26-FEB-1987 15:01:01.79":              at,
		"Thu, 26 Feb 1987 15:01:01 GMT":         second,
		"Thu, 26 Feb 1987 10:01:01 -0500":       second,
		"1987-02-26T15:01:01+0000":              second,
		"1987-02-26":                            time.Date(1987, 2, 26, 0, 0, 0, 0, time.UTC),
		"541350061":                             second,
		"541350061.79":                          at,
		"541350061790":                          at,
		"541350061790000":                       at,
		"541350061790000000":                    at,
		"0":                                     time.Unix(0, 0),
		"19870226150101":                        second,
		"26 Feb 1987 15:01:01.79":               at,
		"26 February 1987 15:01:01":             second,
		"26-Feb-1987 15:01:01 UTC":              second,
		"Feb 26, 1987 3:01:01 PM":               second,
		"February 26, 1987, 03:01:01pm":         second,
		"Feb. 26 1987 15:01:01":                 second,
		"26. Febr. 1987 15:01:01":               second,
		"1987/02/26 15:01:01":                   second,
		"1987-Feb-26 15:01:01 +00":              second,
		"26/Feb/1987 15:01:01 +0000":            second,
		"Thursday, 26-Feb-87 15:01:01 UT":       second,
		"Thu, 26 Feb 87 10:01:01 EST":           second,
		"Thu, 26 Feb 1987 16:01:01 +0100 (CET)": second,
		"Thu Feb 26 15:01:01 1987":              second,
		"Thu Feb 26 15:01:01 UTC 1987":          second,
		"Thu Feb 26 08:01:01 -0700 1987":        second,
		"Thu Feb 26 1987 17:01:01 GMT+0200 (Eastern European Standard Time)": second,
		"1987-02-26 15:01:01 Z":       second,
		"1987-02-26 18:31:01+03:30":   second,
		"26 Feb 1987 15:01:01 XYZ":    second, // a name that RFC 822 has not is UTC
		"26 Feb 1987":                 second.Truncate(24 * time.Hour),
		"26-Feb-1987":                 second.Truncate(24 * time.Hour),
		"Feb 26, 1987":                second.Truncate(24 * time.Hour),
		"Thursday, February 26, 1987": second.Truncate(24 * time.Hour),
		"26 Feb 1987 15:01":           second.Truncate(time.Minute),
		"26 Sept 1987 12:00 AM":       time.Date(1987, 9, 26, 0, 0, 0, 0, time.UTC),
		"21 Nov 2026 10:00":           time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		"1795255200000":               time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		"1.7952552e12":                time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
	} {
		got, err := stream.ParseTime([]byte(s))
		if err != nil || got.Sub(want).Abs() > time.Microsecond {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "  ", "yesterday", "null", "1e300", "-1e300", "NaN", "9999-01-01", "99999999999999999999999",
		"06/07/2026", "20/02/20", "1.2.2026", "26-11-21", "Nov 2026", "30 Feb 2026", "21 Foo 2026", "21 Nov 026", "Monday", "10:00", "10:00 21 Nov 2026", "21 Nov 2026 25:00",
		"21 Nov 2026 13:00 PM", "21 Nov 2026 10:00 +2500", "21 Nov 2026 10:00 +01x", "21 Nov 2026 10:00 somewhere", "21 Nov 2026 10:00 EST+5", "21 Nov 2026 x:y", "(", ")", "a (b)",
	} {
		if got, err := stream.ParseTime([]byte(s)); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// Whatever the layouts of package time write, in a zone whose name is known, is read back to the second.
func TestTimesThatPackageTimeWritesAreReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zones := []*time.Location{time.UTC, time.FixedZone("EST", -5*3600), time.FixedZone("PDT", -7*3600), time.FixedZone("GMT", 0)}
	for range 2_000 {
		at := time.Unix(random.Int64N(1<<31), 0).In(zones[random.IntN(len(zones))])
		for _, layout := range []string{
			time.RFC3339, time.RFC1123, time.RFC1123Z, time.RFC850, time.RFC822 + ":05", time.RFC822Z, time.ANSIC, time.UnixDate, time.RubyDate, time.DateTime,
			"2 Jan 2006 15:04:05 -0700", "2-Jan-2006 15:04:05 MST", "Jan 2, 2006 3:04:05 PM -07:00", "January 2 2006 15:04:05 MST", "Monday, 2 January 2006 15:04:05 Z0700",
		} {
			want := at
			switch {
			case layout == time.RFC822+":05":
				layout = "02 Jan 06 15:04:05 MST"
			case layout == time.RFC822Z:
				want = at.Truncate(time.Minute)
			case layout == time.ANSIC || layout == time.DateTime:
				want = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
			}
			s := at.Format(layout)
			if got, err := stream.ParseTime([]byte(s)); err != nil || !got.Equal(want) {
				t.Fatalf("%q: %v, %v, want %v", s, got, err, want)
			}
		}
		if at.Unix() < 1e8 { // so few milliseconds are read as seconds
			continue
		}
		for _, n := range []int64{at.Unix(), at.UnixMilli(), at.UnixMicro(), at.UnixNano()} {
			if got, err := stream.ParseTime(fmt.Append(nil, n)); err != nil || !got.Equal(at) {
				t.Fatalf("%d: %v, %v, want %v", n, got, err, at)
			}
		}
	}
}

// A message says what is wrong in a line that one can read, and which forms are read.
func TestTheMessageAboutATimeListsTheForms(t *testing.T) {
	_, err := stream.ParseTime([]byte("someday\x1b " + strings.Repeat("é", 1000)))
	p := corpus.Problem{Path: "a.jsonl", Line: 3, Err: err}
	if p.Kind() != "no time" || len(err.Error()) > 400 || !strings.Contains(err.Error(), `"someday\x1b é`) {
		t.Errorf("%s: %v", p.Kind(), err)
	}
	listed := 0
	for _, form := range []string{"2026-11-21T10:00:00Z", "2026-11-21 10:00", "21 Nov 2026 10:00", "21-Nov-2026", "Nov 21, 2026", "Sat, 21 Nov 2026 10:00:00 +0100"} {
		if _, e := stream.ParseTime([]byte(form)); e != nil || !strings.Contains(err.Error(), form) {
			t.Errorf("%s: %v", form, e)
		}
		listed++
	}
	if !strings.Contains(err.Error(), "milli-") || listed == 0 {
		t.Errorf("%v", err)
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2006-01-02T15:04:05Z", "1e9", "-5", "26-FEB-1987 15:01:01.79", "Sat, 21 Nov 2026 10:00:00 +0100 (CET)", "Nov 21, 2026 1:02 PM EST", "Thu Feb 26 15:01:01 UTC 1987"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if at, err := stream.ParseTime([]byte(s)); err == nil && !time.Unix(0, at.UnixNano()).Equal(at) {
			t.Errorf("%q: %v does not fit", s, at)
		}
	})
}
