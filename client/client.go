// Package client asks a server of alike serve. It needs only the standard library, and nothing else of this module.
//
//	c := client.New("http://127.0.0.1:8080", "token")
//	v, err := c.Check(ctx, "news", client.Document{ID: "a", Text: text})
//
// All requests may be repeated: a check, too, gets the same answer again. So a request that was not answered, or was
// answered 429 or 503, is sent again, up to Client.Tries times, after the time that the server has named. Stream is not
// repeated: its caller knows which lines were answered.
//
// A Client is safe for concurrent use.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Document is a text with its id. Metadata are its other fields, among them time and those that the collection declares.
type Document struct {
	ID, Text string
	Metadata map[string]any
	Filter   map[string]any // in a check: which documents it is compared with
	Evidence bool           // in a check: say why
}

// MarshalJSON returns the document as the server takes it.
func (d Document) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for name, value := range d.Metadata {
		all[name] = value
	}
	all["id"], all["text"] = d.ID, d.Text
	if d.Filter != nil {
		all["filter"] = d.Filter
	}
	if d.Evidence {
		all["evidence"] = true
	}
	return json.Marshal(all)
}

// Verdict is the answer to a check. In an answer to lines Problem is set in place of the others for a line that could
// not be decided.
type Verdict struct {
	New         bool      `json:"new"`
	DuplicateOf string    `json:"duplicate_of"`
	Similarity  float64   `json:"similarity"` // from 0 to 1
	Late        bool      `json:"late"`       // older than the window: not kept
	Evidence    *Evidence `json:"evidence"`
	Problem     *Problem  `json:"problem"`
}

// Evidence says why a check has its answer.
type Evidence struct {
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
	Compared string `json:"compared"` // "all": with all documents, "keys": with those that share a key
	Nearest  *Match `json:"nearest"`  // the first document that it is like or, of a new one, the most similar one; nil: none
}

// Search asks for documents like a text. The zero value of a field leaves it to the collection.
type Search struct {
	Text      string         `json:"text"`
	Threshold float64        `json:"threshold,omitempty"`
	Measure   string         `json:"measure,omitempty"`
	Top       int            `json:"top,omitempty"`
	Passages  bool           `json:"passages,omitempty"`
	Filter    map[string]any `json:"filter,omitempty"`
}

// Match is a document like a text.
type Match struct {
	ID         string         `json:"id"`
	Similarity float64        `json:"similarity"`
	Metadata   map[string]any `json:"metadata"`
	Passages   []Passage      `json:"passages"`
}

// Passage is what two texts share; A is the text of the request. Places count bytes.
type Passage struct {
	Tokens int   `json:"tokens"`
	A      Place `json:"a"`
	B      Place `json:"b"`
}

// Place is from Start up to but not including End.
type Place struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Problem is an answer that is an error (RFC 9457).
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field"` // what is to be changed; "": nothing of the request

	retryAfter time.Duration
}

// Error implements error.
func (p *Problem) Error() string {
	return fmt.Sprintf("alike: %d %s: %s", p.Status, p.Title, strings.TrimSpace(p.Field+" "+p.Detail))
}

// Client asks one server.
type Client struct {
	HTTP  *http.Client  // http.DefaultClient
	Tries int           // 4
	Pause time.Duration // before the second try, if the server names none; it doubles: 200 ms

	base, token string
}

// New returns a client of a server; token may be "".
func New(base, token string) *Client {
	return &Client{HTTP: http.DefaultClient, Tries: 4, Pause: 200 * time.Millisecond, base: strings.TrimSuffix(base, "/"), token: token}
}

// Create makes a collection. One that is there with equal settings stays as it is.
func (c *Client) Create(ctx context.Context, collection string, settings map[string]any) error {
	if settings == nil {
		settings = map[string]any{}
	}
	return c.do(ctx, http.MethodPut, path(collection), settings, nil)
}

// Drop removes a collection with its documents.
func (c *Client) Drop(ctx context.Context, collection string) error {
	return c.do(ctx, http.MethodDelete, path(collection), nil, nil)
}

// Collections returns the names of the collections that the token may read.
func (c *Client) Collections(ctx context.Context) ([]string, error) {
	var answer struct{ Collections []string }
	err := c.do(ctx, http.MethodGet, "/v1/collections", nil, &answer)
	return answer.Collections, err
}

// Settings returns the settings of a collection.
func (c *Client) Settings(ctx context.Context, collection string) (settings map[string]any, err error) {
	err = c.do(ctx, http.MethodGet, path(collection), nil, &settings)
	return settings, err
}

// Stats returns what a collection holds, and has done since the server began, by the names of the API.
func (c *Client) Stats(ctx context.Context, collection string) (stats map[string]any, err error) {
	err = c.do(ctx, http.MethodGet, path(collection, "stats"), nil, &stats)
	return stats, err
}

// Fingerprint is the signature of a text by a scheme.
type Fingerprint struct {
	Scheme    string `json:"scheme"`
	Signature []byte `json:"signature"`
}

// Sketch returns the fingerprint of a text; settings may be nil.
func (c *Client) Sketch(ctx context.Context, text string, settings map[string]any) (f Fingerprint, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/sketch", with(settings, "text", text), &f)
	return f, err
}

// Compare returns how similar two texts are, and what they share, by the names of the API; settings may be nil.
func (c *Client) Compare(ctx context.Context, a, b string, settings map[string]any) (comparison map[string]any, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/compare", with(settings, "a", a, "b", b), &comparison)
	return comparison, err
}

