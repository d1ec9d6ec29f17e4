// Package connect holds what alike is with brokers: the tests of stream.Filter against NATS
// JetStream and Kafka. It is a module of its own, so that servers and clients of brokers are no
// requirements of the library.
//
// Each test has a consumer that is a model for others: take a batch, decide, send what passes,
// then acknowledge.
package connect
