package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// A collection is an index with its settings. Any number of goroutines use it.
type collection struct {
	name     string
	settings settings
	index    *index.Index
	changes  changes
	log      *logPlace // of a collection that replicas share
	repeats  repeats
	agents   agents

	checkers  sync.Pool // of *checker
	parsers   sync.Pool // of *parser
	searchers sync.Pool // of *index.Searcher

	users sync.RWMutex // held for reading by requests, for writing by who closes the index
}

func newCollection(name string, s settings, x *index.Index, by changes) *collection {
	c := &collection{name: name, settings: s, index: x, changes: by}
	c.checkers.New = func() any { return &checker{parser: newParser(s.Fields), batch: by.newBatch(), asked: x.NewCheck()} }
	c.parsers.New = func() any { return newParser(s.Fields) }
	c.searchers.New = func() any { return x.NewSearcher() }
	return c
}

// close closes the index when no request uses it any more.
func (c *collection) close() error {
	c.users.Lock()
	defer c.users.Unlock()
	return c.index.Close()
}

// errConflict is the answer to a check of an id that another text has.
var errConflict = &Problem{Status: http.StatusConflict, Field: idField, Detail: "is that of another text in the collection; PUT replaces it"}

// A checker checks one document after the other. It belongs to one goroutine.
type checker struct {
	parser *parser
	batch  *index.Batch // for what is added
	asked  *index.Batch // for what is not
	d      document
}

// check appends the answer to a request for one document; with add a new one is added.
func (c *collection) check(dst, body []byte, add bool) (answer []byte, err error) {
	k := c.checkers.Get().(*checker)
	defer c.checkers.Put(k)
	if err := k.parser.document(body, "", &k.d); err != nil {
		return dst, err
	}
	d := &k.d
	verdicts, err := c.decide(k, add)
	if errors.Is(err, errSucceeded) {
		err = c.changes.succeeded(func(by *collection) error {
			dst, err = by.check(dst, body, add)
			return err
		})
		return dst, err
	}
	if err != nil {
		return dst, err
	}
	var evidence []byte
	if d.evidence {
		if evidence, err = c.evidence(d, &verdicts[0]); err != nil {
			return dst, err
		}
	}
	dst, ok := appendAnswer(dst, d.Columns[digestColumn], &verdicts[0], evidence)
	if !ok {
		return dst, errConflict
	}
	if add {
		c.repeats.add(&verdicts[0])
	}
	return dst, nil
}

// decide decides about the document of a checker.
func (c *collection) decide(k *checker, add bool) ([]index.Verdict, error) {
	if !add {
		if err := c.changes.catchUp(); err != nil {
			return nil, err
		}
		k.asked.Reset()
		k.asked.Add(k.d.Document)
		return c.index.Ask(k.asked)
	}
	k.batch.Reset()
	k.batch.Add(k.d.Document)
	decision, err := c.changes.check(k.batch, [][]byte{k.d.filter})
	if err != nil {
		return nil, err
	}
	return decision.wait()
}

// replace adds a document under an id, in place of the one that has it.
func (c *collection) replace(id string, body []byte) (answer []byte, err error) {
	p := c.parsers.Get().(*parser)
	defer c.parsers.Put(p)
	var d document
	if err := p.document(body, id, &d); err != nil {
		return nil, err
	}
	b := c.index.NewBatch()
	b.Add(d.Document)
	replaced, err := c.changes.put(b, id, d.Columns[digestColumn])
	if errors.Is(err, errSucceeded) {
		err = c.changes.succeeded(func(by *collection) error {
			answer, err = by.replace(id, body)
			return err
		})
		return answer, err
	}
	if err != nil {
		return nil, err
	}
	answer = strconv.AppendBool([]byte(`{"replaced":`), replaced)
	return append(answer, '}', '\n'), nil
}

var errNoDocument = &Problem{Status: http.StatusNotFound, Detail: "the collection has no document with this id"}

