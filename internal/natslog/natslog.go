// Package natslog is an ordered.Log of a stream of NATS JetStream: entries are confirmed by a majority of its servers.
//
// It speaks the API of JetStream by core NATS, since of that the program needs six requests. The stream keeps its files
// on three servers, and each of them should sync what it has confirmed (sync_interval: always): else entries are lost
// when a majority loses its power at once.
//
// A log is named by a URL: nats://[USER:PASSWORD@]HOST[:PORT][,HOST…][/STREAM][?OPTIONS], or tls://. Options are
// creds and ca, names of files with credentials and with authorities; and replicas, on how many servers the stream is
// when it is made: 3.
package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/alike-dev/alike/internal/ordered"
)

// A Log is a connection to a stream. Any number of goroutines use it.
type Log struct {
	conn     *nats.Conn
	stream   string
	replicas int
	refused  atomic.Pointer[error] // why the last server was not connected
}

// isStreamName tells whether a stream may have a name. (A regular expression is made before each start of the program.)
func isStreamName(name string) bool {
	return 0 < len(name) && len(name) <= 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// options are what a URL says.
type options struct {
	servers   []string
	stream    string
	replicas  int
	creds, ca string
}

func parse(address string) (o options, err error) {
	scheme, rest, _ := strings.Cut(address, "://")
	authority, rest, _ := strings.Cut(rest, "/")
	if scheme != "nats" && scheme != "tls" || authority == "" || strings.Contains(authority, "?") {
		return o, errors.New("not the URL of a log: write it as nats://host:4222,host2:4222/stream")
	}
	user := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, authority = authority[:at+1], authority[at+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		server := scheme + "://" + user + host
		u, err := url.Parse(server)
		if err != nil || u.Hostname() == "" {
			return o, errors.New("not the URL of a log: it has a host without a name")
		}
		if port := u.Port(); port != "" {
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return o, fmt.Errorf("not the URL of a log: %s is no port", port)
			}
		}
		o.servers = append(o.servers, server)
	}
	name, query, _ := strings.Cut(rest, "?")
	o.stream, o.replicas = "alike", 3
	if name != "" {
		o.stream = name
	}
	values, err := url.ParseQuery(query)
	if err != nil || !isStreamName(o.stream) {
		return o, errors.New("a stream has up to 64 letters, digits, - and _ as its name")
	}
	for key := range values {
		value := values.Get(key)
		switch key {
		case "creds":
			o.creds = value
		case "ca":
			o.ca = value
		case "replicas":
			if o.replicas, err = strconv.Atoi(value); err != nil || o.replicas < 1 || o.replicas > 5 {
				return o, errors.New("replicas of a stream are 1 to 5")
			}
		default:
			return o, fmt.Errorf("%q is no option of a log: there are creds, ca and replicas", key)
		}
	}
	return o, nil
}

// Connect begins to connect to the servers of a URL, and goes on with that until Close.
func Connect(address, name string) (*Log, error) {
	o, err := parse(address)
	if err != nil {
		return nil, err
	}
	l := &Log{stream: o.stream, replicas: o.replicas}
	with := []nats.Option{
		nats.Name(name), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1), nats.Timeout(requestLimit),
		nats.IgnoreAuthErrorAbort(), // a password may be put right while the program runs
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.refused.Store(&err) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // else it prints them; see sendError
	}
	if o.creds != "" {
		with = append(with, nats.UserCredentials(o.creds))
	}
	if o.ca != "" {
		with = append(with, nats.RootCAs(o.ca))
	}
	l.conn, err = nats.Connect(strings.Join(o.servers, ","), with...)
	return l, err
}

const (
	reconnectWait = 250 * time.Millisecond
	pingEvery     = 2 * time.Second
	requestLimit  = 2 * time.Second
	heartbeat     = 250 * time.Millisecond
	silence       = time.Second // without a heartbeat: the consumer is gone
	forgotten     = time.Minute // when a consumer nobody listens to is removed
)

// Close ends the connection.
func (l *Log) Close() { l.conn.Close() }

