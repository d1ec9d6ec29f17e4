package engine

import "testing"

func TestOneOfTwoBearersOfANameGivesWay(t *testing.T) {
	made, reference, renamed := Bearer{Made: true}, Bearer{Reference: true}, Bearer{Reference: true, Renamed: true}
	for name, c := range map[string]struct {
		earlier, later Bearer
		want           Verdict
	}{
		"of two ids the first stays":                        {Bearer{}, Bearer{}, SkipLater},
		"of two places the first stays":                     {made, made, SkipLater},
		"a name stays with the document at its place":       {Bearer{}, made, SkipEarlier},
		"also if that comes first":                          {made, Bearer{}, SkipLater},
		"of two references the first stays":                 {reference, reference, SkipLater},
		"a reference gives its name to an input":            {reference, Bearer{}, RenameEarlier},
		"and to one that is named by its place":             {reference, made, RenameEarlier},
		"an input must not have the name that it gets then": {Bearer{Reference: true, Renamed: true, Made: true}, Bearer{}, SkipLater},
		"renamed references differ":                         {renamed, reference, SkipLater},
	} {
		if got := SameName(c.earlier, c.later); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestAGroupKeepsOneMember(t *testing.T) {
	// Members 1 to 4 of the classes of 1 and 3; the rule prefers the last one.
	reps := map[uint64]uint64{1: 1, 2: 1, 3: 3, 4: 3}
	for name, c := range map[string]struct {
		choice Choice
		want   uint64
	}{
		"a component the one that the rule prefers": {Choice{Group: 1}, 4},
		"a star one of its centre's class":          {Choice{Group: 1, Star: true}, 2},
		"a star whose centre comes later":           {Choice{Group: 3, Star: true}, 4},
		"references before all":                     {Choice{Group: 1, Reference: true}, 1},
	} {
		kept := uint64(0)
		for member := uint64(1); member <= 4; member++ {
			if c.choice.Takes(reps[member], func() bool { return member > kept }) {
				kept = member
			}
		}
		if kept != c.want {
			t.Errorf("%s: member %d is kept, want %d", name, kept, c.want)
		}
	}
}
