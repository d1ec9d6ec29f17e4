package linkage

import (
	"fmt"

	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/judge"
)

// manyPassedOver: there is a note if at least one record is passed over for every ten pairs. Of eight pairs of real
// tables that are one to one, Walmart-Amazon has one for every 10.4 pairs, and the others have at most one for every
// 120; a table of offers with up to three for a product has one for every 8.
const manyPassedOver = 10

// severalPartners returns notes if many records have no link only because their partner has a better one. Then a record may
// have several partners.
func severalPartners(e *judge.Examiner, edges []int) (notes []string) {
	pairs, left, right := decide.PassedOver(e.Found, e.Model, edges)
	note := func(records int, side, other, remedy string) {
		if records > 0 && records*manyPassedOver >= pairs {
			notes = append(notes, fmt.Sprintf(
				"%s of the %s table would be linked if a record of the %s table could have several partners, which is so if you %s",
				counted(records, "record"), side, other, remedy))
		}
	}
	note(left, "left", "right", "match by best")
	note(right, "right", "left", "exchange the tables and match by best")
	return notes
}
