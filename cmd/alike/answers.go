package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Some commands stay, and answer lines of standard input one after the other, as a command for each would.

// mostOfLine is how long a line may be. Texts and records are in files, so it has names only.
const mostOfLine = 16 << 20

// answered is the answer to a line.
type answered struct {
	Status int      `json:"status"`
	Output string   `json:"output"`
	Errors []string `json:"errors"`
}

// newAnswered returns the answer of a command that has ended with a status and printed so much.
func newAnswered(status int, out, errs *bytes.Buffer) answered {
	told := strings.FieldsFunc(errs.String(), func(r rune) bool { return r == '\n' })
	return answered{status, out.String(), append([]string{}, told...)}
}

// answerLines answers the lines of r, each when it has come, until they end or ctx does. It does not wait for a line then.
func answerLines(ctx context.Context, r io.Reader, w io.Writer, answer func(line []byte) answered) error {
	lines := make(chan []byte)
	var failed error // is set before lines is closed
	go func() {
		defer close(lines)
		failed = eachLine(r, func(line []byte) error {
			select {
			case lines <- bytes.Clone(line):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	answers := json.NewEncoder(w)
	answers.SetEscapeHTML(false)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				return failed
			}
			if err := answers.Encode(answer(line)); err != nil {
				return err
			}
		}
	}
}

func eachLine(r io.Reader, visit func(line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostOfLine)
	for lines.Scan() {
		if err := visit(lines.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes: put texts into files", mostOfLine)
	}
	return lines.Err()
}
