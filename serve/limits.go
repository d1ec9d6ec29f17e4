package serve

import (
	"cmp"
	"time"
)

// Limits bound what requests may take. A zero field is its default.
type Limits struct {
	Body      int64         // bytes of a body that is not NDJSON; 16 MiB
	Line      int64         // bytes of a line of NDJSON; 16 MiB
	Table     int64         // bytes of the lines of a table; 4 GiB
	LeastRate int64         // bytes a second at which a body must come; 1024
	Grace     time.Duration // by which a body may be behind this rate; 20 s
	Write     time.Duration // in which a client must take an answer, or a piece of a long one; 30 s
	Reads     int           // most requests at once that change nothing; 512
	Writes    int           // most requests at once that do; 512
	Pages     int           // most requests at once for the page; 32
}

func (l *Limits) setDefaults() {
	l.Body, l.Line, l.Table = cmp.Or(l.Body, 16<<20), cmp.Or(l.Line, 16<<20), cmp.Or(l.Table, 4<<30)
	l.LeastRate, l.Grace, l.Write = cmp.Or(l.LeastRate, 1024), cmp.Or(l.Grace, 20*time.Second), cmp.Or(l.Write, 30*time.Second)
	l.Reads, l.Writes = cmp.Or(l.Reads, 512), cmp.Or(l.Writes, 512)
	l.Pages = cmp.Or(l.Pages, 32)
}

// How long connections wait for requests.
const (
	firstWait = 10 * time.Second // for the first request, as of net/http
	idleWait  = 2 * time.Minute  // for a later one
)
