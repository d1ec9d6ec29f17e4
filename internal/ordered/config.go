package ordered

import (
	"errors"
	"log/slog"
	"time"

	"github.com/alike-dev/alike/vfs"
)

// Config configures a Replica. Name is unique among the replicas that run.
type Config struct {
	Log     Log
	Machine Machine
	Name    string
	Knows   int    // the newest version of the rules that the machine knows, from 1 on
	Dir     string // folder of this replica's snapshots
	Durable bool   // whether it outlives the process, so that entries may be trimmed that its snapshots contain
	FS      vfs.FS
	Bucket  Bucket // nil: none
	Now     func() time.Time
	Report  *slog.Logger
	// Rules returns operations to propose when all replicas know a version; nil: there are never any.
	Rules func(knows int) [][]byte
	// SnapshotBytes is how many bytes of entries there are at least between two snapshots; 0: 256 MiB, which documents of 2 KB
	// are applied of in one to two seconds.
	SnapshotBytes int64
}

// ErrLoading says that a replica has not loaded its state yet.
var ErrLoading = errors.New("the replica is loading its state")
