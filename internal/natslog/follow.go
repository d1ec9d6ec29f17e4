package natslog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/alike-dev/alike/internal/ordered"
)

// Follow implements ordered.Log by a consumer that the servers push entries to. It lives in the memory of one of them,
// and is made anew by the next call when that has gone.
func (l *Log) Follow(ctx context.Context, from uint64, visit ordered.Visit) error {
	first, last, err := l.Bounds(ctx)
	switch {
	case err != nil:
		return err
	case from < first:
		return ordered.ErrTrimmed
	case from > last+1:
		return ordered.ErrShort
	}
	inbox := l.conn.NewInbox()
	s, err := l.conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = s.Unsubscribe() }()
	if err := s.SetPendingLimits(-1, mostPending); err != nil {
		return err
	}
	var made struct {
		Name string `json:"name"`
	}
	config := map[string]any{
		"deliver_subject": inbox, "deliver_policy": "by_start_sequence", "opt_start_seq": from, "ack_policy": "none", "max_deliver": 1,
		"flow_control": true, "idle_heartbeat": heartbeat, "mem_storage": true, "num_replicas": 1, "inactive_threshold": forgotten,
	}
	if err := l.request(ctx, "CONSUMER.CREATE", map[string]any{"stream_name": l.stream, "config": config}, &made); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestLimit)
		defer cancel()
		_, _ = l.conn.RequestWithContext(ctx, "$JS.API.CONSUMER.DELETE."+l.stream+"."+made.Name, nil) // else it is forgotten
	}()
	return l.receive(ctx, s, from, visit)
}

// mostPending is how many bytes wait in memory at most: the servers send less at once.
const mostPending = 512 << 20

// mostRoom is how large entries are that are unpacked in the same memory: all of several operations.
const mostRoom = 512 << 10

var errSilent = errors.New("log: its servers are silent")

func (l *Log) receive(ctx context.Context, s *nats.Subscription, next uint64, visit ordered.Visit) error {
	room := make([]byte, 0, mostRoom)
	for {
		m, err := s.NextMsg(silence)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, nats.ErrTimeout):
			return errSilent
		case err != nil:
			return fmt.Errorf("log: %w", err)
		}
		if len(m.Header) > 0 && m.Header.Get("Status") == "100" {
			if err := l.control(m); err != nil {
				return err
			}
			continue
		}
		number, at, ok := placeIn(m.Reply)
		if !ok || number != next {
			return fmt.Errorf("log: entry %d came in place of %d", number, next)
		}
		entry, err := unpack(m.Data, room)
		if err != nil {
			return err
		}
		if err := visit(number, at, entry); err != nil {
			return err
		}
		next++
	}
}

// control answers what the servers ask to know how fast they may send.
func (l *Log) control(m *nats.Msg) error {
	if m.Reply != "" {
		return m.Respond(nil)
	}
	if stalled := m.Header.Get("Nats-Consumer-Stalled"); stalled != "" {
		return l.conn.Publish(stalled, nil)
	}
	return nil
}

// placeIn returns the number of an entry and when a server has taken it, which stand in the subject for its acknowledgement:
//
//	$JS.ACK.stream.consumer.delivered.NUMBER.count.TIME.pending
//	$JS.ACK.domain.account.stream.consumer.delivered.NUMBER.count.TIME.pending…
func placeIn(reply string) (number uint64, at int64, ok bool) {
	tokens := strings.Split(reply, ".")
	n := 5
	if len(tokens) > 9 {
		n = 7
	}
	if len(tokens) < 9 || tokens[0] != "$JS" || tokens[1] != "ACK" {
		return 0, 0, false
	}
	number, err := strconv.ParseUint(tokens[n], 10, 64)
	at, bad := strconv.ParseInt(tokens[n+2], 10, 64)
	return number, at, err == nil && bad == nil
}

var _ ordered.Log = (*Log)(nil)

// Wait returns when the servers are connected, or the context ends.
func (l *Log) Wait(ctx context.Context) error {
	for !l.conn.IsConnected() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectWait / 5):
		}
	}
	return nil
}
