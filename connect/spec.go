package connect

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/internal/recipeflags"
)

// Names of the fields of a configuration, in addition to those of recipeFields.
const (
	fieldText     = "text"
	fieldID       = "id"
	fieldDelivery = "delivery"
	fieldTime     = "time"
	fieldWindow   = "window"
	fieldDocs     = "docs"
	fieldAge      = "age"
	fieldLate     = "late"
	fieldRefresh  = "refresh"
	fieldPath     = "path"
	fieldKeys     = "keys"
	fieldTag      = "tag"
)

func spec() *service.ConfigSpec {
	s := service.NewConfigSpec().
		Beta().
		Categories("Utility").
		Summary("Drops messages whose text is nearly the same as that of a message that passed before, in a window.").
		Description(`Similar texts are found by MinHash and verified by their exact similarity, so a text that is not similar to another one is never dropped. With `+"`distance`"+` they are fingerprints that are compared bit by bit.

Brokers deliver a message again when it was not acknowledged. Such a message is not a duplicate of itself: if it passed before, it passes again. So for each message, either the message itself or a similar one is sent, whatever fails or is killed meanwhile. The field `+"`delivery`"+` identifies the message for this.

Messages of inputs that do not number them (generate, stdin, http_server …) are deduplicated in memory all the same, but one that is sent again because the output has failed is then a duplicate of itself: set `+"`delivery`"+`, or let the output retry. With a `+"`path`"+` they pass with an error set, and the log says so once.

With a `+"`path`"+`, messages that pass are on disk before they are sent. If the disk is full or fails, the processor waits, says so in the log, and tries again; no message passes undecided.

A message whose fields cannot be read passes with an error set on it, as usual: catch it, or reject it with the output `+"`reject_errored`"+`. The log names the first of each kind.

Counters: `+"`alike_dedupe_messages`"+`, with the label `+"`decision`"+` (new, again, duplicate, failed), and the gauge `+"`alike_dedupe_documents`"+` of the window.`).
		Fields(
			service.NewBloblangField(fieldText).Optional().
				Description("A mapping to the text that is compared, such as `root = this.body`. Default: the content of the message."),
			service.NewBloblangField(fieldID).Optional().
				Description("A mapping to the id of the document, by which its duplicates name it. Default, and for null: the delivery."),
			service.NewBloblangField(fieldDelivery).Optional().
				Description("A mapping to a value that identifies the message: different from that of any other message, and the same each time that the message is delivered. Default: the position of the message in Kafka or NATS JetStream, its id in SQS or Pub/Sub. Do not use the id of the document: a document that its producer has sent twice is a duplicate."),
			service.NewBloblangField(fieldTime).Optional().
				Description("A mapping to the time of the event, for a window with an age: a timestamp, a number since 1970 (13 digits are milliseconds), or text such as RFC 3339, RFC 1123 or 21 Nov 2026 10:00. Default, and for null: the time at which the message arrives."),
		).
		Fields(recipeFields()...).
		Fields(
			service.NewObjectField(fieldWindow,
				service.NewIntField(fieldDocs).Optional().
					Description("How many of the last messages that passed a message is compared with; 0: all, or all of the age. Default: 1000000, or all of the age."),
				service.NewStringField(fieldAge).Optional().
					Description("How far apart in time duplicates may be, such as 90m, 24h or 7d. Default: any time."),
				service.NewStringField(fieldLate).Optional().
					Description("How much older than the newest message a message may be and still be kept in the window. Default: 0s."),
				service.NewBoolField(fieldRefresh).Default(false).
					Description("A duplicate moves the message that it duplicates to the end of the window."),
			).Description("The messages that a message is compared with. The window must hold all messages that may be delivered again."),
			service.NewStringField(fieldPath).Default("").
				Description("Folder for the messages that passed; it outlives the process, and one process at a time has it open. Empty: they are in memory, and a restart forgets them."),
			service.NewStringEnumField(fieldKeys, keysInMemory, "disk").Default(keysInMemory).Advanced().
				Description("Where the keys of an index with a path are: disk takes far less memory and more time."),
			service.NewBoolField(fieldTag).Default(false).
				Description("Let duplicates pass too, with metadata: `alike_duplicate_of`, `alike_similarity`."),
		)
	return s.LintRule(lintRule()).
		Example("Kafka to Kafka", "Articles of a day, one of each story.", kafkaExample).
		Example("NATS to S3", "Messages that pass are written in batches.", natsExample)
}

//go:embed examples/kafka.yaml
var kafkaExample string

//go:embed examples/nats-s3.yaml
var natsExample string

// commonFields are the fields of a recipe that a configuration with the common fields shows.
var commonFields = []string{"preset", "measure", "threshold", "distance", "scheme", "ngram", "tokens", "normalize"}

// recipeFields are the fields that say what is alike, by the flags of alike stream. They have no defaults of the
// configuration, as the linter does not tell these from what is given; so the descriptions name them.
func recipeFields() (fields []*service.ConfigField) {
	for _, f := range recipeFlags() {
		var field *service.ConfigField
		name, words := fieldOf(f.Name), f.Value
		switch one, isWord := words.(interface{ Words() []string }); {
		case isWord:
			field = service.NewStringEnumField(name, one.Words()...)
		case f.Value.Type() == "float64":
			field = service.NewFloatField(name)
		case f.Value.Type() == "bool":
			field = service.NewBoolField(name)
		case f.Value.Type() == "string":
			field = service.NewStringField(name)
		default:
			field = service.NewIntField(name)
		}
		if !slices.Contains(commonFields, name) {
			field = field.Advanced()
		}
		fields = append(fields, field.Optional().Description(description(f)))
	}
	return fields
}

// lintRule refuses a distance together with what decides by similarity, as recipeflags does when a processor is made.
func lintRule() string {
	var cases strings.Builder
	for _, flag := range recipeflags.BySimilarity {
		if name := fieldOf(flag); isRecipeField(name) {
			fmt.Fprintf(&cases, "  this.distance != null && this.%s != null => \"take %[1]s or distance, not both\",\n", name)
		}
	}
	return "root = match {\n" + cases.String() + "}"
}
