// Package charttest holds the Helm chart to what Kubernetes, Prometheus and the server themselves say. It is a module
// of its own, so that their types do not weigh on the program; a cluster that runs the chart is in ../kubetest.
package charttest
