package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drawingOfRooms is the drawing of the engine's rooms in the document: a line for each, the
// room and the rooms it imports. What a room imports stands below it.
const (
	drawingBegins = "```rooms\n"
	drawingEnds   = "```\n"
)

func drawnRooms(t *testing.T) (rooms []string, imports map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "how", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(text), drawingBegins)
	drawing, _, ended := strings.Cut(rest, drawingEnds)
	if !begun || !ended {
		t.Fatal("docs/how/architecture.md has no drawing of the rooms")
	}
	imports = map[string][]string{}
	for line := range strings.Lines(drawing) {
		room, below, _ := strings.Cut(line, "→")
		room = strings.TrimSpace(room)
		if imports[room] != nil {
			t.Errorf("room %s is drawn twice", room)
		}
		rooms = append(rooms, room)
		imports[room] = append([]string{}, strings.Fields(below)...)
	}
	return rooms, imports
}

func TestTheRoomsOfTheEngineAreAsDrawn(t *testing.T) {
	rooms, drawn := drawnRooms(t)
	for i, room := range rooms {
		for _, below := range drawn[room] {
			if !slices.Contains(rooms[i+1:], below) {
				t.Errorf("docs/how/architecture.md: %s imports %s, which does not stand below it", room, below)
			}
		}
	}
	found := map[string]bool{}
	for _, p := range listPackages(t) {
		name, _ := p.name()
		room, ok := roomOf(name)
		if !ok || room == "roomtest" {
			continue
		}
		found[room] = true
		var real []string
		for _, i := range p.Imports {
			of, ours := within(i)
			if below, ok := roomOf(of); ours && ok {
				real = append(real, below)
			}
			if ours && room != "dedup" && of == "dedup" {
				t.Errorf("room %s imports dedup, which is above it", room)
			}
		}
		want := slices.Sorted(slices.Values(drawn[room]))
		if slices.Sort(real); !slices.Equal(real, want) {
			t.Errorf("%s imports %q, but docs/how/architecture.md draws %q", room, real, want)
		}
	}
	for _, room := range rooms {
		if !found[room] {
			t.Errorf("docs/how/architecture.md draws %s, which is not there", room)
		}
	}
}

// roomOf returns the name of a room of the engine: dedup itself or a package below it.
func roomOf(name string) (room string, ok bool) {
	if name == "dedup" {
		return name, true
	}
	return strings.CutPrefix(name, "dedup/internal/")
}

// roomsOfLinkage are package linkage and the packages below it, each above those that it may import.
var roomsOfLinkage = []string{
	"linkage", "linkage/internal/explain", "linkage/internal/learn", "linkage/internal/judge", "linkage/internal/find", "linkage/internal/steps",
	"linkage/internal/memory", "linkage/internal/held", "linkage/internal/columns", "linkage/internal/decide", "linkage/internal/entities",
	"linkage/internal/model", "linkage/internal/kinds",
	"linkage/internal/windows", "linkage/internal/compare", "linkage/internal/closeness", "linkage/internal/parallel",
}

func TestTheRoomsOfLinkageImportWhatIsBelow(t *testing.T) {
	found := 0
	for _, p := range listPackages(t) {
		name, _ := p.name()
		at := slices.Index(roomsOfLinkage, name)
		if at < 0 {
			continue
		}
		found++
		for _, i := range p.Imports {
			if of, _ := within(i); slices.Contains(roomsOfLinkage[:at], of) {
				t.Errorf("%s imports %s, which is above it", name, of)
			}
		}
	}
	if found != len(roomsOfLinkage) {
		t.Errorf("%d of the %d rooms of linkage are there", found, len(roomsOfLinkage))
	}
}
