package delimited

import (
	"bytes"

	"github.com/alike-dev/alike/corpus/internal/lines"
	"github.com/alike-dev/alike/internal/fault"
)

// All returns the rows of a whole table, its first one too, whatever their numbers of cells: what is no table of records
// may have no header. The columns are separated by tabs without quotes, or by what Delimiter finds. Blank lines do not
// count. line is that of an error, from 1 on.
func All(s []byte, tabs bool) (rows [][]string, line int, err error) {
	const unlimited = 1 << 62
	var comma byte
	line = 1
	if !tabs {
		rest := headerLine(s, Comma)
		line += bytes.Count(s[:len(s)-len(rest)], lines.End)
		var said bool
		if comma, said = Said(s[:bytes.IndexByte(s, '\n')+1]); !said {
			comma, _ = Delimiter(rest, unlimited, true)
		}
		s = rest
	}
	var cells []cell
	var unquoted []byte
	for len(s) > 0 {
		n, state, ok := bytes.IndexByte(s, '\n')+1, OK, true
		if comma != 0 {
			n, state = CSVRecord(s, comma, unlimited, true)
		} else if n == 0 {
			n = len(s)
		}
		record := s[:n]
		switch {
		case len(lines.WithoutEnd(record)) == 0:
			line, s = line+1, s[n:]
			continue
		case comma == 0:
			cells = splitTSV(cells[:0], record)
		default:
			cells, ok = splitCSV(cells[:0], record, comma)
		}
		if !ok || state != OK {
			return nil, line, errQuotes
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			unquoted = unquoted[:0]
			row[i] = string(c.value(record, &unquoted))
		}
		rows, line, s = append(rows, row), line+bytes.Count(record, lines.End), s[n:]
	}
	return rows, 0, nil
}

var errQuotes = fault.Because(fault.ErrMalformed, "malformed CSV: a quoted field is not closed or has text beside its quotes; correct or remove the line")
