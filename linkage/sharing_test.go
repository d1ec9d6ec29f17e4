package linkage

import (
	"fmt"
	"strings"
	"testing"
)

// The records of one home are more similar to each other than to a person's record elsewhere, with whom that one shares a rare
// telephone number. Such pairs are candidates too, unless the most similar records are asked for.
func TestRecordsThatShareWhatIsRareAreCandidatesBesideTheMostSimilar(t *testing.T) {
	const homes, members = 20, 30
	var table strings.Builder
	table.WriteString("id,address,phone\n")
	for i := range homes * members {
		home := i / members
		if i%2 == 1 { // who lives elsewhere, with the number of the one before
			home = (home + homes/2) % homes
		}
		fmt.Fprintf(&table, "%d,flat %d big house %d long street %d town%d county%d,%d\n", i, home, home*7, home, home, home, 5_000_000+i/2*7919)
	}
	path := write(t, "table.csv", table.String())
	candidates := func(c Candidates) int {
		return join(t, Config{Left: path, Searching: Searching{Candidates: c}, Fields: []Field{{Left: "address"}, {Left: "phone"}}}).Candidates
	}
	near, both := candidates(TopK), candidates("")
	if more := both - near; more < homes*members/2 {
		t.Errorf("%d candidates beside the %d most similar ones, want the %d that share a number at least", more, near, homes*members/2)
	}
}
