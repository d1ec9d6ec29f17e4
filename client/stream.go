package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
)

// Stream checks documents in order over one connection and calls answer with the verdict of each, while it sends on. It
// sends no more while answer does not return. If it returns an error, the documents after the last one for which answer
// was called may or may not have been added: checking them again gets the right answers. An error of answer ends it.
// Documents are sent in pieces of 32 KiB, so that the sequence must not wait for answers.
func (c *Client) Stream(ctx context.Context, collection string, documents iter.Seq[Document], answer func(Verdict) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(out, documents)
		out.CloseWithError(err) // nil is the end
		written <- err
	}()
	err := c.answers(ctx, collection, in, answer)
	in.Close() // so that the writer ends
	if e := <-written; err == nil && e != nil {
		err = e
	}
	return err
}

func write(to io.Writer, documents iter.Seq[Document]) error {
	buffered := bufio.NewWriterSize(to, 1<<15)
	e := json.NewEncoder(buffered)
	for d := range documents {
		if err := e.Encode(d); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// answers calls answer for each line of the answer.
func (c *Client) answers(ctx context.Context, collection string, body io.Reader, answer func(Verdict) error) error {
	r, err := c.send(ctx, http.MethodPost, path(collection, "documents"), "application/x-ndjson", body)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	for d := json.NewDecoder(r.Body); ; {
		var v Verdict
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if v.Problem != nil && endsBody(v.Problem.Status) {
			return v.Problem
		}
		if err := answer(v); err != nil {
			return err
		}
	}
}

// endsBody tells whether a problem is not about one line, but says why the server reads no more lines.
func endsBody(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusRequestEntityTooLarge || status >= http.StatusInternalServerError
}
