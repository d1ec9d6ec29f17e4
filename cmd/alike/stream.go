package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/recipe"
)

const streamHelp = `Drop near-duplicates from a stream.

Records are read from standard input, and those that are like no kept record
go to standard output: at once, in order, byte for byte. A record is dropped if it is like
a kept one that is still in the window; of several, the first one counts.

Similarity is that of alike pairs: MinHash finds, the sets of shingles decide. With
--scheme fastsimhash, or a --preset of fingerprints, and --distance it is the Hamming
distance of fingerprints. The window is the last 1,000,000 kept records: see alike help
stream window for spans of time, and for a --state that outlives the process.`

// streamNotes are what the help says about topics.
var streamNotes = map[string]string{
	"output": `--duplicates lists dropped records, a JSON object a line: id, duplicate_of, similarity.
With --tag JSON records are not dropped: they are passed on with two more fields,
duplicate_of and similarity; --tag-prefix stands before these names. A record that has a
field of such a name already is skipped, since it would have two. A record that cannot be
read is skipped; the first ones of a kind are named, all are counted by kind every 10
seconds and at the end, and --skipped appends each to a file.`,
	"window": `The window is the last 1,000,000 kept records, or --window-docs, or --window, a span
of time: with --time-field by the time of the event in the record, otherwise by
the time of its arrival. Times are dates with the year first (RFC 3339) or with the
name of the month (21 Nov 2026 10:00, 21-Nov-2026, Nov 21, 2026, Sat, 21 Nov 2026
10:00:00 GMT), or numbers of seconds, milli-, micro- or nanoseconds since 1970, told
apart by their size: 13 digits are milliseconds. Two records are compared if their times are
not further apart than the window. Records may come late by --late; one that is
older than window and --late together is compared with the records in the window, and
passed on, but not remembered. A time ahead of the clock of this machine by more than
--late does not make other records old.

With --state, kept records are in a folder, an index, and outlive the process. A kept
record is written out before it is stored there. If the process is killed at any moment
and started again with the input replayed from any of the last --replay records, both
outputs together miss no kept record, and repeat only those that were written in the
last 100 ms and were not stored: records at the beginning of the input that occur in
sequence, byte for byte, in what was read before are skipped, whatever has left the window
since. Other input continues where the earlier one has ended. After a power failure this
holds for the part of the output that was on disk.`,
}

const streamExamples = `  tail -F articles.jsonl | alike stream > new.jsonl
  alike stream --window 24h --time-field published --late 10m < feed.jsonl > kept.jsonl
  alike stream --state news.state --duplicates dropped.jsonl < feed.jsonl >> kept.jsonl`

// streamFlags are the flags of the command itself.
type streamFlags struct {
	livingFlags
	window     recipeflags.Window
	timeField  string
	duplicates string
	tag        bool
	tagPrefix  string
	state      string
	replay     int
	metrics    string
}

