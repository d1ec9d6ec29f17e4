package alike

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEntitiesDoNotDependOnTheOrderOfTables has tables in which many records are equally near to others, so that which of
// them are considered depends on their order.
func TestEntitiesDoNotDependOnTheOrderOfTables(t *testing.T) {
	folder, rnd := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	pick := func(list string) string { all := strings.Split(list, ","); return all[rnd.IntN(len(all))] }
	table := func(name string, n int) string {
		var b strings.Builder
		b.WriteString("id,name,street,phone\n")
		for i := range n {
			name := pick("golden,blue,royal,old,new,little,big,red") + " " + pick("lion,dragon,palace,inn,garden,house,cafe,grill")
			street := pick(",,main street,high street,park road ") + pick("1,2,3,4,5,6,7")
			phone := pick(fmt.Sprintf(",%03d-%04d", rnd.IntN(10), rnd.IntN(100)))
			fmt.Fprintf(&b, "%d,%s,%s,%s\n", i, name, street, phone)
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for range 8 {
		checkOrderOfTables(t, []string{table("b.csv", 150), table("a.csv", 250), table("c.csv", 60)})
	}
}

func checkOrderOfTables(t *testing.T, tables []string) {
	entities := func(tables ...string) []EntityRecord {
		e, err := FindEntities(t.Context(), tables, nil, JoinConfig{})
		if err != nil {
			t.Fatal(err)
		}
		all := e.InOrder(tables)
		if len(all) != 460 || all[0].Table != tables[0] || all[0].ID != "0" || all[459].Table != tables[2] {
			t.Fatalf("%d records, the first is %v: not in the order of the tables", len(all), all[0])
		}
		slices.SortFunc(all, func(a, b EntityRecord) int { return strings.Compare(a.Table+":"+a.ID, b.Table+":"+b.ID) })
		return all
	}
	want := entities(tables...)
	if got := entities(tables[2], tables[1], tables[0]); !slices.Equal(got, want) {
		t.Error("the order of tables changes entities")
	}
}
