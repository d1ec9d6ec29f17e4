package serve

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/ordered"
)

// logged changes a collection by the log: it proposes operations, and what they do is the machine's.
type logged struct {
	name  string
	epoch uint64 // entry that has made the collection as it is
	x     *index.Index
	m     *machine
}

// changesOf implements replicas.
func (m *machine) changesOf(name string, x *index.Index, at *logPlace) changes {
	return &logged{name, at.epoch, x, m}
}

func (l *logged) newBatch() *index.Batch { return l.x.NewBatch() }

// confirmLimit is how long a request waits for the log.
const confirmLimit = 10 * time.Second

func (l *logged) check(b *index.Batch, filters [][]byte) (decision, error) {
	d, most := decision{wanted: l.verdicts}, ordered.MostOp(l.m.log)
	op := l.op(opCheck, b.Size())
	head := len(op)
	for i := range b.Len() {
		at := len(op)
		op = appendDocument(op, b, i, filters[i])
		if head+len(op)-at > most {
			d.large, op = append(d.large, i), op[:at]
		} else if len(op) > most {
			begun := op[:at]
			op = append(slices.Clone(op[:head]), op[at:]...)
			if err := l.begin(&d, begun); err != nil {
				return d, err
			}
		}
	}
	if len(op) == head {
		return d, nil
	}
	return d, l.begin(&d, op)
}

// begin begins to decide about documents that one entry has room for.
func (l *logged) begin(d *decision, op []byte) error {
	later, err := l.m.replica.Begin(op)
	d.later = append(d.later, later)
	return asLogProblem(err)
}

// verdicts waits for the verdicts of check.
func (l *logged) verdicts(of ordered.Pending) ([]index.Verdict, error) {
	out, err := l.m.wait(of)
	if err != nil {
		return nil, err
	}
	return out.verdicts, nil
}

func (l *logged) put(b *index.Batch, id string, digest []byte) (replaced bool, err error) {
	op := appendSized(appendSized(l.op(opPut, b.Size()), id), digest)
	out, err := l.m.propose(appendDocument(op, b, 0, nil))
	return out.replaced, err
}

func (l *logged) remove(id string) (n int, err error) {
	out, err := l.m.propose(append(l.op(opDelete, len(id)), id...))
	return out.removed, err
}

func (l *logged) settle() error { return nil }

func (l *logged) catchUp() error {
	if err := l.m.catchUp(); err != nil {
		return err
	}
	switch c := l.m.store.get(l.name); {
	case c == nil:
		return errNoCollection
	case c.index != l.x:
		return errSucceeded
	}
	return nil
}

func (l *logged) succeeded(use func(by *collection) error) error {
	by, done, err := l.m.store.use(l.name)
	if err != nil {
		return err
	}
	defer done()
	if by.changes.(*logged).epoch == l.epoch {
		return errLogClosed // it is being loaded
	}
	return use(by)
}

// op begins an operation on the documents of the collection: kind, epoch uvarint, name: size uvarint, bytes. It has room for
// documents of some bytes.
func (l *logged) op(kind byte, bytes int) []byte {
	op := binary.AppendUvarint(append(make([]byte, 0, bytes+bytes/8+256), kind), l.epoch)
	return appendSized(op, l.name)
}

// propose proposes an operation and waits for its outcome.
func (m *machine) propose(op []byte) (outcome, error) {
	of, err := m.replica.Begin(op)
	if err != nil {
		return outcome{}, asLogProblem(err)
	}
	return m.wait(of)
}

func (m *machine) wait(of ordered.Pending) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
	defer cancel()
	out, err := m.replica.Wait(ctx, of)
	if err != nil {
		return outcome{}, asLogProblem(err)
	}
	return out.(outcome), out.(outcome).err
}

// catchUp returns when all that was answered before the call is applied; m may be nil.
func (m *machine) catchUp() error {
	if m == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
	defer cancel()
	return asLogProblem(m.replica.Barrier(ctx))
}

var (
	errUnconfirmed = &Problem{Status: http.StatusServiceUnavailable, Detail: "the log has not confirmed the change, which may be made yet: send it again", retryAfter: 1}
	errTooLarge    = &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "the document is larger than an entry of the log may be: its servers say how large (max_payload)"}
	errLogClosed   = &Problem{Status: http.StatusServiceUnavailable, Detail: "this replica does not have the collection's state yet: ask another one", retryAfter: 1}
)

// asLogProblem is the problem that an error of the log is to a client.
func asLogProblem(err error) error {
	var p *Problem
	switch {
	case err == nil || errors.As(err, &p):
		return err
	case errors.Is(err, ordered.ErrUnconfirmed):
		return errUnconfirmed
	case errors.Is(err, ordered.ErrTooLarge):
		return errTooLarge
	case errors.Is(err, context.Canceled):
		return errDraining
	case errors.Is(err, ordered.ErrVersion):
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "this replica needs another version of the program: it does not know the rule or the entries of the log", retryAfter: 10}
	case errors.Is(err, ordered.ErrLoading):
		return errLogClosed
	}
	return fmt.Errorf("log: %w", err)
}