func newStream() *cobra.Command {
	var f streamFlags
	cmd := &cobra.Command{
		Use:         "stream",
		Short:       "Drop near-duplicates from a stream on standard input",
		Long:        streamHelp,
		Example:     streamExamples,
		Annotations: streamNotes,
		Args:        none("the stream comes from standard input"),
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.window.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.timeField, "time-field", "", "`field` or column with the time of the event, for --window (default: the time at which a record arrives)")
	cmd.Flags().StringVar(&f.state, "state", "", "`folder` for kept records, which outlives the process (default: memory)")
	cmd.Flags().IntVar(&f.replay, "replay", stream.DefaultReplay, "with --state: how many of the last records read are recognised when they are replayed, eight bytes each on disk; 0: none")
	cmd.Flags().StringVar(&f.duplicates, "duplicates", "", "append the dropped records to this `file`")
	cmd.Flags().BoolVar(&f.tag, "tag", false, "mark duplicates with duplicate_of and similarity instead of dropping them")
	cmd.Flags().StringVar(&f.tagPrefix, "tag-prefix", "", "with --tag: `text` that stands before both names, where records have fields of these names")
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "serve metrics for Prometheus at this `address`, such as :9090, under /metrics")
	f.add(cmd.Flags(), false)
	f.auto.addSampled(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

func (f *streamFlags) run(cmd *cobra.Command) (err error) {
	// What --recipe auto has chosen when the state was begun holds.
	f.auto.settled = f.auto.wanted() && f.state != "" && index.Exists(f.state)
	o, c, err := f.options(cmd, []string{"-"})
	if err != nil {
		return err
	}
	if o.Window, err = f.window.Window(cmd.Flags()); err != nil {
		return err
	}
	if err := f.check(o, c); err != nil {
		return err
	}
	if f.state != "" {
		o.History = f.replay
	}
	c.Corpus.Visit, err = keepApartFromIndex(f.state, []string{"-", f.duplicates, f.input.skipped}, append(c.Reads, "-"))
	if err := errors.Join(err, checkEnding("--duplicates", f.duplicates, lineEndings), checkEnding("--skipped", f.input.skipped, lineEndings)); err != nil {
		return err
	}
	sources, _, err := corpus.Find(cmd.Context(), c.Inputs, c.Corpus)
	if err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	if f.auto.settled {
		o.Recipe = recipe.Recipe{} // that of the state
	}
	if f.state == "" && o.Keys == index.KeysOnDisk {
		return usagef("--keys disk is for what is kept in a folder: add --state, or leave --keys out")
	}
	x, err := f.index(o, c.Memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	config := stream.Config{
		Index: x, Source: sources[0], Corpus: c.Corpus, TimeField: f.timeField, Out: cmd.OutOrStdout(), Tag: f.tag, TagPrefix: f.tagPrefix, Threads: c.Threads,
	}
	if f.duplicates != "" {
		list, err := os.OpenFile(f.duplicates, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return fmt.Errorf("--duplicates: %w", err)
		}
		defer func() { err = errors.Join(err, list.Close()) }()
		config.Duplicates = list
	}
	say := &lineWriter{out: cmd.ErrOrStderr()}
	list := appendedList(f.input.skipped)
	if list != nil { // now, not hours later with the first record to list
		if err := list.begin(); err != nil {
			return err
		}
	}
	skipped := newSkips(say, f.input.quiet, list)
	skipped.fail = c.OnError == dedup.OnErrorFail
	if f.metrics != "" {
		config.Counts = new(stream.Counts)
		stop, err := serveMetrics(f.metrics, x, config.Counts)
		if err != nil {
			return fmt.Errorf("--metrics: %w", err)
		}
		defer stop()
	}
	return f.follow(cmd, say, config, skipped)
}

// check refuses flags that do not go together.
func (f *streamFlags) check(o index.Options, c alike.Config) error {
	switch format := cmp.Or(c.Corpus.Format, corpus.JSONL); {
	case f.replay < 0:
		return usagef("--replay is %d: take 0 or more, such as %d", f.replay, stream.DefaultReplay)
	case f.timeField != "" && o.Window.Age == 0:
		return usagef("--time-field is for a --window in time: add one, or leave --time-field out")
	case f.tag && format != corpus.JSONL:
		return usagef("--tag adds fields to JSON objects: for --format %s take --duplicates", format)
	case f.tagPrefix != "" && !f.tag:
		return usagef("--tag-prefix is for --tag: add it, or leave --tag-prefix out")
	}
	return nil
}

// appendedList returns a list of what is skipped that grows line by line, nil for "". It belongs to no run: a stream that
// is started again goes on with it.
func appendedList(path string) *skipList {
	if path == "" {
		return nil
	}
	var file *os.File
	return &skipList{
		path: path,
		open: func() (_ io.Writer, err error) {
			file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
			return file, err
		},
		commit: func() error { return file.Close() },
		abort:  func() { _ = file.Close() }, // written lines stay
	}
}

func (f *streamFlags) index(o index.Options, memory int64) (*index.Index, error) {
	if f.state == "" {
		return index.New(o)
	}
	x, err := index.OpenOrCreate(f.state, index.OpenOptions{Options: o, Memory: memory})
	if errors.Is(err, index.ErrOther) {
		err = fmt.Errorf("%w; give the flags with which --state %s was begun, or another folder", err, f.state)
	}
	return x, err
}

// follow runs the stream and reports its progress.
func (f *streamFlags) follow(cmd *cobra.Command, say io.Writer, config stream.Config, skipped *skips) (err error) {
	defer func() { err = skipped.end(err) }()
	config.OnSkip = skipped.take
	seen := config.Corpus.Watch()
	tell := sync.OnceFunc(func() { f.input.tellLacking(say, seen, config.Corpus, f.within) })
	counters := startCounters(say, config.Index, skipped, tell, f.input.quiet)
	summary, err := stream.Run(cmd.Context(), config)
	counters()
	tell()
	if !f.input.quiet {
		fmt.Fprintf(say, "%s; %s in the window\n", describeStream(summary), count(config.Index.Stats().Documents, "record"))
	}
	if err == nil && summary.Skipped > 0 {
		return errSkipped
	}
	return err
}

func describeStream(s stream.Summary) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s read, %s kept", humanize.Comma(s.Read), humanize.Comma(s.Kept))
	for _, more := range []struct {
		n    int64
		what string
	}{{s.Dropped, "dropped"}, {s.Tagged, "tagged"}, {s.Skipped, "skipped"}, {s.Late, "came too late"}, {s.Replayed, "replayed"}} {
		if more.n > 0 {
			fmt.Fprintf(&b, ", %s %s", humanize.Comma(more.n), more.what)
		}
	}
	return b.String()
}

// lineWriter writes lines from several goroutines, each in one piece.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(line)
}

