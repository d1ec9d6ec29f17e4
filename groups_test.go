package alike

import (
	"fmt"
	"slices"
	"testing"

	"github.com/alike-dev/alike/dedup"
)

func TestGroupsAreWhatPairsConnect(t *testing.T) {
	text := "the river rose in the night and by morning the lower street stood under water and the baker carried "
	lines := ""
	for i, end := range []string{"bread", "bread", "cake home", "nothing of this"} {
		if i == 3 {
			text = "something else that nobody has written "
		}
		lines += fmt.Sprintf("{\"id\":\"%d\",\"text\":%q}\n", i, text+end)
	}
	in := writeTemp(t, "in.jsonl", lines)
	groups, err := Groups(t.Context(), Config{Inputs: []string{in}, Decide: dedup.Similarity{Threshold: 0.6}})
	if err != nil || len(groups) != 1 || !slices.Equal(groups[0].IDs, []string{"0", "1", "2"}) || groups[0].Weakest >= 1 {
		t.Errorf("%+v, %v", groups, err)
	}
}
