// Package connect is a plug-in for Redpanda Connect and whatever else is built on Benthos: the
// processor alike_dedupe, which drops near-duplicates from a stream of messages. A program has it
// when it imports this package beside the components that it needs:
//
//	import (
//		_ "github.com/alike-dev/alike/connect"
//		_ "github.com/redpanda-data/benthos/v4/public/components/pure"
//		"github.com/redpanda-data/benthos/v4/public/service"
//	)
//
//	func main() { service.RunCLI(context.Background()) }
//
// Consumers that are written in Go need no plug-in: they call stream.Filter, which is what the
// processor does. The tests have whole ones, for NATS JetStream and Kafka: take a batch, decide,
// send what passes, then acknowledge.
//
// It is a module of its own, so that servers and clients of brokers are no requirements of the
// library.
package connect
