package linkage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/scratch"
)

var errKilled = errors.New("killed")

// noting has a join note every batch, and end with errKilled after the given note; it returns what
// was noted.
func noting(c *Config, killedAfter int) *[]string {
	var kinds []string
	c.limits.noteDue = func() bool { return true }
	c.limits.afterNote = func(kind string) error {
		if kinds = append(kinds, kind); len(kinds) == killedAfter {
			return errKilled
		}
		return nil
	}
	return &kinds
}

// withoutSecond leaves out candidates that were found a second time, for a fit with another number of partners: what an earlier
// process has found is not found again.
func withoutSecond(kinds []string) []string {
	found := false
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool {
		again := kind == "pairs-0" && found
		found = found || kind == "pairs-0"
		return again
	})
}

func outcome(r *Result) string {
	return fmt.Sprintf("%+v %v %v %v %d %d %v", slices.Collect(r.Links.All()), r.Precision, r.Recall, r.Columns, r.Candidates, r.Search.Searched, r.Considered)
}

func TestAJoinThatWasKilledGoesOnToTheSameLinks(t *testing.T) {
	few, fewOthers := people(100, 0.8)
	many, others := people(280, 0.8)
	small, large := unequal(t)
	for name, c := range map[string]Config{
		"few of two tables":             {Left: write(t, "l.csv", few), Right: write(t, "r.csv", fewOthers)},
		"many of two tables":            {Left: write(t, "l.csv", many), Right: write(t, "r.csv", others), Considered: true},
		"a small table and a large one": {Left: small, Right: large},
		"many of one table":             {Left: write(t, "l.csv", many+others[strings.Index(others, "\n")+1:])},
		"many by similarity":            {Left: write(t, "l.csv", many), Right: write(t, "r.csv", others), Searching: Searching{Candidates: Exact}, Threshold: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			c.limits = limits{many: 300, batch: 600, muchLarger: 20}
			want := outcome(join(t, c))
			all := noting(&c, -1)
			c.Work, c.Threads = filepath.Join(t.TempDir(), "work"), 2
			r := join(t, c)
			if outcome(r) != want {
				t.Error("a join with a work folder has other links")
			}
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(c.Work); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() != "alike.lock" }) {
				t.Errorf("a finished join leaves %v, %v", left, err)
			}
			if len(*all) < 1 {
				t.Fatal("nothing was noted")
			}
			for n := range len(*all) {
				killed := noting(&c, n+1)
				c.Threads, c.Memory = 1+n%2, int64(n%3/2)*64<<20
				if _, err := Join(t.Context(), c); !errors.Is(err, errKilled) {
					t.Fatalf("after note %d: %v", n, err)
				}
				rest := noting(&c, -1)
				r, err := Join(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Resumed || outcome(r) != want {
					t.Errorf("killed after %v the join has other links; it went on: %v", *killed, r.Resumed)
				}
				if both := slices.Concat(*killed, *rest); !slices.Equal(withoutSecond(both), withoutSecond(*all)) {
					t.Errorf("noted %v, then %v; undisturbed %v", *killed, *rest, *all)
				}
				if err := r.Finish(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestAJoinIsNotTakenForAnotherOne(t *testing.T) {
	l, x := people(150, 0.8)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x), Work: filepath.Join(t.TempDir(), "work"), limits: limits{many: 100}}
	begin := func() {
		noting(&c, 2)
		if _, err := Join(t.Context(), c); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		noting(&c, -1)
	}
	begin()
	other := c
	other.Match = OneToOne
	var mismatch *journal.MismatchError
	if _, err := Join(t.Context(), other); !errors.As(err, &mismatch) || mismatch.Is.Name != "Match" {
		t.Errorf("another rule: %v", err)
	}
	other.Fresh = true
	r := join(t, other)
	if err := r.Finish(); r.Resumed || err != nil {
		t.Errorf("a fresh join went on, %v", err)
	}
	begin()
	if err := os.WriteFile(c.Right, []byte(x+"new,anna,street 1,town,1980-01-01\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), c); !errors.As(err, &mismatch) || !strings.Contains(mismatch.Is.Name, "r.csv") {
		t.Errorf("another table: %v", err)
	}
	c.Fresh = true
	begin()
	c.Fresh = false
	parts, _ := filepath.Glob(filepath.Join(c.Work, "*", "sample-*.part"))
	data, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if err := os.WriteFile(parts[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), c); !errors.Is(err, scratch.ErrDamaged) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestEverySettingOfAJoinIsInItsFingerprint(t *testing.T) {
	harmless := []string{
		"Left", "Right", "Copies", "Corpus", // the files' names and states are in it, and how they are parsed
		"Threads", "Memory", "Work", "Fresh", "OnSkip", // nothing depends on them
		"Considered", "Evidence", "Audit", "Clusters", "Even", // of what is noted nothing depends on them
		"limits", // nobody has others
	}
	text := func(c Config) (s string) {
		for setting := range c.settings() {
			s += setting.String() + "\n"
		}
		return s
	}
	before := text(Config{})
	var walk func(at []int, of reflect.Type)
	walk = func(at []int, of reflect.Type) {
		for i := range of.NumField() {
			field, place := of.Field(i), append(slices.Clone(at), i)
			if slices.Contains(harmless, field.Name) {
				continue
			}
			if field.Anonymous {
				walk(place, field.Type)
				continue
			}
			var c Config
			switch v := reflect.ValueOf(&c).Elem().FieldByIndex(place); v.Kind() {
			case reflect.String:
				v.SetString("other")
			case reflect.Float64:
				v.SetFloat(0.5)
			case reflect.Int:
				v.SetInt(3)
			case reflect.Uint8, reflect.Uint32:
				v.SetUint(3)
			case reflect.Bool:
				v.SetBool(true)
			case reflect.Slice:
				v.Set(reflect.MakeSlice(field.Type, 1, 1))
			case reflect.Pointer:
				v.Set(reflect.New(field.Type.Elem()))
			default:
				t.Fatalf("%s is a %v: the test changes none", field.Name, v.Kind())
			}
			if text(c) == before {
				t.Errorf("%s is not in the fingerprint", field.Name)
			}
		}
	}
	walk(nil, reflect.TypeFor[Config]())
}
