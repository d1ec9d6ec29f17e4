package connect

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/redpanda-data/benthos/v4/public/bloblang"
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
		Description(`Texts are found by MinHash and compared by their exact similarity, so that a text which is not like another one is never dropped.

Brokers deliver a message again when it was not acknowledged. Such a message is no duplicate of itself: if it passed before, it passes again. So for each message either the message itself is sent, or one that it is like, whatever fails or is killed meanwhile. For that the field `+"`delivery`"+` says which message it is.

With a `+"`path`"+` what passed is on disk before the message goes on. Where the disk is full or fails, the processor waits, tells so in the log, and tries again; nothing passes undecided.

A message whose fields cannot be made out passes with an error set on it, as usual: catch it, or reject it with the output `+"`reject_errored`"+`.

Counters: `+"`alike_dedupe_messages`"+`, with the label `+"`decision`"+` (new, again, duplicate, failed), and the gauge `+"`alike_dedupe_documents`"+` of the window.`).
		Fields(
			service.NewBloblangField(fieldText).Optional().
				Description("A mapping to the text that is compared, such as `root = this.body`. Default: the content of the message."),
			service.NewBloblangField(fieldID).Optional().
				Description("A mapping to the id by which a document is named to others. Default, and for null: the delivery."),
			service.NewBloblangField(fieldDelivery).Optional().
				Description("A mapping to what tells this message from all others and is the same each time that it is delivered. Default: where Kafka or NATS JetStream has the message. The id of the document will not do: what its producer has sent twice is a duplicate."),
			service.NewBloblangField(fieldTime).Optional().
				Description("A mapping to the time of the event, for a window with an age: a timestamp, a number since 1970, or text such as RFC 3339. Default, and for null: the time at which the message comes."),
			service.NewFloatField(fieldThreshold).Default(0.8).
				Description("Least similarity of duplicates, above 0 and up to 1: the share of common shingles (Jaccard)."),
			service.NewIntField(fieldNGram).Default(shingle.DefaultN).
				Description("Words of a shingle."),
			service.NewIntField(fieldDistance).Optional().
				Description("In place of the threshold: take SimHash fingerprints of 64 bits, and duplicates are those that differ in so many bits at most."),
			service.NewObjectField(fieldWindow,
				service.NewIntField(fieldDocs).Default(1_000_000).
					Description("The last so many messages that passed; 0: all, or those of the age."),
				service.NewDurationField(fieldAge).Default("0s").
					Description("How far apart in time duplicates may be, such as 24h; 0s: any time."),
				service.NewDurationField(fieldLate).Default("0s").
					Description("By how much a message may be older than the newest one and still be remembered."),
				service.NewBoolField(fieldRefresh).Default(false).
					Description("A duplicate keeps its original in the window."),
			).Description("What a message is compared with. It has to hold all messages that may be delivered again."),
			service.NewStringField(fieldPath).Default("").
				Description("Folder for what passed, which outlives the process; one process at a time has it open. Empty: memory, in which case a restart forgets."),
			service.NewStringEnumField(fieldKeys, "memory", "disk").Default("memory").Advanced().
				Description("Where keys are with a path: disk takes far less memory, and longer."),
			service.NewBoolField(fieldTag).Default(false).
				Description("Let duplicates pass too, with metadata: `alike_duplicate_of`, `alike_similarity`."),
		).
		LintRule(`root = if this.distance != null && this.threshold != null { "take threshold or distance, not both" }`).
		Example("Kafka to Kafka", "Articles of a day, one of each story.", kafkaExample).
		Example("NATS to S3", "What passes is written in batches.", natsExample)
}

//go:embed examples/kafka.yaml
var kafkaExample string

//go:embed examples/nats-s3.yaml
var natsExample string

// settings are what processors of one collection have in common.
type settings struct {
	threshold float64
	ngram     int
	distance  int // -1: by the threshold
	docs      int
	age, late time.Duration
	refresh   bool
	path      string
	keys      string
}

// mappings make the fields of a message; nil: the default.
type mappings struct{ text, id, delivery, time *bloblang.Executor }

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

func parseMappings(c *service.ParsedConfig) (m mappings, err error) {
	for field, to := range map[string]**bloblang.Executor{fieldText: &m.text, fieldID: &m.id, fieldDelivery: &m.delivery, fieldTime: &m.time} {
		if !c.Contains(field) {
			continue
		}
		if *to, err = c.FieldBloblang(field); err != nil {
			return m, err
		}
	}
	return m, nil
}

// options returns the options of an index with the settings.
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