// with returns settings and more names and values.
func with(settings map[string]any, more ...string) map[string]any {
	all := map[string]any{}
	maps.Copy(all, settings)
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// Check tells whether a document is new, and adds it then.
func (c *Client) Check(ctx context.Context, collection string, d Document) (v Verdict, err error) {
	err = c.do(ctx, http.MethodPost, path(collection, "check"), d, &v)
	return v, err
}

// Ask is Check without adding.
func (c *Client) Ask(ctx context.Context, collection string, d Document) (v Verdict, err error) {
	err = c.do(ctx, http.MethodPost, path(collection, "check")+"?add=false", d, &v)
	return v, err
}

// Put adds a document in place of the one with its id.
func (c *Client) Put(ctx context.Context, collection string, d Document) error {
	return c.do(ctx, http.MethodPut, path(collection, "documents", d.ID), d, nil)
}

// Get returns the fields of a document; its text is there if the collection keeps texts.
func (c *Client) Get(ctx context.Context, collection, id string) (fields map[string]any, err error) {
	err = c.do(ctx, http.MethodGet, path(collection, "documents", id), nil, &fields)
	return fields, err
}

// Delete removes a document.
func (c *Client) Delete(ctx context.Context, collection, id string) error {
	return c.do(ctx, http.MethodDelete, path(collection, "documents", id), nil, nil)
}

// Search returns documents like a text, the most similar first.
func (c *Client) Search(ctx context.Context, collection string, s Search) ([]Match, error) {
	var answer struct{ Matches []Match }
	err := c.do(ctx, http.MethodPost, path(collection, "search"), s, &answer)
	return answer.Matches, err
}

// An Answer says which records of a table are one thing with a record.
type Answer struct {
	ID      string
	New     bool      // none of the matches is, as the model decides
	Matches []Matched // the most probable ones, the best first
}

// Matched is a record of a table.
type Matched struct {
	ID                      string
	Probability, Similarity float64
	Evidence                []Reason
}

// A Reason is a term of the log odds of a match, in nats.
type Reason struct {
	Of            string  // prior, column, whole, rivals or labels
	Column        string  // of columns
	Record, Found string  // its values, in the record and in the table
	LogOdds       float64 `json:"log_odds"`
	Rival         string  // the id of the record that takes most from the probability
}

// PutTable makes a table, or replaces it, of records, objects with an id, and a model: the JSON of alike learn, or of the
// settings that alike join --save-config writes.
func (c *Client) PutTable(ctx context.Context, table string, model json.RawMessage, records []map[string]any) error {
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	if err := to.Encode(map[string]any{"model": model}); err != nil {
		return err
	}
	for _, record := range records {
		if err := to.Encode(record); err != nil {
			return err
		}
	}
	r, err := c.send(ctx, http.MethodPut, tablePath(table), "application/x-ndjson", &lines)
	if err != nil {
		return err
	}
	return r.Body.Close()
}

// MatchRecord asks which records of a table are one thing with a record.
func (c *Client) MatchRecord(ctx context.Context, table string, record map[string]any) (a Answer, err error) {
	err = c.do(ctx, http.MethodPost, tablePath(table)+"/match", record, &a)
	return a, err
}

// DeleteTable removes a table.
func (c *Client) DeleteTable(ctx context.Context, table string) error {
	return c.do(ctx, http.MethodDelete, tablePath(table), nil, nil)
}

func tablePath(table string) string { return "/v1/tables/" + segment(table) }

// path returns the path of a collection, or of something in it.
func path(collection string, more ...string) string {
	p := "/v1/collections/" + url.PathEscape(collection)
	for _, m := range more {
		p += "/" + segment(m)
	}
	return p
}

// segment is a piece of a path; . and .. are not those of folders.
func segment(of string) string {
	if of == "." || of == ".." {
		return strings.ReplaceAll(of, ".", "%2E")
	}
	return url.PathEscape(of)
}

// do sends a request until it is answered, and decodes the answer.
func (c *Client) do(ctx context.Context, method, path string, body, answer any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	pause, lost := c.Pause, false // lost: an answer is not known
	for try := 1; ; try++ {
		err := c.once(ctx, method, path, content, answer)
		var p *Problem
		isProblem := errors.As(err, &p)
		again := isProblem && (p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable)
		if isProblem && p.Status == http.StatusNotFound && method == http.MethodDelete && lost {
			return nil // it is gone since that try
		}
		if err == nil || isProblem && !again || try >= c.Tries || ctx.Err() != nil {
			return err
		}
		lost = lost || !isProblem
		wait := pause
		if isProblem && p.retryAfter > 0 {
			wait = p.retryAfter
		}
		pause *= 2
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// once sends a request.
func (c *Client) once(ctx context.Context, method, path string, content []byte, answer any) error {
	r, err := c.send(ctx, method, path, "application/json", bytes.NewReader(content))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if answer == nil {
		_, err = io.Copy(io.Discard, r.Body)
		return err
	}
	return json.NewDecoder(r.Body).Decode(answer)
}

// send sends a request and returns its answer, whose body the caller closes. An answer that is a problem is an error.
func (c *Client) send(ctx context.Context, method, path, kind string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", kind)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.HTTP.Do(r)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	defer answer.Body.Close()
	p := &Problem{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(p); err != nil || p.Status == 0 { // of a proxy, say
		*p = Problem{Title: http.StatusText(answer.StatusCode), Status: answer.StatusCode}
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		p.retryAfter = time.Duration(seconds) * time.Second
	}
	return nil, p
}

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
