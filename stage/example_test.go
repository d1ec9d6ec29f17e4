package stage_test

import (
	"fmt"

	"github.com/alike-dev/alike/stage"
)

func ExamplePlan_Stages() {
	p := stage.Plan{
		Version: stage.PlanVersion, Command: stage.Dedup, BucketCap: 1000, Partitions: 4, FirstFiles: []int{0, 10}, Keep: "longest",
		Recipe: "text/v2 nfkc fold words n=5 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1 | bands=16 rows=6 | jaccard>=0.8 exact",
	}
	if err := p.Settle("what is known of the inputs"); err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range p.Stages()[:4] {
		fmt.Println(s.Name, s.Tasks, s.Reads)
	}
	// Output:
	// sketch 2 []
	// names 4 [names]
	// classes 4 [rows skips]
	// group 4 [keys]
}
