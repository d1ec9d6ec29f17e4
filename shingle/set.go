package shingle

import "github.com/alike-dev/alike/internal/distinct"

// Set sorts features in place, drops repetitions and returns the rest, a set. For
// features, which are hashes, it costs O(n), for other numbers O(n log n) at worst. It
// borrows pooled scratch memory: about 200 KB, and above four thousand features as much
// again as they take, up to 2 MiB.
func Set(features []uint64) []uint64 { return distinct.Sort(features) }