// get returns a document as it came: id, text if it is kept, and metadata.
func (c *collection) get(id string) (answer []byte, err error) {
	if err := c.changes.catchUp(); err != nil {
		return nil, err
	}
	d, found, err := c.index.Get([]byte(id))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errNoDocument
	}
	answer = appendQuoted([]byte(`{"id":`), d.ID)
	if d.Text != nil {
		answer = appendQuoted(append(answer, `,"text":`...), d.Text)
	}
	if meta := metadata(d.Columns); len(meta) > len("{}") {
		answer = append(append(answer, ','), meta[1:len(meta)-1]...)
	}
	return append(answer, '}', '\n'), nil
}

// metadata returns the object of metadata among columns.
func metadata(columns [][]byte) []byte {
	if len(columns) <= metadataColumn {
		return []byte("{}")
	}
	return columns[metadataColumn]
}

func (c *collection) remove(id string) error {
	n, err := c.changes.remove(id)
	if errors.Is(err, errSucceeded) {
		return c.changes.succeeded(func(by *collection) error { return by.remove(id) })
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return errNoDocument
	}
	return nil
}

// found is a match as a search answers it.
type found struct {
	ID         string          `json:"id"`
	Similarity float64         `json:"similarity"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Passages   []shared        `json:"passages,omitempty"`
}

// shared is a passage of two texts, with its places in bytes: a is the text of the request.
type shared struct {
	Tokens int   `json:"tokens"`
	A      place `json:"a"`
	B      place `json:"b"`
}

type place struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func sharedOf(spans []passage.Span) (passages []shared) {
	for _, s := range spans {
		passages = append(passages, shared{s.Tokens, place{s.StartA, s.EndA}, place{s.StartB, s.EndB}})
	}
	return passages
}

// searching is the body of a search.
type searching struct {
	text     []byte
	o        index.SearchOptions
	evidence bool
}

// defaultTop is how many documents a search returns if it does not say, mostTop how many at most.
const (
	defaultTop = 10
	mostTop    = 1000
)

func (c *collection) parseSearch(p *parser, body []byte) (s searching, err error) {
	o, err := p.object(body)
	if err != nil {
		return s, err
	}
	m, least := c.index.Options().Recipe.Threshold().Measure(), -1.0
	asked := false
	s.o.Top = defaultTop
	o.Visit(func(key []byte, v *fastjson.Value) {
		if err != nil {
			return
		}
		var bad error
		switch name := string(key); name {
		case textField:
			s.text, bad = v.StringBytes()
		case "threshold":
			asked = true
			if least, bad = v.Float64(); bad == nil && !(least >= 0) {
				err = unprocessable(name, "is out of the range of the measure")
			}
		case "measure":
			asked = true
			var word []byte
			if word, bad = v.StringBytes(); bad == nil {
				m, bad = measure.Parse(string(word))
			}
		case "top":
			if s.o.Top, bad = v.Int(); bad == nil && (s.o.Top < 1 || s.o.Top > mostTop) {
				err = unprocessable(name, "takes 1 to %d", mostTop)
			}
		case "passages":
			s.o.Passages, bad = v.Bool()
		case evidenceField:
			s.evidence, bad = v.Bool()
		case filterField:
			s.o.Accepts, err = p.filter(v)
		default:
			err = unprocessable(name, "is no field of a search")
		}
		if bad != nil {
			err = unprocessable(string(key), "has a value that it does not take")
		}
	})
	switch {
	case err != nil:
		return s, err
	case s.text == nil:
		return s, unprocessable(textField, "is missing")
	case s.o.Passages && !c.hasPassages():
		return s, unprocessable("passages", "are those of texts that are kept and cut into shingles; this collection has none")
	case asked:
		s.o.Threshold, err = c.threshold(m, least)
	}
	return s, err
}

// threshold returns the threshold that a search asks for; least is negative if it names only a measure.
func (c *collection) threshold(m measure.Measure, least float64) (t measure.Threshold, err error) {
	r := c.index.Options().Recipe
	if !r.BySets() {
		return t, unprocessable("threshold", "is for collections that compare sets; this one has a distance of its own")
	}
	if least < 0 {
		if m == measure.Overlap {
			return t, unprocessable("threshold", "is needed: by overlap a number of shingles")
		}
		least = r.Threshold().Float()
	}
	if t, err = measure.NewThreshold(m, least); err != nil {
		return t, unprocessable("threshold", "is out of the range of the measure")
	}
	return t, nil
}

// search appends the answer to a search.
func (c *collection) search(dst, body []byte) (answer []byte, err error) {
	p := c.parsers.Get().(*parser)
	defer c.parsers.Put(p)
	s, err := c.parseSearch(p, body)
	if err != nil {
		return dst, err
	}
	s.o.Passages = s.o.Passages || s.evidence && c.hasPassages()
	matches, err := c.find(&s)
	if err != nil {
		return dst, err
	}
	var why json.RawMessage
	if s.evidence {
		if why, err = c.evidenceOf(&s, len(matches)); err != nil {
			return dst, err
		}
	}
	list := make([]found, 0, len(matches))
	for _, m := range matches {
		list = append(list, found{string(m.ID), m.Similarity, metadata(m.Columns), sharedOf(m.Passages)})
	}
	out, err := marshal(struct {
		Matches  []found         `json:"matches"`
		Evidence json.RawMessage `json:"evidence,omitempty"`
	}{list, why})
	return append(dst, out...), err
}

// find searches.
func (c *collection) find(s *searching) ([]index.Match, error) {
	searcher := c.searchers.Get().(*index.Searcher)
	defer c.searchers.Put(searcher)
	matches, err := searcher.Search(s.text, s.o)
	if errors.Is(err, index.ErrRecall) {
		return nil, unprocessable("threshold", "is lower than the collection's keys find all of: take a higher one, or a collection of a lower threshold or with containment")
	}
	return matches, err
}

// hasPassages tells whether shared passages can be shown.
func (c *collection) hasPassages() bool {
	o := c.index.Options()
	features, ok := o.Recipe.Features()
	return ok && features.Hash == "" && o.Keep == index.KeepText
}

// passages returns what two texts share.
func (c *collection) passages(a, b []byte) ([]passage.Span, error) {
	features, _ := c.index.Options().Recipe.Features()
	tokenizer, err := text.New(features.Text)
	if err != nil {
		return nil, err
	}
	least := features.N
	if least == 0 {
		least = shingle.DefaultN
	}
	return passage.InTexts(tokenizer, a, b, least), nil
}

// marshal returns a value as a line of JSON, with < and > as they are.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return b.Bytes(), err
}

// ruleOf returns what decides about a pair.
func ruleOf(o index.Options) string {
	if distance, ok := o.Recipe.Distance(); ok {
		return "hamming<=" + strconv.Itoa(distance)
	}
	return o.Recipe.Threshold().String()
}

// statistics are what a collection holds and has done since the server began.
type statistics struct {
	Collection string    `json:"collection"`
	Recipe     string    `json:"recipe"`
	Durability string    `json:"durability"`
	Documents  int64     `json:"documents"`
	Newest     time.Time `json:"newest,omitzero"`
	Checked    int64     `json:"checked"`
	Added      int64     `json:"added"`
	Duplicates int64     `json:"duplicates"`
	Late       int64     `json:"late"`
	Refreshed  int64     `json:"refreshed"`
	Expired    int64     `json:"expired"`
	Deleted    int64     `json:"deleted"`
	FullKeys   int64     `json:"full_buckets"`
	Memory     int64     `json:"memory_bytes"`
	Store      int64     `json:"store_bytes"`
	ReadOnly   bool      `json:"read_only"`
}

func (c *collection) stats(durability Durability) statistics {
	s := c.index.Stats()
	return statistics{
		Collection: c.name, Recipe: c.index.Options().Recipe.String(), Durability: string(durability), Documents: s.Documents, Newest: s.Newest,
		Checked: s.Checked, Added: s.Added, Duplicates: s.Duplicates, Late: s.Late, Refreshed: s.Refreshed, Expired: s.Expired, Deleted: s.Deleted,
		FullKeys: s.Full, Memory: c.index.Memory(), Store: s.StoreBytes, ReadOnly: s.Failed,
	}
}
