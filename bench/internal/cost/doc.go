// Package cost tells benchmarks what their own process has taken; 0 where the system does not tell.
package cost
