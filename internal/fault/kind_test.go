package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// Counters are labelled by the names of kinds, and stored tables have their numbers.
func TestEveryKindHasANameAndANumberOfItsOwn(t *testing.T) {
	names := map[string]bool{KindName(errors.New("x")): true}
	for i, kind := range kinds[1:] {
		err := fmt.Errorf("a.jsonl: %w", Because(kind, "a reason"))
		if n := KindNumber(err); int(n) != i+1 || NumberedKind(n) != kind {
			t.Errorf("%v: number %d, which is %v", kind, n, NumberedKind(n))
		}
		name := KindName(err)
		if names[name] {
			t.Errorf("a second kind with the name %q", name)
		}
		names[name] = true
	}
	if err := File(&fs.PathError{Op: "open", Path: "a", Err: fs.ErrPermission}); KindName(err) != "permission denied" {
		t.Errorf("%v: %s", err, KindName(err))
	}
	if NumberedKind(0) != nil || NumberedKind(255) != nil {
		t.Error("a kind for a number that is none")
	}
}