func (l *Log) subject() string  { return l.stream + ".entries" }
func (l *Log) question() string { return l.stream + ".questions" }

// apiError is an error of JetStream.
type apiError struct {
	Code        int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string { return "the log's server: " + e.Description }

// Codes of apiError.
const (
	codeNoStream = 10059
	codeTooLarge = 10054
	codeInUse    = 10058 // the name is that of a stream with another configuration
)

// streamConfig is what must be so of a stream: an entry that is confirmed stays in its place until the replicas trim it.
type streamConfig struct {
	Subjects  []string        `json:"subjects"`
	Storage   string          `json:"storage"`
	Retention string          `json:"retention"`
	Discard   string          `json:"discard"`
	Replicas  int             `json:"num_replicas"`
	Messages  int64           `json:"max_msgs"`
	Bytes     int64           `json:"max_bytes"`
	Age       time.Duration   `json:"max_age"`
	OfSubject int64           `json:"max_msgs_per_subject"`
	Size      int64           `json:"max_msg_size"`
	Mirror    json.RawMessage `json:"mirror"`
	Transform json.RawMessage `json:"subject_transform"`
}

// check is an error that says what is to be changed. A limit is allowed if what comes then is refused.
func (c *streamConfig) check(l *Log) error {
	wrong := ""
	switch {
	case !slices.Equal(c.Subjects, []string{l.subject()}) || c.Mirror != nil || c.Transform != nil:
		wrong = "has other subjects than " + l.subject() + ": name another one"
	case c.Storage != "file":
		wrong = "is in memory, and would be lost: name another one"
	case c.Retention != "limits":
		wrong = "drops entries that were read: name another one"
	case c.Age > 0 || c.OfSubject > 0 || c.Discard != "new" && (c.Messages > 0 || c.Bytes > 0):
		wrong = "drops its oldest entries by itself: set its max_age and max_msgs_per_subject to none, and discard to new"
	case c.Size > 0:
		wrong = "refuses entries that its servers take: set its max_msg_size to none"
	case c.Replicas < l.replicas:
		wrong = fmt.Sprintf("is on %d servers, not on %d: set its replicas, or add ?replicas=%d to the log's URL", c.Replicas, l.replicas, c.Replicas)
	default:
		return nil
	}
	return fmt.Errorf("log: the stream %s %s", l.stream, wrong)
}

// streamInfo is what is used of the answer about a stream.
type streamInfo struct {
	Config streamConfig `json:"config"`
	State  struct {
		Messages uint64 `json:"messages"`
		First    uint64 `json:"first_seq"`
		Last     uint64 `json:"last_seq"`
	} `json:"state"`
	Cluster struct {
		Others []struct {
			Offline bool          `json:"offline"`
			Silent  time.Duration `json:"active"` // for how long
		} `json:"replicas"`
	} `json:"cluster"`
}

// hasMajority tells whether the server that answered hears of enough others to confirm entries. One that led goes on to answer
// as the leader when it has lost them all.
func (i *streamInfo) hasMajority() bool {
	there := 1
	for _, other := range i.Cluster.Others {
		if !other.Offline && other.Silent < otherSilent {
			there++
		}
	}
	return 2*there > 1+len(i.Cluster.Others)
}

// otherSilent is how long a server says nothing that is gone: they tell of themselves each second.
const otherSilent = 5 * time.Second

var errNoMajority = errors.New("log: the server that leads it hears of no majority")

// request asks the API of JetStream.
func (l *Log) request(ctx context.Context, verb string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return l.send(ctx, "$JS.API."+verb+"."+l.stream, sent, answer)
}

func (l *Log) send(ctx context.Context, subject string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	m, err := l.conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return l.sendError(err)
	}
	var failed struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &failed); err != nil {
		return fmt.Errorf("log: an answer that is none of JetStream: %w", err)
	}
	if failed.Error != nil {
		if failed.Error.Code == codeTooLarge {
			return ordered.ErrTooLarge
		}
		return failed.Error
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(m.Data, answer)
}

