package minhash

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNumbersAreReadOneALine(t *testing.T) {
	got, err := ReadNumbers(strings.NewReader("# of a program\n18446744073709551615\r\n\n 0x10 \n0\n"))
	if want := []uint64{1<<64 - 1, 16, 0}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestBadNumbersAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"1\n\n2 3\n":                      `line 3 is "2 3"`,
		"18446744073709551616":            "line 1",
		"-1":                              "0 to 2^64-1",
		"# none\n":                        "no numbers",
		strings.Repeat("1\n", MaxK):       "one number too many",
		strings.Repeat("1", 1<<17) + "\n": "reading numbers",
	} {
		if _, err := ReadNumbers(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q in it", text, err, want)
		}
	}
}

// FuzzReadNumbers asks that numbers which were read are read again as they print.
func FuzzReadNumbers(f *testing.F) {
	f.Add("1\n0x2\n#\n")
	f.Fuzz(func(t *testing.T, text string) {
		numbers, err := ReadNumbers(strings.NewReader(text))
		if err != nil {
			return
		}
		var b strings.Builder
		for _, n := range numbers {
			fmt.Fprintln(&b, n)
		}
		if again, err := ReadNumbers(strings.NewReader(b.String())); err != nil || !slices.Equal(again, numbers) {
			t.Fatalf("%v becomes %v, %v", numbers, again, err)
		}
	})
}
