// Package cost returns the processor time and peak memory of the own process, or 0 if the system does not tell them.
package cost
