package serve

import (
	"context"
	"net/http"
	"sync/atomic"
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
