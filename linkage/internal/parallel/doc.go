// Package parallel divides ranges of numbers among goroutines.
package parallel
