package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/ordered"
	"github.com/alike-dev/alike/vfs"
)

// startMachine makes a store follow a log.
func startMachine(c *Config, st *store) (m *machine, err error) {
	m = &machine{store: st, log: c.Order, rules: c.rules}
	if m.rules == nil {
		m.rules = rules
	}
	st.replicas, st.now = m, m.now
	dir := c.Dir
	if err := noCollections(c.FS, dir); err != nil {
		return nil, err
	}
	if dir == "" {
		if m.temporary, err = filelock.MakeFolder(os.TempDir(), "replica"); err != nil {
			return nil, err
		}
		dir = m.temporary.Path
	}
	m.replica, err = ordered.Start(ordered.Config{
		Log: c.Order, Machine: m, Name: c.Replica, Knows: len(m.rules), Dir: dir, Durable: c.Dir != "", FS: c.FS,
		Bucket: c.Snapshots, Now: c.Now, Report: c.Log, Rules: m.ruleChanges, SnapshotBytes: c.snapshotBytes,
	})
	if err != nil {
		m.forget()
		return nil, err
	}
	return m, nil
}

// noCollections is an error if a folder has collections of a process without a log, which replicas do not see.
func noCollections(fsys vfs.FS, dir string) error {
	if dir == "" {
		return nil
	}
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range names {
		if name, ok := strings.CutSuffix(file, settingsSuffix); ok && isName(name) {
			return fmt.Errorf("%s has the collection %s of a server without a log, which replicas would not see: give them another folder", dir, name)
		}
	}
	return err
}

// close ends the replica; m may be nil.
func (m *machine) close() {
	if m == nil {
		return
	}
	m.replica.Close()
	m.forget()
}

// forget removes the snapshots of a replica that has no folder of its own.
func (m *machine) forget() {
	if m.temporary != nil {
		_ = m.temporary.Remove() // what is left is removed by the next process that makes such a folder
	}
}

// mostLag is by how much a replica that is ready may be behind.
const mostLag = time.Second

// ready is an error if the replica is not to be asked; m may be nil.
func (m *machine) ready() error {
	if m == nil {
		return nil
	}
	switch s := m.replica.Status(); {
	case s.Err != nil:
		return asLogProblem(s.Err)
	case s.Lag >= mostLag:
		return errBehind
	}
	return nil
}

var errBehind = &Problem{Status: http.StatusServiceUnavailable, Detail: "this replica is behind the log", retryAfter: 1}

// makeCollection makes a collection, here or for all replicas.
func (s *Server) makeCollection(name string, settings settings) (made bool, err error) {
	m := s.machine
	if m == nil {
		return s.store.create(name, settings, nil)
	}
	if _, err := s.store.optionsOf(name, settings); err != nil {
		return false, err
	}
	body, err := settings.MarshalJSON()
	if err != nil {
		return false, err
	}
	about := aboutCollection{Name: name, Settings: body}
	op, err := about.op(opCreate)
	if err != nil {
		return false, err
	}
	out, err := m.propose(op)
	return out.made, err
}

// removeCollection removes a collection, here or for all replicas.
func (s *Server) removeCollection(name string) error {
	m := s.machine
	if m == nil {
		return s.store.remove(name)
	}
	about := aboutCollection{Name: name}
	op, err := about.op(opDrop)
	if err != nil {
		return err
	}
	_, err = m.propose(op)
	return err
}

// metrics are the numbers of a replica.
func (m *machine) metrics() []prometheus.Collector {
	gauge := func(name, help string, value func(s *ordered.Status) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "alike_log_" + name, Help: help}, func() float64 {
			s := m.replica.Status()
			return value(&s)
		})
	}
	counter := func(name, help string, value func(s *ordered.Status) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "alike_log_" + name, Help: help}, func() float64 {
			s := m.replica.Status()
			return float64(value(&s))
		})
	}
	return []prometheus.Collector{
		gauge("lag_seconds", "Everything that was confirmed so long ago is applied.", func(s *ordered.Status) float64 { return s.Lag.Seconds() }),
		gauge("following", "Whether the log is followed: 1 or 0.", func(s *ordered.Status) float64 { return float64(flagByte(s.Err == nil)) }),
		gauge("applied_entry", "Number of the last entry of the log that is applied.", func(s *ordered.Status) float64 { return float64(s.Applied) }),
		gauge("snapshot_entry", "Number of the last entry in the newest snapshot.", func(s *ordered.Status) float64 { return float64(s.Snapshot) }),
		counter("resets_total", "How often the replica went back to a snapshot since it had another past, or the log had lost entries.",
			func(s *ordered.Status) int64 { return s.Resets }),
		counter("reloads_total", "How often the replica took a newer snapshot since entries were trimmed that it had not applied.",
			func(s *ordered.Status) int64 { return s.Reloads }),
	}
}
