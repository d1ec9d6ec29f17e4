// Package kubetest runs the Helm chart in a cluster of one machine: the real etcd, API server, controllers and
// scheduler of Kubernetes (parts), Helm, and nodes of its own, which run pods as containers by runc with the image that
// ../image builds. run.sh builds all of it and runs the test. CI skips the test, and leaves the module parts out, since
// Kubernetes takes ten minutes to build.
//
// What a node does here that kubelet does: volumes of Secrets and claims, start, readiness and liveness probes,
// restart, sleep before the end, grace period, quotas of CPU, and metrics.k8s.io by what cgroups count. What it does
// not: network policies, seccomp's default profile, limits of memory.
package kubetest
