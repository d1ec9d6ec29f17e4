package runner

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/stage"
)

// Every object of a plan begins with a header that says what the object is. Numbers are little-endian.
//
//	magic "alikeobj" 8 | CRC-32C of the rest 4 | version 4 | bytes of the text 4 | text: a header as JSON
//
// The text names the form of all that follows. Another form needs no other header: a reader that does not know
// the form still knows which object it is. These constants are part of the format and do not change within a version.
const (
	headerMagic   = "alikeobj"
	headerVersion = 1
	headerBytes   = 20 // before the text
)

// header says what an object is.
type header struct {
	Plan    string   `json:"plan"` // its digest
	Stage   string   `json:"stage"`
	Task    int      `json:"task"`
	Streams []string `json:"streams"` // that the task writes, also those without blocks
	Form    string   `json:"form"`    // of what follows
	results          // are not part of the header, so that readers know its bytes
}

// results are what a task has left besides blocks.
type results struct {
	Files   []written `json:"files,omitempty"`
	Summary *Summary  `json:"summary,omitempty"` // of the run, if the task is the last one
}

// header returns the header of a task's object, without what the task fills in.
func (p *Plan) header(of stage.Stage, task int) *header {
	return &header{Plan: p.Digest, Stage: of.Name, Task: task, Streams: of.Writes, Form: formBlocks}
}

// packing stands for a stage in the objects of Pack.
var packing = stage.Stage{Name: "pack", Writes: []string{stage.Documents.String()}}

// encoded returns the bytes of the header, and the checksum in them. They do not depend on the results.
func (h *header) encoded() (b []byte, sum uint32, err error) {
	plain := *h
	plain.results = results{}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, 0, err
	}
	b = append(b, headerMagic...)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, headerVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = append(b, text...)
	sum = durable.Checksum(0, b[12:])
	binary.LittleEndian.PutUint32(b[8:], sum)
	return b, sum, nil
}

// parseHeader reads the header at the beginning of an object. more returns so many bytes of the object. sum is the
// checksum in the header.
func parseHeader(more func(n int64) ([]byte, error)) (h *header, length int64, sum uint32, err error) {
	b, err := more(headerBytes)
	if err != nil {
		return nil, 0, 0, err
	}
	if string(b[:8]) != headerMagic {
		return nil, 0, 0, errors.New("it does not begin as an object does")
	}
	if v := binary.LittleEndian.Uint32(b[12:]); v != headerVersion {
		return nil, 0, 0, fmt.Errorf("its header is of version %d, not %d", v, headerVersion)
	}
	length = headerBytes + int64(binary.LittleEndian.Uint32(b[16:]))
	if b, err = more(length); err != nil {
		return nil, 0, 0, err
	}
	if sum = binary.LittleEndian.Uint32(b[8:]); sum != durable.Checksum(0, b[12:length]) {
		return nil, 0, 0, errors.New("its header has another checksum than its bytes")
	}
	h = &header{}
	if err := json.Unmarshal(b[headerBytes:length], h); err != nil {
		return nil, 0, 0, fmt.Errorf("its header is no header: %w", err)
	}
	return h, length, sum, nil
}

// differs says in words what an object is, if it is not the wanted one.
func (h *header) differs(want *header) error {
	switch {
	case h.Plan != want.Plan:
		return errors.New("it is of another plan")
	case h.Stage != want.Stage || h.Task != want.Task:
		return fmt.Errorf("it is of stage %.40q, task %d", h.Stage, h.Task)
	case h.Form != want.Form:
		return fmt.Errorf("it has the form %.40q, this program knows %q: use one version of alike for all tasks", h.Form, want.Form)
	case !slices.Equal(h.Streams, want.Streams):
		return fmt.Errorf("it has the streams %.200q, in place of %q", h.Streams, want.Streams)
	}
	return nil
}

// written is a file of the results, as a task has written it.
type written struct {
	Name string `json:"name"` // in the place of the results
	Size int64  `json:"size"`
	Sum  uint32 `json:"sum"` // CRC-32C
}
