package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/ordered"
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

var errNoDocument = &Problem{Status: http.StatusNotFound, Detail: "the collection has no document with this id"}

// get returns a document as it came: id, text if it is kept, and metadata.
func (c *collection) get(id string) (answer []byte, err error) {
	err = c.changes.catchUp()
	if errors.Is(err, errSucceeded) {
		err = c.changes.succeeded(func(by *collection) error {
			answer, err = by.get(id)
			return err
		})
		return answer, err
	}
	if err != nil {
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

// metadata returns the object of metadata among columns. Earlier versions have stored some that is no JSON.
func metadata(columns [][]byte) []byte {
	if len(columns) <= metadataColumn {
		return []byte("{}")
	}
	stored := columns[metadataColumn]
	if isJSON(stored) {
		return stored
	}
	v, err := new(fastjson.Parser).ParseBytes(stored)
	if err == nil {
		stored, err = appendValue(nil, v)
	}
	if err != nil {
		return []byte("{}")
	}
	return stored
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

// changes are how a collection is changed: by this process alone, or by a log that replicas share. What a change does
// is said once, by applied.
type changes interface {
	// newBatch returns a batch for check.
	newBatch() *index.Batch
	// check begins to decide about the documents of a batch, which have filters as they are written, nil for none.
	check(b *index.Batch, filters [][]byte) (decision, error)
	put(b *index.Batch, id string, digest []byte) (replaced bool, err error)
	remove(id string) (n int, err error)
	// settle returns when what was changed survives what the durability promises.
	settle() error
	// catchUp returns when reads see all that anybody was answered before the call, or errSucceeded.
	catchUp() error
	// succeeded calls use with the collection that has taken the place of this one, after errSucceeded.
	succeeded(use func(by *collection) error) error
}

// errSucceeded says that another collection has the name meanwhile, or the same one with another rule.
var errSucceeded = errors.New("the collection has a successor")

// decision is what is decided about the documents of a batch, now or when the log has it.
type decision struct {
	verdicts []index.Verdict
	later    []ordered.Pending
	wanted   func(ordered.Pending) ([]index.Verdict, error) // waits for those of a part that is in the log
	large    []int                                          // documents that are too large for it: their verdicts are empty
}

// wait is called once.
func (d *decision) wait() ([]index.Verdict, error) {
	for _, of := range d.later {
		more, err := d.wanted(of)
		if err != nil {
			return nil, err
		}
		d.verdicts = append(d.verdicts, more...)
	}
	for _, at := range d.large {
		d.verdicts = slices.Insert(d.verdicts, at, index.Verdict{})
	}
	return d.verdicts, nil
}

// agents are the handlers of a collection, made when they are first asked.
type agents struct {
	once            sync.Once
	reading, adding http.Handler // adding also offers a tool that adds
}

// A checker checks one document after the other. It belongs to one goroutine.
type checker struct {
	parser *parser
	batch  *index.Batch // for what is added
	asked  *index.Batch // for what is not
	d      document
}
