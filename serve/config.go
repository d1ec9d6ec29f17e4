package serve

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"time"

	"github.com/alike-dev/alike/internal/ordered"
	"github.com/alike-dev/alike/vfs"
)

// Config configures a Server. The zero value serves collections in memory to this machine.
type Config struct {
	Dir        string     // folder of the collections; "": they are in memory, and Durability is Memory
	Durability Durability // "": Sync with a folder, else Memory
	Memory     int64      // ceiling for the memory of each collection in bytes; 0: none
	Stateless  bool       // only fingerprints, comparisons and probes: there are no collections, tables and page
	Tokens     *Tokens    // nil: everybody may do everything
	Limits     Limits
	Log        *slog.Logger // nil: slog.Default()
	FS         vfs.FS       // nil: that of the operating system
	Now        func() time.Time

	// Order, if set, is the log by which replicas share their collections, which are then in memory, and Durability is
	// Logged. Dir has the snapshots of this replica.
	Order ordered.Log
	// Replica is the name of this replica, which no other one has.
	Replica string
	// Snapshots is a bucket for snapshots beside Dir; nil: none.
	Snapshots ordered.Bucket

	rules         []decidingRule // nil: all
	snapshotBytes int64          // of ordered.Config
}

// places is how many requests work at once. Those that ask a log wait for it while they work.
func (c *Config) places() int {
	if c.Order != nil {
		return c.Limits.Reads + c.Limits.Writes
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// setDurability fills in the durability, and is an error if it contradicts what else is set.
func (c *Config) setDurability() error {
	natural := Sync
	switch {
	case c.Stateless && (c.Dir != "" || c.Order != nil):
		return errors.New("serve: a server without collections has no folder and no log for them")
	case c.Order != nil:
		natural = Logged
	case c.Dir == "":
		natural = Memory
	}
	c.Durability = cmp.Or(c.Durability, natural)
	if fits := c.Durability == natural || natural == Sync && c.Durability == Interval; !fits {
		return fmt.Errorf("serve: durability %s: collections are kept in a folder, or in memory without one, or by a log", c.Durability)
	}
	return nil
}

func orDefault(f, other func() time.Time) func() time.Time {
	if f == nil {
		return other
	}
	return f
}

// IsLoopback tells whether an address to listen on is one of this machine only.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
