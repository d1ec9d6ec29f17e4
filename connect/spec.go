package connect

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// Names of the fields of a configuration.
const (
	fieldText      = "text"
	fieldID        = "id"
	fieldDelivery  = "delivery"
	fieldTime      = "time"
	fieldThreshold = "threshold"
	fieldNGram     = "ngram"
	fieldDistance  = "distance"
	fieldWindow    = "window"
	fieldDocs      = "docs"
	fieldAge       = "age"
	fieldLate      = "late"
	fieldRefresh   = "refresh"
	fieldPath      = "path"
	fieldKeys      = "keys"
	fieldTag       = "tag"
)

func spec() *service.ConfigSpec {
	return service.NewConfigSpec().
		Beta().
		Categories("Utility").
		Summary("Drops messages whose text is nearly the same as that of a message that passed before, in a window.").
		Description(`Similar texts are found by MinHash and verified by their exact similarity, so a text that is not similar to another one is never dropped.

Brokers deliver a message again when it was not acknowledged. Such a message is not a duplicate of itself: if it passed before, it passes again. So for each message, either the message itself or a similar one is sent, whatever fails or is killed meanwhile. The field `+"`delivery`"+` identifies the message for this.

With a `+"`path`"+`, messages that pass are on disk before they are sent. If the disk is full or fails, the processor waits, says so in the log, and tries again; no message passes undecided.

A message whose fields cannot be read passes with an error set on it, as usual: catch it, or reject it with the output `+"`reject_errored`"+`.

Counters: `+"`alike_dedupe_messages`"+`, with the label `+"`decision`"+` (new, again, duplicate, failed), and the gauge `+"`alike_dedupe_documents`"+` of the window.`).
		Fields(
			service.NewBloblangField(fieldText).Optional().
				Description("A mapping to the text that is compared, such as `root = this.body`. Default: the content of the message."),
			service.NewBloblangField(fieldID).Optional().
				Description("A mapping to the id of the document, by which its duplicates name it. Default, and for null: the delivery."),
			service.NewBloblangField(fieldDelivery).Optional().
				Description("A mapping to a value that identifies the message: different from that of any other message, and the same each time that the message is delivered. Default: the position of the message in Kafka or NATS JetStream. Do not use the id of the document: a document that its producer has sent twice is a duplicate."),
			service.NewBloblangField(fieldTime).Optional().
				Description("A mapping to the time of the event, for a window with an age: a timestamp, a number since 1970 (13 digits are milliseconds), or text such as RFC 3339, RFC 1123 or 21 Nov 2026 10:00. Default, and for null: the time at which the message arrives."),
			service.NewFloatField(fieldThreshold).Default(0.8).
				Description("Least similarity of duplicates, above 0 and up to 1: the share of shingles that two texts have in common (Jaccard)."),
			service.NewIntField(fieldNGram).Default(shingle.DefaultN).
				Description("Words of a shingle."),
			service.NewIntField(fieldDistance).Optional().
				Description("In place of the threshold: texts are compared by SimHash fingerprints of 64 bits, and duplicates differ in at most so many bits."),
			service.NewObjectField(fieldWindow,
				service.NewIntField(fieldDocs).Default(1_000_000).
					Description("How many of the last messages that passed a message is compared with; 0: all, or all of the age."),
				service.NewDurationField(fieldAge).Default("0s").
					Description("How far apart in time duplicates may be, such as 24h; 0s: any time."),
				service.NewDurationField(fieldLate).Default("0s").
					Description("How much older than the newest message a message may be and still be kept in the window."),
				service.NewBoolField(fieldRefresh).Default(false).
					Description("A duplicate moves the message that it duplicates to the end of the window."),
			).Description("The messages that a message is compared with. The window must hold all messages that may be delivered again."),
			service.NewStringField(fieldPath).Default("").
				Description("Folder for the messages that passed; it outlives the process, and one process at a time has it open. Empty: they are in memory, and a restart forgets them."),
			service.NewStringEnumField(fieldKeys, "memory", "disk").Default("memory").Advanced().
				Description("Where the keys of an index with a path are: disk takes far less memory and more time."),
			service.NewBoolField(fieldTag).Default(false).
				Description("Let duplicates pass too, with metadata: `alike_duplicate_of`, `alike_similarity`."),
		).
		LintRule(`root = if this.distance != null && this.threshold != null { "take threshold or distance, not both" }`).
		Example("Kafka to Kafka", "Articles of a day, one of each story.", kafkaExample).
		Example("NATS to S3", "Messages that pass are written in batches.", natsExample)
}

//go:embed examples/kafka.yaml
var kafkaExample string

//go:embed examples/nats-s3.yaml
var natsExample string

// settings are the settings of a collection: equal for all processors that share it.
type settings struct {
	threshold float64
	ngram     int
	distance  int // -1: the threshold counts
	docs      int
	age, late time.Duration
	refresh   bool
	path      string
	keys      string
}

func parseSettings(c *service.ParsedConfig) (s settings, err error) {
	s.distance = -1
	if c.Contains(fieldDistance) {
		if s.distance, err = c.FieldInt(fieldDistance); err != nil {
			return s, err
		}
	}
	for _, read := range []func() error{
		func() (err error) { s.threshold, err = c.FieldFloat(fieldThreshold); return },
		func() (err error) { s.ngram, err = c.FieldInt(fieldNGram); return },
		func() (err error) { s.docs, err = c.FieldInt(fieldWindow, fieldDocs); return },
		func() (err error) { s.age, err = c.FieldDuration(fieldWindow, fieldAge); return },
		func() (err error) { s.late, err = c.FieldDuration(fieldWindow, fieldLate); return },
		func() (err error) { s.refresh, err = c.FieldBool(fieldWindow, fieldRefresh); return },
		func() (err error) { s.path, err = c.FieldString(fieldPath); return },
		func() (err error) { s.keys, err = c.FieldString(fieldKeys); return },
	} {
		if err := read(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// options returns the options of the index of a collection.
func (s settings) options() (index.Options, error) {
	o := recipe.Options{Features: shingle.Options{N: s.ngram}}
	var err error
	if s.distance >= 0 {
		o.Sketch, o.Distance = recipe.SimHash(simhash.Default()), &s.distance
	} else if o.Threshold, err = measure.NewThreshold(measure.Jaccard, s.threshold); err != nil {
		return index.Options{}, fmt.Errorf("%s: %w", fieldThreshold, err)
	}
	r, err := recipe.New(o)
	if err != nil {
		return index.Options{}, err
	}
	w := index.Window{Docs: s.docs, Age: s.age, Late: s.late, Refresh: s.refresh, Now: time.Now}
	x := index.Options{Recipe: r, Window: w, Columns: []string{stream.DeliveryColumn}}
	if s.keys == "disk" {
		x.Keys = index.KeysOnDisk
	}
	return x, x.Validate()
}
