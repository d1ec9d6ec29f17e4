package alike

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage"
)

// An EntityChange says what has become of an entity that was known, or how a new one has begun.
type EntityChange struct {
	Change Change
	Entity string // the name that stays, or the new one
	Other  string // of merged, the name that is gone; of moved, the one before; of split, the new one of the part
	Why    string
}

// Change is what has happened to an entity.
type Change string

const (
	Merged  Change = "merged"  // Other is no name any more; its records, or most of those that are left, are of Entity now
	Moved   Change = "moved"   // records of Other are of Entity now, while Other stays, or is merged with another one
	Split   Change = "split"   // Other was a part of Entity
	Founded Change = "founded" // Entity has new records only
	Gone    Change = "gone"    // no record of Entity is there any more
)

// KeepNames gives entities the names that their records had before, and returns what has changed, by the name of the entity.
// Each known name goes to the entity with most of its records, and each entity takes the known name of most of its records;
// others are named by their least records, and never by a name that was known. verdicts are those of the entities. The
// order of tables and of records changes nothing. O(records log records).
func (e *Entities) KeepNames(known []linkage.EntityOf, verdicts []linkage.Label) []EntityChange {
	n := newNaming(e, known, verdicts)
	shared := n.shared()
	n.assign(shared, known)
	changes := n.changes(shared, known)
	for row := range e.Records {
		e.Records[row].Entity = n.names[e.Records[row].Entity]
	}
	for i := range e.Largest {
		e.Largest[i].Entity = n.names[e.Largest[i].Entity]
	}
	return changes
}

// naming names entities, which have the names of their least records so far.
type naming struct {
	*Entities
	before   []string           // the known name of each record's entity; "": the record is new
	names    map[string]string  // by the name so far
	verdicts map[[2]string]bool // that two records are the same, or not, in either order
	rows     map[string]uint32  // of the records that verdicts name
	known    map[string]bool    // the known names that records have
	old      map[string]bool    // the entities that were found with records of known ones
	clusters map[string]int     // of the entities with several records, by the name so far
}

func newNaming(e *Entities, known []linkage.EntityOf, verdicts []linkage.Label) *naming {
	n := &naming{
		Entities: e, before: beforeOf(e, known), names: map[string]string{}, verdicts: map[[2]string]bool{}, rows: map[string]uint32{},
		known: map[string]bool{}, old: map[string]bool{}, clusters: map[string]int{},
	}
	for _, v := range verdicts {
		n.verdicts[[2]string{v.A, v.B}], n.verdicts[[2]string{v.B, v.A}] = v.Match, v.Match
	}
	for row := range e.Records {
		if n.before[row] != "" {
			n.known[n.before[row]], n.old[e.Records[row].Entity] = true, true
		}
		if len(verdicts) > 0 {
			n.rows[n.id(uint32(row))] = uint32(row)
		}
	}
	if e.Join.Entities != nil {
		for i := range e.Join.Entities.Clusters {
			n.clusters[e.Records[e.Join.Entities.Clusters[i].Members[0]].Entity] = i
		}
	}
	return n
}

// beforeOf returns the known entity of each record, by the names of tables, else by those of their files alone.
func beforeOf(e *Entities, known []linkage.EntityOf) []string {
	byTable := map[string]map[string]string{}
	before := make([]string, len(e.Records))
	for row, of := range e.Records {
		entities, seen := byTable[of.Table]
		if !seen {
			entities, _ = linkage.EntitiesOfTable(known, of.Table) // of a new table nothing is known
			byTable[of.Table] = entities
		}
		before[row] = entities[of.ID]
	}
	return before
}

// overlap is the number of records that a known entity and one that was found share.
type overlap struct {
	known, found string
	records      int
}

// shared returns how many records known entities share with those that were found, the most first.
func (n *naming) shared() (list []overlap) {
	count := map[[2]string]int{}
	for row, known := range n.before {
		if known != "" {
			count[[2]string{known, n.Records[row].Entity}]++
		}
	}
	for pair, records := range count {
		list = append(list, overlap{pair[0], pair[1], records})
	}
	sorting.Func(list, func(x, y overlap) int {
		return cmp.Or(cmp.Compare(y.records, x.records), cmp.Compare(x.known, y.known), cmp.Compare(x.found, y.found))
	})
	return list
}

// assign sets the name of each entity that was found.
func (n *naming) assign(shared []overlap, known []linkage.EntityOf) {
	used := map[string]bool{}
	for _, o := range shared {
		if n.names[o.found] == "" && !used[o.known] {
			n.names[o.found], used[o.known] = o.known, true
		}
	}
	for _, of := range known {
		used[of.Entity] = true
	}
	found := map[string]bool{}
	for row := range n.Records {
		found[n.Records[row].Entity] = true
	}
	for _, own := range slices.Sorted(maps.Keys(found)) {
		if n.names[own] != "" {
			continue
		}
		n.names[own] = unusedName(used, own)
	}
}