// Open implements ordered.Log.
func (l *Log) Open(ctx context.Context, first uint64) error {
	err := l.request(ctx, "STREAM.INFO", nil, nil)
	var of *apiError
	if !errors.As(err, &of) || of.Code != codeNoStream {
		return err
	}
	config := map[string]any{
		"name": l.stream, "subjects": []string{l.subject()}, "storage": "file", "num_replicas": l.replicas, "first_seq": first,
		"retention": "limits", "discard": "new", "deny_delete": true, "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_msg_size": -1,
	}
	err = l.request(ctx, "STREAM.CREATE", config, nil)
	if errors.As(err, &of) && of.Code == codeInUse {
		return nil // another replica has made it meanwhile
	}
	return err
}

// Send implements ordered.Log. Nobody asks for an acknowledgement, so that the servers have less to do.
func (l *Log) Send(entry []byte) error {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	return l.sendError(l.conn.Publish(l.subject(), pack(entry, room)))
}

// Append implements ordered.Log.
func (l *Log) Append(ctx context.Context, entry []byte) error {
	return l.send(ctx, l.subject(), pack(entry, new([]byte)), nil)
}

var (
	errNotConnected = errors.New("log: not connected to its servers")
	errNobody       = errors.New("log: nobody answers for the stream: its servers have no JetStream, or no leader now")
)

// sendError is an error of core NATS. What a user may not do, servers do not answer: they say so to the connection.
func (l *Log) sendError(err error) error {
	if err == nil {
		return nil
	}
	last := l.conn.LastError()
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return ordered.ErrTooLarge
	case errors.Is(err, nats.ErrReconnectBufExceeded): // nothing is kept for later
		if why := l.whyNot(); why != nil {
			return fmt.Errorf("%w: %w", errNotConnected, why)
		}
		return errNotConnected
	case errors.Is(err, nats.ErrNoResponders):
		return errNobody
	case errors.Is(err, context.DeadlineExceeded) && last != nil:
		return fmt.Errorf("log: %w; its servers have said: %w", err, last)
	}
	return fmt.Errorf("log: %w", err)
}

// whyNot returns why no server is connected, as far as that is known.
func (l *Log) whyNot() error {
	err := l.conn.LastError() // of a server that was reached
	if refused := l.refused.Load(); err == nil && refused != nil {
		err = *refused
	}
	var of *net.OpError
	if errors.As(err, &of) {
		return of.Err // the same of each server
	}
	return err
}

// Bounds implements ordered.Log.
func (l *Log) Bounds(ctx context.Context) (first, last uint64, err error) {
	var info streamInfo
	if err := l.request(ctx, "STREAM.INFO", nil, &info); err != nil {
		return 0, 0, err
	}
	if err := info.Config.check(l); err != nil {
		return 0, 0, err
	}
	if !info.hasMajority() {
		return 0, 0, errNoMajority
	}
	if info.State.Messages == 0 {
		return info.State.Last + 1, info.State.Last, nil
	}
	return info.State.First, info.State.Last, nil
}

// Trim implements ordered.Log.
func (l *Log) Trim(ctx context.Context, before uint64) error {
	return l.request(ctx, "STREAM.PURGE", map[string]any{"seq": before}, nil)
}

// MostBytes implements ordered.Log.
func (l *Log) MostBytes() int {
	if n := l.conn.MaxPayload(); n > 0 {
		return int(n)
	}
	return 1 << 20 // not connected yet: what servers take unless they are told otherwise
}

// Ask implements ordered.Log.
func (l *Log) Ask(ctx context.Context, question []byte) ([]byte, error) {
	m, err := l.conn.RequestWithContext(ctx, l.question(), question)
	if err != nil {
		return nil, l.sendError(err)
	}
	return m.Data, nil
}

// Answer implements ordered.Log.
func (l *Log) Answer(answer func(question []byte) []byte) (stop func(), err error) {
	s, err := l.conn.Subscribe(l.question(), func(m *nats.Msg) {
		if a := answer(m.Data); a != nil {
			_ = m.Respond(a) // whoever does not get it asks again
		}
	})
	return func() { _ = s.Unsubscribe() }, err
}
