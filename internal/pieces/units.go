package pieces

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/tagging"
)

// unitHead is what stands before the text of a unit in its record.
const unitHead = `{"id":"%d","text":`

// AppendUnit appends a unit, with its number among the different ones of a corpus, as a record of JSON lines.
func AppendUnit(dst []byte, number uint64, unit []byte) []byte {
	dst = fmt.Appendf(dst, unitHead, number)
	return append(tagging.AppendJSON(dst, unit), "}\n"...)
}

// A UnitReader reads again some of what AppendUnit has made.
type UnitReader struct{ From *bufio.Reader }

// Text returns the text of a unit, which must be behind that of the call before.
func (r *UnitReader) Text(unit uint64) ([]byte, error) {
	head := fmt.Appendf(nil, unitHead, unit)
	for {
		line, err := r.From.ReadBytes('\n')
		if err != nil {
			return nil, scratch.ErrDamaged
		}
		if quoted, ok := bytes.CutPrefix(line, head); ok {
			var text string
			err = json.Unmarshal(bytes.TrimSuffix(quoted, []byte("}\n")), &text)
			return []byte(text), err
		}
	}
}
