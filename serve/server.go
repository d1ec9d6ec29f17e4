package serve

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// A Server answers requests. It is made by New, is an http.Handler, and is ended by Close.
//
// A check is idempotent as far as its answer can be: a document that was added, and whose answer was lost, is found by
// its id, and the same text gets the same answer as long as it is in the window. A duplicate is never stored; its check
// is decided anew, with the same result as long as the document that it is like is there.
type Server struct {
	config    Config
	store     *store
	machine   *machine // of replicas; nil: the process is alone
	tables    *tables
	sketchers sketchers
	metrics   *metrics
	mux       *http.ServeMux
	reads     *budget
	writes    *budget
	pages     *budget
	gate      *gate
	turns     chan struct{} // of blocks of lines
	date      dated
	http      *http.Server
	fronts    fronts

	drain   context.Context // done when no more lines are read
	drained context.CancelFunc
	failing atomic.Bool // readiness, once the server drains
	ended   chan struct{}
	stopRun context.CancelFunc
}

// dated is the time of answers, made anew once a second.
type dated struct{ text atomic.Pointer[dateText] }

type dateText struct {
	second int64
	text   string
}

func (d *dated) now() string {
	now := time.Now()
	t := d.text.Load()
	if t == nil || t.second != now.Unix() {
		t = &dateText{now.Unix(), now.UTC().Format(http.TimeFormat)}
		d.text.Store(t)
	}
	return t.text
}

// A budget bounds how many requests of a kind are answered at once. It turns more away at once, before their bodies are
// read, so that what is under way ends soon.
type budget struct{ slots chan struct{} }

func newBudget(most int) *budget { return &budget{make(chan struct{}, most)} }

var errBusy = &Problem{Status: http.StatusTooManyRequests, Detail: "the server has as many requests as it can answer soon", retryAfter: 1}

// take returns a function that ends the request, or errBusy.
func (b *budget) take() (done func(), err error) {
	select {
	case b.slots <- struct{}{}:
		return func() { <-b.slots }, nil
	default:
		return nil, errBusy
	}
}
