// Package connect is a plug-in for Redpanda Connect and other programs that are built on Benthos. It has the
// processor alike_dedupe, which drops near-duplicates from a stream of messages. A program gets the
// processor by importing this package, in addition to the other components that it needs:
//
//	import (
//		_ "github.com/alike-dev/alike/connect"
//		_ "github.com/redpanda-data/benthos/v4/public/components/pure"
//		"github.com/redpanda-data/benthos/v4/public/service"
//	)
//
//	func main() { service.RunCLI(context.Background()) }
//
// A consumer written in Go needs no plug-in: it calls stream.Filter, as the processor does. The tests of this
// package have complete consumers for NATS JetStream and Kafka. They take a batch, call Decide, send the
// messages that pass, and then acknowledge the batch.
//
// The package is a module of its own, so that the library does not depend on clients and servers of brokers.
package connect
