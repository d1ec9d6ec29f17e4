package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/valyala/fastjson"
)

const ofTable = " /v1/tables/{table}"

// tableList are the routes of tables, whose names stand among the collections of a token.
var tableList = []route{
	{"GET /v1/tables", ReadAny, nil, answeredBy(tableCall.list)},
	{"PUT" + ofTable, Admin, writing, answeredBy(tableCall.put)},
	{"GET" + ofTable, Read, reading, answeredBy(tableCall.get)},
	{"DELETE" + ofTable, Admin, writing, answeredBy(tableCall.delete)},
	{"POST" + ofTable + "/match", Read, reading, answeredBy(tableCall.match)},
}

// tableCall is for tables and the records that are matched with them.
type tableCall struct{ *call }

func (c tableCall) list() error {
	names := make([]string, 0)
	for _, name := range c.tables.names() {
		if c.config.Tokens.allow(c.r, Read, name) == nil {
			names = append(names, name)
		}
	}
	return c.sendJSON(http.StatusOK, map[string][]string{"tables": names})
}

// tableAnswer describes a table.
type tableAnswer struct {
	Records int      `json:"records"`
	Columns []string `json:"columns"` // of a record to match
}

func (c tableCall) describe(of *table) error {
	return c.sendJSON(http.StatusOK, tableAnswer{of.Matcher.Records(), of.Columns()})
}

func (c tableCall) get() error {
	of, err := c.tables.get(c.r.PathValue("table"))
	if err != nil {
		return err
	}
	return c.describe(of)
}

func (c tableCall) delete() error {
	if err := c.tables.remove(c.r.PathValue("table")); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// put makes a table of a body of JSON, with the records in it, or of lines: the settings, then the records.
func (c tableCall) put() error {
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	var of *table
	switch kind {
	case jsonType:
		err = c.body(func(body []byte) error {
			var whole struct {
				tableSettings
				Records []json.RawMessage `json:"records"`
			}
			if err := decodeStrictly(body, &whole); err != nil {
				return err
			}
			of, err = c.tables.put(c.r.Context(), c.r.PathValue("table"), &whole.tableSettings, func(to io.Writer) error {
				for _, record := range whole.Records {
					if err := writeLine(to, record); err != nil {
						return err
					}
				}
				return nil
			})
			return err
		})
	case ndjson:
		of, err = c.putLines()
	default:
		return &Problem{Status: http.StatusUnsupportedMediaType, Detail: "this path takes " + jsonType + " and " + ndjson}
	}
	if err != nil {
		return err
	}
	c.w.Header().Set(durabilityHeader, string(c.tables.durability()))
	return c.describe(of)
}

// putLines makes a table of lines. They go to a file as they come.
func (c tableCall) putLines() (*table, error) {
	limits := &c.config.Limits
	if c.r.ContentLength > limits.Table {
		return nil, &http.MaxBytesError{Limit: limits.Table}
	}
	body := newPacedBody(http.NewResponseController(c.w).SetReadDeadline, http.MaxBytesReader(c.w, c.r.Body, limits.Table), limits)
	defer context.AfterFunc(c.drain, body.drain)()
	from := &lineReader{from: body, most: limits.Line}
	first, err := from.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var s tableSettings
	if err := decodeStrictly(first, &s); err != nil {
		return nil, err
	}
	return c.tables.put(c.r.Context(), c.r.PathValue("table"), &s, func(to io.Writer) error {
		for {
			line, err := from.next()
			if len(line) > 0 {
				if err := writeLine(to, line); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

// decodeStrictly decodes an object of JSON whose fields are all known.
func decodeStrictly(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return badJSON(err)
	}
	return nil
}

// writeLine writes an object of JSON as a line: line ends between its tokens are spaces.
func writeLine(to io.Writer, object []byte) error {
	line := append(bytes.ReplaceAll(bytes.ReplaceAll(object, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" ")), '\n')
	_, err := to.Write(line)
	return err
}

// A lineReader reads lines of a bounded length.
type lineReader struct {
	from io.Reader
	most int64
	held []byte // read and not returned yet
	end  error
}

// next returns a line without its end, which is valid until the next call. The last one may come with io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		at := bytes.IndexByte(l.held, '\n')
		if int64(at) > l.most || at < 0 && int64(len(l.held)) > l.most {
			return nil, &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "a line is too long"}
		}
		if at >= 0 {
			line := l.held[:at]
			l.held = l.held[at+1:]
			return bytes.TrimSpace(line), nil
		}
		if l.end != nil {
			line := l.held
			l.held = nil
			return bytes.TrimSpace(line), l.end
		}
		piece := make([]byte, max(lineBlockSize, len(l.held)))
		var n int
		n, l.end = l.from.Read(piece)
		l.held = append(l.held[:len(l.held):len(l.held)], piece[:n]...)
	}
}

// match answers a record, or lines of them.
func (c tableCall) match() error {
	of, err := c.tables.get(c.r.PathValue("table"))
	if err != nil {
		return err
	}
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	if kind == ndjson {
		newWork := func() lineWork { return &matchWork{ctx: c.r.Context(), of: of} }
		return streamLines(c.w, c.r, c.lines(), newWork, func() error { return nil })
	}
	var p fastjson.Parser
	return c.answerBody(func(body []byte) ([]byte, error) { return of.answer(c.r.Context(), nil, &p, body) }, nil)
}

// answer appends the answer to a record, an object of JSON, and a line end.
func (t *table) answer(ctx context.Context, dst []byte, p *fastjson.Parser, body []byte) ([]byte, error) {
	v, err := p.ParseBytes(body)
	if err != nil {
		return dst, badJSON(err)
	}
	o, err := v.Object()
	if err != nil {
		return dst, badJSON(err)
	}
	columns := t.Columns()
	values := make([][]byte, len(columns))
	for i, column := range columns {
		values[i] = textOf(o.Get(column))
	}
	idField := t.idField
	if idField == "" {
		idField = "id"
	}
	a, err := t.Match(ctx, string(textOf(o.Get(idField))), values)
	if err != nil {
		return dst, err
	}
	out, err := marshal(a)
	return append(dst, out...), err
}

// textOf returns a value as the text that a table of JSON Lines has of it; nil for null, and where there is none.
func textOf(v *fastjson.Value) []byte {
	switch {
	case v == nil || v.Type() == fastjson.TypeNull:
		return nil
	case v.Type() == fastjson.TypeString:
		return v.GetStringBytes()
	}
	return v.MarshalTo(nil)
}

// matchWork answers the records of a block of lines.
type matchWork struct {
	ctx    context.Context
	of     *table
	parser fastjson.Parser
	out    []byte
	err    error
}

// prepare implements lineWork.
func (w *matchWork) prepare(lines []byte) {
	w.out, w.err = w.out[:0], nil
	eachLine(lines, func(line []byte) {
		if w.err != nil {
			return
		}
		out, err := w.of.answer(w.ctx, w.out, &w.parser, line)
		if err == nil {
			w.out = out
			return
		}
		p, unexpected := asProblem(err)
		if unexpected {
			w.err = err
			return
		}
		w.out = append(p.line(w.out), '\n')
	})
}

// decide implements lineWork.
func (w *matchWork) decide() error { return w.err }

// answer implements lineWork.
func (w *matchWork) answer(dst []byte) ([]byte, error) { return append(dst, w.out...), nil }
