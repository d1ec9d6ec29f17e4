package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// A lineBlock is some lines of a body on their way: read, prepared by any goroutine, decided in the order of the lines,
// and answered.
type lineBlock struct {
	lines []byte
	ready chan struct{} // closed when it is prepared
	work  lineWork
	err   error // of preparing
	out   []byte
}

// lineWork handles the lines of blocks, one block at a time. It belongs to the block.
type lineWork interface {
	// prepare does what needs no order. It keeps the lines.
	prepare(lines []byte)
	// decide begins to decide about the lines. It is called in the order of the blocks, one at a time.
	decide() error
	// answer waits for that, and appends an answer for each line. It is called in the order of the blocks too.
	answer(dst []byte) ([]byte, error)
}

const (
	// lineBlockSize is how much is read at once: one goroutine handles it before others see its result.
	lineBlockSize = 64 << 10
	// mostBlocks is how many blocks of a body are on their way at once. While the disk takes 10 ms, 16 blocks are 50,000
	// lines of 2 KB a second.
	mostBlocks = 16
)

// lines is what all bodies of lines have in common.
type lines struct {
	drain  context.Context // done when no more lines are read
	limits *Limits
	turns  chan struct{} // held while a block is prepared: as many as processors, so that requests need not wait for many
}

// streamLines answers NDJSON by NDJSON. Its goroutines end before it returns:
//
//	read → prepare (any number) → decide (in order) → settle, write (the caller's goroutine)
//
// A block is read only when one of mostBlocks is free, so that a client that does not read its answers cannot send on.
// Once drain is done reading ends, and lines that were read are answered.
func streamLines(w http.ResponseWriter, r *http.Request, l lines, newWork func() lineWork, settle func() error) error {
	limits := l.limits
	control := http.NewResponseController(w)
	if err := control.EnableFullDuplex(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	body := newPacedBody(control.SetReadDeadline, r.Body, limits)
	defer context.AfterFunc(l.drain, body.drain)()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := func() { // ends the reader
		cancel()
		body.drain()
	}
	var group errgroup.Group
	ordered, decided := make(chan *lineBlock, mostBlocks), make(chan *lineBlock, mostBlocks)
	free := make(chan *lineBlock, mostBlocks)
	for range mostBlocks {
		free <- nil // made when it is needed
	}
	var ended error // why reading has ended; read after decided is closed
	group.Go(func() error {
		defer close(ordered)
		ended = readLines(ctx, &unmarked{Reader: body}, l, newWork, free, ordered)
		return nil
	})
	group.Go(func() error {
		defer close(decided)
		return decideBlocks(ordered, decided, stop)
	})
	w.Header().Set("Content-Type", ndjson)
	w.Header().Set("Connection", "close") // the body may not be read to its end
	written := writeBlocks(w, control, limits, decided, free, settle)
	if written != nil {
		stop()
	}
	for range decided { // what was decided and cannot be answered is not acknowledged
	}
	err := group.Wait()
	_ = control.SetWriteDeadline(time.Now().Add(limits.Write)) // for the end of the answer
	if written != nil || err != nil {
		return errors.Join(written, err)
	}
	if ended != nil {
		return appendProblem(w, ended)
	}
	return nil
}

// appendProblem ends an answer of lines with the problem that has ended the body.
func appendProblem(w io.Writer, err error) error {
	p, unexpected := asProblem(err)
	if _, e := w.Write(append(p.line(nil), '\n')); e != nil || unexpected {
		return err
	}
	return nil
}

// line appends the problem as an answer to a line.
func (p *Problem) line(dst []byte) []byte {
	body, err := json.Marshal(struct {
		Problem *Problem `json:"problem"`
	}{p})
	if err != nil {
		panic("serve: a problem cannot be written: " + err.Error())
	}
	return append(dst, body...)
}

// readLines cuts the body into blocks of whole lines. Each is prepared by a goroutine of its own, when it is its turn.
func readLines(ctx context.Context, body io.Reader, l lines, newWork func() lineWork, free, ordered chan *lineBlock) error {
	var rest []byte // the beginning of a line
	for {
		var b *lineBlock
		select {
		case <-ctx.Done():
			return nil
		case b = <-free:
		}
		if b == nil {
			b = &lineBlock{work: newWork()}
		}
		b.lines, b.ready = append(b.lines[:0], rest...), make(chan struct{})
		whole, err := readBlock(body, b, l.limits.Line)
		rest = append(rest[:0], b.lines[whole:]...)
		b.lines = b.lines[:whole]
		if errors.Is(err, io.EOF) && len(bytes.TrimSpace(rest)) > 0 {
			b.lines = append(b.lines, rest...) // the last line may lack its end
		}
		if len(b.lines) > 0 {
			ordered <- b // it has room for all blocks
			l.turns <- struct{}{}
			go func() {
				b.err = guarded(func() error {
					b.work.prepare(b.lines)
					return nil
				})
				close(b.ready)
				<-l.turns
			}()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// guarded turns a panic into an error: one in a handler of net/http ends its request, and so does one of a front, or of
// the lines of a body.
func guarded(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("serve: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work()
}

// readBlock appends to a block, which has the beginning of a line or nothing, what a read returns, and more until there is
// a whole line. It returns where the last whole line ends. It reads no further than the longest line may go, so that whether
// a line is too long does not depend on how its bytes arrive.
func readBlock(body io.Reader, b *lineBlock, most int64) (whole int, err error) {
	for {
		from := len(b.lines)
		if cap(b.lines)-from < lineBlockSize/2 {
			b.lines = append(make([]byte, 0, max(2*cap(b.lines), lineBlockSize)), b.lines...)
		}
		n, err := body.Read(b.lines[from:min(int64(cap(b.lines)), most+1)])
		b.lines = b.lines[:from+n]
		if at := bytes.LastIndexByte(b.lines[from:], '\n'); at >= 0 {
			return from + at + 1, err
		}
		if err != nil && int64(len(b.lines)) <= most {
			return 0, err
		}
		if int64(len(b.lines)) > most {
			return 0, &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "a line is too long; the lines before it were answered"}
		}
	}
}

// decideBlocks decides about blocks in their order. After an error it stops the reader.
func decideBlocks(ordered, decided chan *lineBlock, stop func()) (err error) {
	for b := range ordered {
		<-b.ready
		if err != nil {
			continue // its goroutine had to end
		}
		if err = b.err; err == nil {
			err = b.work.decide()
		}
		if err != nil {
			stop()
			continue
		}
		decided <- b // it has room for all blocks
	}
	return err
}

// writeBlocks answers blocks: all that are decided by now wait for the disk once.
func writeBlocks(w http.ResponseWriter, control *http.ResponseController, limits *Limits, decided, free chan *lineBlock, settle func() error) (err error) {
	for b := range decided {
		blocks := append(make([]*lineBlock, 0, mostBlocks), b)
		for more := true; more; {
			select {
			case b, ok := <-decided:
				if more = ok; ok {
					blocks = append(blocks, b)
				}
			default:
				more = false
			}
		}
		for _, b := range blocks {
			if b.out, err = b.work.answer(b.out[:0]); err != nil {
				return err
			}
		}
		if err := settle(); err != nil {
			return err
		}
		if err := control.SetWriteDeadline(time.Now().Add(limits.Write)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		for _, b := range blocks {
			if _, err := w.Write(b.out); err != nil {
				return err
			}
			free <- b
		}
		if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}

// eachLine calls visit for the lines that are not blank.
func eachLine(lines []byte, visit func(line []byte)) {
	for len(lines) > 0 {
		line := lines
		if at := bytes.IndexByte(lines, '\n'); at >= 0 {
			line, lines = lines[:at], lines[at+1:]
		} else {
			lines = nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			visit(line)
		}
	}
}