// startCounters reports the progress of the stream now and then, and what was skipped since, until the function that
// it returns is called. It calls first when there were records.
func startCounters(say io.Writer, x *index.Index, skipped *skips, first func(), quiet bool) (stop func()) {
	if quiet {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(logInterval)
		defer tick.Stop()
		for before := int64(0); ; {
			select {
			case <-end:
				return
			case <-tick.C:
				s := x.Stats()
				fmt.Fprintf(say, "stream: %s, %s/s, %s dropped, %s in the window, %s\n", count(s.Checked, "record"),
					humanize.Comma((s.Checked-before)/int64(logInterval/time.Second)), humanize.Comma(s.Duplicates),
					humanize.Comma(s.Documents), humanize.IBytes(uint64(s.TableBytes+s.SlotBytes+s.StoreBytes)))
				skipped.soFar()
				if s.Checked > 0 {
					first()
				}
				before = s.Checked
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// serveMetrics serves the counters of a stream and its index until the function that it returns is called.
func serveMetrics(address string, x *index.Index, counts *stream.Counts) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(&indexMetrics{x}, &streamMetrics{counts})
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // ends with Shutdown
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-ended
	}, nil
}

// indexMetrics are the numbers of index.Stats as Prometheus collects them.
type indexMetrics struct{ x *index.Index }

type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s *index.Stats) float64
}

func counter(name, help string, value func(s *index.Stats) int64) metric {
	return metric{prometheus.NewDesc("alike_"+name+"_total", help, nil, nil), prometheus.CounterValue, func(s *index.Stats) float64 { return float64(value(s)) }}
}

func gauge(name, help string, value func(s *index.Stats) int64) metric {
	return metric{prometheus.NewDesc("alike_"+name, help, nil, nil), prometheus.GaugeValue, func(s *index.Stats) float64 { return float64(value(s)) }}
}

var indexMetricList = []metric{
	counter("checked", "Documents that were checked.", func(s *index.Stats) int64 { return s.Checked }),
	counter("added", "Documents that were added.", func(s *index.Stats) int64 { return s.Added }),
	counter("duplicates", "Documents that were like one that was there.", func(s *index.Stats) int64 { return s.Duplicates }),
	counter("late", "Documents that came too late to be added.", func(s *index.Stats) int64 { return s.Late }),
	counter("refreshed", "Documents that a duplicate has moved to the end of the window.", func(s *index.Stats) int64 { return s.Refreshed }),
	counter("expired", "Documents that have left the window.", func(s *index.Stats) int64 { return s.Expired }),
	counter("full_buckets", "Keys that documents did not get since their bucket was full.", func(s *index.Stats) int64 { return s.Full }),
	gauge("read_only", "Whether a write has failed, so that nothing more is kept: 1 or 0.", func(s *index.Stats) int64 {
		if s.Failed {
			return 1
		}
		return 0
	}),
	gauge("documents", "Documents in the collection.", func(s *index.Stats) int64 { return s.Documents }),
	gauge("table_bytes", "Memory of the keys.", func(s *index.Stats) int64 { return s.TableBytes }),
	gauge("slot_bytes", "Memory of what else is held of each document.", func(s *index.Stats) int64 { return s.SlotBytes }),
	gauge("store_bytes", "Documents, in memory or on disk.", func(s *index.Stats) int64 { return s.StoreBytes }),
}

func (m *indexMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, metric := range indexMetricList {
		to <- metric.desc
	}
}

func (m *indexMetrics) Collect(to chan<- prometheus.Metric) {
	s := m.x.Stats()
	for _, metric := range indexMetricList {
		to <- prometheus.MustNewConstMetric(metric.desc, metric.kind, metric.value(&s))
	}
}

// streamMetrics are the numbers of a stream that its index does not know.
type streamMetrics struct{ counts *stream.Counts }

var (
	skippedRecords  = prometheus.NewDesc("alike_skipped_total", "Records that could not be used, by the kind of problem.", []string{"kind"}, nil)
	replayedRecords = prometheus.NewDesc("alike_replayed_total", "Records at the beginning that an earlier process had read.", nil, nil)
)

func (m *streamMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- skippedRecords
	to <- replayedRecords
}

func (m *streamMetrics) Collect(to chan<- prometheus.Metric) {
	for kind, n := range m.counts.Skipped() {
		to <- prometheus.MustNewConstMetric(skippedRecords, prometheus.CounterValue, float64(n), kind)
	}
	to <- prometheus.MustNewConstMetric(replayedRecords, prometheus.CounterValue, float64(m.counts.Replayed()))
}
