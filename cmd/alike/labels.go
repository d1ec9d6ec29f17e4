package main

import (
	"os"

	"github.com/alike-dev/alike/internal/fault"
)

// checkLabels refuses what labels cannot be read from and written to again, such as a device.
func checkLabels(flag, path string) error {
	if at, err := os.Stat(path); err == nil && !at.Mode().IsRegular() {
		return usagef("%s %s is no file: labels are read again, to go on with them; name a file", flag, fault.Shown(path))
	}
	return nil
}

// labelNames are the columns of labels.
func labelNames(oneTable bool) []string {
	if oneTable {
		return []string{"a", "b", "match"}
	}
	return []string{"left_id", "right_id", "match"}
}
