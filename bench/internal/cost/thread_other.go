//go:build !linux

package cost

import "time"

// Thread is 0, because this system does not tell it.
func Thread() time.Duration { return 0 }
