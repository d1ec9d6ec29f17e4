package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/natslog"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// anEntry is how many documents an entry has.
const anEntry = 64

// entryLoad sends entries to a log and reads them as they come back, as a replica does.
type entryLoad struct {
	keep    string // what the collection keeps of a document: see index.Keep
	servers string // numbers of the servers' processes, separated by commas
	flights int    // entries on their way at once
	log     *natslog.Log
	entries [][]byte
}

// prepare makes the entries.
func (m *entryLoad) prepare(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	o := recipe.Options{}
	if m.keep == string(index.KeepNothing) {
		o.Verify = recipe.Sketch
	}
	if o.Threshold, err = measure.NewThreshold(measure.Jaccard, 0.8); err != nil {
		return err
	}
	r, err := recipe.New(o)
	if err != nil {
		return err
	}
	x, err := index.New(index.Options{Recipe: r, Keep: index.Keep(m.keep), ByID: true})
	if err != nil {
		return err
	}
	batch, entry, bytes := x.NewCheck(), []byte(nil), 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for n := 0; lines.Scan(); n++ {
		var d struct{ ID, Text string }
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return err
		}
		batch.Reset()
		batch.Add(index.Document{ID: []byte(d.ID), Text: []byte(d.Text)})
		if n%anEntry == 0 {
			entry = []byte{1} // no entry begins with what marks a packed one
		}
		entry = batch.AppendEntry(entry, 0)
		if n%anEntry == anEntry-1 {
			m.entries = append(m.entries, entry)
			bytes += len(entry)
		}
	}
	if len(m.entries) == 0 {
		return errors.Join(lines.Err(), fmt.Errorf("%s has fewer than %d documents", name, anEntry))
	}
	fmt.Printf("%d entries, %d bytes a document\n", len(m.entries), bytes/len(m.entries)/anEntry)
	return lines.Err()
}

func (m *entryLoad) run(address, file string) (err error) {
	if err := m.prepare(file); err != nil {
		return err
	}
	if m.log, err = natslog.Connect(address, "bench"); err != nil {
		return err
	}
	defer m.log.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for m.log.Open(ctx, 1) != nil {
		time.Sleep(100 * time.Millisecond)
	}
	if err := m.log.Append(ctx, []byte{1}); err != nil { // the stream has a leader
		return err
	}
	_, last, err := m.log.Bounds(ctx)
	if err != nil {
		return err
	}
	return m.measure(func() error { return m.exchange(ctx, last+1) })
}

var errEnd = errors.New("the last entry")

// exchange sends the entries and reads them when they come back, which is how a replica knows that they are confirmed.
func (m *entryLoad) exchange(ctx context.Context, from uint64) error {
	back := make(chan struct{}, m.flights) // of each entry on its way
	followed := make(chan error, 1)
	go func() {
		followed <- m.log.Follow(ctx, from, func(number uint64, _ int64, _ []byte) error {
			<-back
			if number == from+uint64(len(m.entries))-1 {
				return errEnd
			}
			return nil
		})
	}()
	for _, entry := range m.entries {
		select {
		case back <- struct{}{}:
		case err := <-followed:
			return err
		}
		if err := m.log.Send(entry); err != nil {
			return err
		}
	}
	if err := <-followed; !errors.Is(err, errEnd) {
		return err
	}
	return nil
}

// measure prints what a document takes.
func (m *entryLoad) measure(do func() error) error {
	own, servers, err := m.times()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := do(); err != nil {
		return err
	}
	wall := time.Since(begun)
	ownAfter, serversAfter, err := m.times()
	documents := float64(len(m.entries) * anEntry)
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / documents }
	fmt.Printf("%.1f µs a document here, %.1f of the servers; %.0f documents a second\n",
		each(ownAfter-own), each(serversAfter-servers), documents/wall.Seconds())
	return err
}

// times returns the processor time of this process and of the servers.
func (m *entryLoad) times() (own, servers time.Duration, err error) {
	own, err = processor(os.Getpid())
	for pid := range strings.SplitSeq(m.servers, ",") {
		n, bad := strconv.Atoi(pid)
		one, failed := processor(n)
		servers, err = servers+one, errors.Join(err, bad, failed)
	}
	return own, servers, err
}
