package bom

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

const sample = "a\u0301 é ü\r\n日本 😀 x\n" // one and two code points for a letter, and a character of four bytes

func encoded(e Encoding, text string) []byte { return e.AppendBack([]byte(marks[e]), []byte(text)) }

func TestTextOfAFileIsTheSameInEveryEncoding(t *testing.T) {
	for e := None; e <= UTF16BE; e++ {
		file := encoded(e, sample)
		if text, got := Text(file); string(text) != sample || got != e {
			t.Errorf("%d: %q, encoding %d", e, text, got)
		}
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(file), "byte by byte": iotest.OneByteReader(bytes.NewReader(file))} {
			if text, err := io.ReadAll(NewReader(r)); string(text) != sample || err != nil {
				t.Errorf("%d, %s: %q, %v", e, name, text, err)
			}
		}
		for n := range file {
			if _, more := Of(file[:n], false); n >= enough && more {
				t.Errorf("%d: %d bytes do not tell", e, n)
			}
		}
	}
	for _, none := range []string{"", "a", "\xff", "\xef\xbb", "\xff\xfe\x00\x00a"} {
		if e, more := Of([]byte(none), true); e != None || more {
			t.Errorf("%q: %d", none, e)
		}
	}
}

func TestSurrogateWithoutItsOtherHalfIsAReplacement(t *testing.T) {
	if text, _ := Text([]byte("\xff\xfea\x00\x00\xd8b\x00\x3d\xd8")); string(text) != "a\uFFFDb\uFFFD" {
		t.Errorf("%q", text)
	}
}

func TestPlacesAreThoseOfTheFile(t *testing.T) {
	text := strings.Repeat(sample, 1000)
	for e := None; e <= UTF16BE; e++ {
		file := encoded(e, text)
		places := e.Places([]byte(text))
		for at := 0; at <= len(text); at++ {
			if at < len(text) && !utf8.RuneStart(text[at]) {
				continue
			}
			if at > 100 && at < len(text)-100 && at%7 > 0 {
				continue
			}
			place := places.InFile(at)
			if rest := e.Append(nil, file[place:]); string(rest) != text[at:] {
				t.Fatalf("%d: byte %d of the text stands at %d", e, at, place)
			}
		}
	}
}

func TestNarrowKeepsWhatDividesLinesAndTables(t *testing.T) {
	const text = "a,\"ऊ\"\r\n\u0a0d😀\n" // U+0A0D has the bytes of both line ends
	for _, e := range []Encoding{UTF16LE, UTF16BE} {
		narrow := e.AppendNarrow(nil, append(e.AppendBack(nil, []byte(text)), 0))
		if string(narrow) != "a,\"\x80\"\r\n\x80\x80\x80\n\x80" {
			t.Errorf("%d: %q", e, narrow)
		}
	}
}
