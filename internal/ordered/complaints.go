package ordered

import (
	"fmt"
	"log/slog"
	"time"
)

// complaints are about what is tried again all the time.
type complaints struct {
	last string
	at   time.Time
}

// report reports an error, and what is the same each time once in a while.
func (c *complaints) report(to *slog.Logger, message string, err error) {
	said, since := message+err.Error(), time.Since(c.at)
	if since < complainEvery && said == c.last || since < complainNext {
		return
	}
	c.last, c.at = said, time.Now()
	to.Error(message, "error", err)
}

// compare reports that the clock of this machine, by which an entry was proposed, and the log's differ.
func (c *complaints) compare(to *slog.Logger, now time.Time, proposed, at int64) {
	const most = int64(5 * time.Second)
	if ahead := at - now.UnixNano(); ahead > most || proposed-at > most {
		c.report(to, "the clocks of this machine and of the log's servers differ: the one that is behind counts",
			fmt.Errorf("the log's is ahead by %s", time.Duration(ahead).Round(time.Minute)))
	}
}

const (
	complainEvery = time.Minute
	complainNext  = 2 * time.Second // servers that are asked in turn may each say something else
)
