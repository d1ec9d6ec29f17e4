package journal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/alike-dev/alike/internal/durable"
)

// The journal is a file of lines:
//
//	alike journal 1 CCCCCCCC        magic, format version, checksum of what is before
//	CCCCCCCC = "name" "value"       a setting of the fingerprint, for each of them
//	CCCCCCCC . N                    end of the fingerprint of N settings
//	CCCCCCCC kind payload           a record: its payload is JSON on one line
//
// CCCCCCCC are eight lower-case hexadecimal digits: the CRC-32C of the rest of the line,
// without the space after (in the first line before) them and the line feed. These
// constants are part of the format and should not be changed.
const (
	magic         = "alike journal "
	formatVersion = 1
	settingKind   = "="
	beginKind     = "."
	checksumLen   = 8
	// longestLine bounds how much of a damaged file a reader holds.
	longestLine = 64 << 20
)

// appendLine appends a record with its checksum and line feed.
func appendLine(dst []byte, kind string, payload []byte) []byte {
	start := len(dst)
	return endLine(append(startLine(dst, kind), payload...), start)
}

// startLine appends the part of a record before the payload. When the payload is appended too,
// endLine fills in the checksum of the line that starts there.
func startLine(dst []byte, kind string) []byte {
	dst = append(dst, "CCCCCCCC "...)
	dst = append(dst, kind...)
	return append(dst, ' ')
}

func endLine(dst []byte, start int) []byte {
	putChecksum(dst[start:], dst[start+checksumLen+1:])
	return append(dst, '\n')
}

func putChecksum(dst, of []byte) {
	var sum [4]byte
	c := durable.Checksum(0, of)
	sum[0], sum[1], sum[2], sum[3] = byte(c>>24), byte(c>>16), byte(c>>8), byte(c)
	hex.Encode(dst[:checksumLen], sum[:])
}

// parseLine splits a line, without its line feed. ok is false if the line is damaged.
func parseLine(line []byte) (kind, payload []byte, ok bool) {
	if len(line) <= checksumLen || line[checksumLen] != ' ' {
		return nil, nil, false
	}
	body := line[checksumLen+1:]
	if !sumMatches(line[:checksumLen], body) {
		return nil, nil, false
	}
	return bytes.Cut(body, []byte(" "))
}

// sumMatches checks first that the digits are hexadecimal: that rejects most bytes of a damaged
// file without a checksum.
func sumMatches(digits, body []byte) bool {
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	var want [checksumLen]byte
	putChecksum(want[:], body)
	return bytes.Equal(digits, want[:])
}

// header returns the first line.
func header() []byte {
	line := strconv.AppendInt([]byte(magic), formatVersion, 10)
	sum := make([]byte, checksumLen)
	putChecksum(sum, line)
	return append(append(append(line, ' '), sum...), '\n')
}

// parseHeader returns the format version in a first line.
func parseHeader(line []byte) (version string, ok bool) {
	i := len(line) - checksumLen - 1
	if i < len(magic) || line[i] != ' ' || !bytes.HasPrefix(line, []byte(magic)) || !sumMatches(line[i+1:], line[:i]) {
		return "", false
	}
	return string(line[len(magic):i]), true
}

// appendSetting appends the line of a setting. Quoting preserves every byte that a path may have,
// also invalid UTF-8 and line feeds.
func appendSetting(dst []byte, s Setting) []byte {
	start := len(dst)
	dst = strconv.AppendQuote(startLine(dst, settingKind), s.Name)
	dst = strconv.AppendQuote(append(dst, ' '), s.Value)
	return endLine(dst, start)
}

func parseSetting(payload []byte) (Setting, bool) {
	quoted, err := strconv.QuotedPrefix(string(payload))
	if err != nil {
		return Setting{}, false
	}
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return Setting{}, false
	}
	rest, ok := bytes.CutPrefix(payload[len(quoted):], []byte(" "))
	if !ok {
		return Setting{}, false
	}
	value, err := strconv.Unquote(string(rest))
	return Setting{name, value}, err == nil
}

// errTorn says that the file ends within a line.
var errTorn = errors.New("line without an end")

// lineReader reads a file line by line.
type lineReader struct {
	in   *bufio.Reader
	next int64 // offset of the next line
	line []byte
}

// newLineReader reads the bytes of f from an offset up to an end.
func newLineReader(f io.ReaderAt, from, end int64) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(io.NewSectionReader(f, from, end-from), 64<<10), next: from}
}

// read returns the next line without its line feed, valid until the next call. At
// the end of the file err is io.EOF, and errTorn if the line has no end.
func (r *lineReader) read() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			r.next += int64(len(r.line))
			return r.line[:len(r.line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			if len(r.line) > longestLine {
				return nil, errTorn
			}
		case errors.Is(err, io.EOF):
			if len(r.line) > 0 {
				return nil, errTorn
			}
			return nil, io.EOF
		default:
			return nil, err
		}
	}
}

// wholeLineWithin reports whether line ends with a whole record, before which the line feed is
// missing.
func wholeLineWithin(line []byte) bool {
	for i := range line {
		if _, _, ok := parseLine(line[i:]); ok {
			return true
		}
	}
	return false
}

// wholeLineAfter reports whether a whole record starts behind the given offset. Such a record
// proves that the damage at the offset is not a torn write: a record is written only when the one
// before is safe on disk.
func wholeLineAfter(f io.ReaderAt, offset, end int64) (bool, error) {
	r := newLineReader(f, offset+1, end)
	for {
		line, err := r.read()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errTorn):
			return false, nil
		case err != nil:
			return false, err
		case wholeLineWithin(line):
			return true, nil
		}
	}
}

// checkKind refuses kinds that the format cannot hold.
func checkKind(kind string) error {
	for _, c := range []byte(kind) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return fmt.Errorf("journal record of kind %q: a kind is made of a to z, 0 to 9 and -", kind)
		}
	}
	if kind == "" {
		return errors.New("journal record without a kind")
	}
	return nil
}
