package stage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/alike-dev/alike/dedup"
)

// A row that stays in a joined stage is read there only, and what a stage reads was written before it.
func TestJoinedStagesHandOnWhatOthersRead(t *testing.T) {
	recipes := map[string]string{
		"bands":    testRecipe,
		"exact":    "words n=1 | oph k=128 | no keys | jaccard>=0.5 exact",
		"distance": "words | simhash/simhash/v1 bits=64 | blocks keys=10 | hamming<=3",
	}
	plans := map[string]*Plan{"passages": {Command: Cut, Passages: &dedup.Passages{}, Partitions: 3, FirstFiles: []int{0, 1}}}
	for name, line := range recipes {
		for _, command := range []string{Dedup, Pairs} {
			for _, star := range []bool{false, command == Dedup} {
				for _, whole := range []bool{false, star && name != "distance"} {
					p := &Plan{Command: command, Recipe: line, Star: star, Whole: whole, BucketCap: 9, Partitions: 3, FirstFiles: []int{0, 1}}
					if err := p.Decide(); err != nil {
						t.Fatal(name, err)
					}
					plans[fmt.Sprint(name, command, star, whole)] = p
				}
			}
		}
	}
	for name, p := range plans {
		apart := p.Stages()
		p.Joined = true
		fewer, written, steps := p.Stages(), []string(nil), 0
		for _, s := range fewer {
			steps += len(s.Steps())
			for _, stream := range s.Reads {
				if !slices.Contains(written, stream) {
					t.Errorf("%s: stage %s reads %s, which no stage before it hands on", name, s.Name, stream)
				}
			}
			written = append(written, s.Writes...)
		}
		if len(fewer) >= len(apart) || steps != len(apart) {
			t.Errorf("%s: %d stages are joined to %d, of %d steps", name, len(apart), len(fewer), steps)
		}
		for _, s := range fewer {
			for _, step := range s.Steps() {
				for _, stream := range step.Writes {
					if readBehind(fewer, s, stream) && !slices.Contains(s.Writes, stream) {
						t.Errorf("%s: step %s writes %s, which stage %s does not hand on", name, step.Name, stream, s.Name)
					}
				}
			}
		}
	}
}

func readBehind(all []Stage, of Stage, stream string) bool {
	return slices.ContainsFunc(all, func(s Stage) bool { return s.Name != of.Name && slices.Contains(s.Reads, stream) })
}
