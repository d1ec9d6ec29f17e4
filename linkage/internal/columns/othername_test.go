package columns

import (
	"fmt"
	"slices"
	"testing"
)

// TestValuesOutweighAName has songs, and the songs in films, whose "title" is that of the film. Some films are called like a song.
// A column whose values are few or numbers stays with its name, and so does one that shares some of its values.
func TestValuesOutweighAName(t *testing.T) {
	for name, test := range map[string]struct {
		song, film func(i int) string
		want       []Column
	}{
		"songs of films": {
			func(i int) string { return fmt.Sprintf("tune of morning %d", i) },
			func(i int) string { return fmt.Sprintf("tune of morning %d", 37*i) },
			[]Column{{Left: "title", Right: "song"}},
		},
		"a title that often is the song's": {
			func(i int) string { return fmt.Sprintf("tune of morning %d", i) },
			func(i int) string { return fmt.Sprintf("tune of morning %d", 2*i) },
			[]Column{{Left: "title", Right: "title"}},
		},
		"numbers": {
			func(i int) string { return fmt.Sprint(i) },
			func(i int) string { return fmt.Sprint(1000 + i) },
			[]Column{{Left: "title", Right: "title"}},
		},
		"few values": {
			func(i int) string { return fmt.Sprintf("kind %d", i%7) },
			func(i int) string { return fmt.Sprintf("sort %d", i%9) },
			[]Column{{Left: "title", Right: "title"}},
		},
	} {
		songs := &Sample{Names: []string{"title", "year"}}
		films := &Sample{Names: []string{"title", "song", "year"}}
		for i := range 400 {
			year := fmt.Append(nil, 1950+i%60)
			songs.Rows = append(songs.Rows, [][]byte{[]byte(test.song(i)), year})
			films.Rows = append(films.Rows, [][]byte{[]byte(test.film(i)), []byte(test.song(i)), year})
		}
		l, r := profiles(songs), profiles(films)
		var got []Column
		for _, p := range correspond(l, r, newValueSets(songs, films)) {
			if l[p[0]].name != "year" {
				got = append(got, Column{Left: l[p[0]].name, Right: r[p[1]].name})
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		// The same the other way round.
		got = nil
		for _, p := range correspond(r, l, newValueSets(films, songs)) {
			if r[p[0]].name != "year" {
				got = append(got, Column{Left: l[p[1]].name, Right: r[p[0]].name})
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, the other way round: %v, want %v", name, got, test.want)
		}
	}
}