func (n *naming) changes(shared []overlap, known []linkage.EntityOf) (list []EntityChange) {
	holder := map[string]string{} // of each known name the entity that was found and has it
	for found, name := range n.names {
		holder[name] = found
	}
	there, merged := map[string]bool{}, map[string]bool{}
	for _, o := range shared {
		there[o.known] = true
		name := n.names[o.found]
		if name == o.known {
			continue
		}
		apart := ""
		if kept := holder[o.known]; kept != "" { // the known name is another one's
			apart = n.whyApart(kept, o.found)
		}
		switch {
		case !n.known[name]:
			list = append(list, EntityChange{Split, o.known, name, apart})
		case apart != "":
			list = append(list, EntityChange{Moved, name, o.known, apart + "; " + n.whyTogether(o.found, name, o.known)})
		default:
			change := Merged
			if merged[o.known] { // into the one with most of its records
				change = Moved
			}
			merged[o.known] = true
			list = append(list, EntityChange{change, name, o.known, n.whyTogether(o.found, name, o.known)})
		}
	}
	gone := map[string]bool{}
	for _, of := range known {
		if !there[of.Entity] && !gone[of.Entity] {
			gone[of.Entity] = true
			list = append(list, EntityChange{Gone, of.Entity, "", "none of its records is there"})
		}
	}
	records := map[string]int{}
	for row := range n.Records {
		records[n.Records[row].Entity]++
	}
	for found, name := range n.names {
		if !n.old[found] {
			list = append(list, EntityChange{Founded, name, "", fmt.Sprintf("records that are new: %d", records[found])})
		}
	}
	sorting.Func(list, func(x, y EntityChange) int {
		return cmp.Or(cmp.Compare(x.Entity, y.Entity), cmp.Compare(x.Change, y.Change), cmp.Compare(x.Other, y.Other))
	})
	return list
}

func (n *naming) id(row uint32) string { return n.Records[row].Table + ":" + n.Records[row].ID }

// both names two records, in an order that does not depend on that of tables.
func (n *naming) both(a, b uint32) string {
	x, y := n.id(a), n.id(b)
	return min(x, y) + " and " + max(x, y)
}

// whyTogether says why records of two known entities are one entity.
func (n *naming) whyTogether(found, a, b string) string {
	c := &n.Join.Entities.Clusters[n.clusters[found]]
	best, any := c.Weakest, false
	for _, p := range c.Joins {
		x, y := n.before[p.A], n.before[p.B]
		if !(x == a && y == b || x == b && y == a) {
			continue
		}
		if !any || cmp.Or(cmp.Compare(best.Evidence, p.Evidence), cmp.Compare(n.both(p.A, p.B), n.both(best.A, best.B))) < 0 {
			best, any = p, true
		}
	}
	names := n.both(best.A, best.B)
	switch {
	case n.verdicts[[2]string{n.id(best.A), n.id(best.B)}]:
		return names + " were called the same"
	case any:
		return fmt.Sprintf("%s are one thing with probability %.3f", names, logistic.Probability(best.Evidence))
	}
	return fmt.Sprintf("other records connect them; the weakest link is of %s, probability %.3f", names, logistic.Probability(best.Evidence))
}

// whyApart says why the records of two entities, which were one, are none.
func (n *naming) whyApart(a, b string) string {
	const unlike = "too little says that they are one thing"
	if n.Join.Entities == nil {
		return unlike
	}
	for _, c := range n.Join.Entities.Contradictions {
		x, y := n.Records[c.A].Entity, n.Records[c.B].Entity
		if !(x == a && y == b || x == b && y == a) {
			continue
		}
		names := n.both(c.A, c.B)
		switch c.Reason {
		case linkage.BySource:
			return names + " are alike, and both have records of a table that has each thing once"
		case linkage.ByVerdict:
			return names + " are alike, and were, or records with them were, called different"
		}
		return names + " are alike, and the records with them are not"
	}
	for _, pair := range sorting.Sorted(maps.Keys(n.verdicts), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) }) {
		x, here := n.rows[pair[0]]
		y, there := n.rows[pair[1]]
		if !n.verdicts[pair] && here && there && n.Records[x].Entity == a && n.Records[y].Entity == b {
			return pair[0] + " and " + pair[1] + " were called different"
		}
	}
	return unlike
}
