// Command alike-connect is Benthos with the processor alike_dedupe and the components of Redpanda
// Connect for Kafka, NATS and AWS:
//
//	alike-connect run connect/examples/kafka.yaml
//	alike-connect lint connect/examples/*.yaml
//	alike-connect list processors
//	alike-connect create nats_jetstream/alike_dedupe/aws_s3 > articles.yaml
//
// For other components, write a main like this one that imports them.
package main

import (
	"context"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	_ "github.com/redpanda-data/connect/v4/public/components/aws"
	_ "github.com/redpanda-data/connect/v4/public/components/kafka"
	_ "github.com/redpanda-data/connect/v4/public/components/nats"
	_ "github.com/redpanda-data/connect/v4/public/components/prometheus"

	"github.com/redpanda-data/benthos/v4/public/service"

	_ "github.com/alike-dev/alike/connect"
	"github.com/alike-dev/alike/internal/version"
)

func main() { service.RunCLI(context.Background(), service.CLIOptSetVersion(version.Text(), "")) }
