package linkage

import (
	"fmt"

	"github.com/alike-dev/alike/linkage/internal/decide"
)

// manyPassedOver: there is a note if at least one record is passed over for every ten pairs. Of eight pairs of real
// tables that are one to one, Walmart-Amazon has one for every 10.4 pairs, and the others have at most one for every
// 120; a table of offers with up to three for a product has one for every 8.
const manyPassedOver = 10

// noteSeveral adds a note if many records have no link only because their partner has a better one. Then a record may
// have several partners.
func (t *tables) noteSeveral(e *examiner, edges []int) {
	if !e.config.exclusive() || t.Right == nil {
		return
	}
	pairs, left, right := decide.PassedOver(e.found, e.model, edges)
	note := func(records int, side, other, remedy string) {
		if records > 0 && records*manyPassedOver >= pairs {
			t.result.Notes = append(t.result.Notes, fmt.Sprintf(
				"%s of the %s table would be linked if a record of the %s table could have several partners, which is so if you %s",
				counted(records, "record"), side, other, remedy))
		}
	}
	note(left, "left", "right", "match by best")
	note(right, "right", "left", "exchange the tables and match by best")
}
