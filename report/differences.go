package report

import (
	"strings"

	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

// part is a piece of a text.
type part struct {
	Text  string
	Alone bool // the other text does not have it
	Left  int  // characters that are left out; Text is empty then
}

const (
	leastShared = 3    // tokens of a passage that both texts have; of short texts 1
	shortText   = 200  // bytes
	mostShared  = 240  // characters of a shared passage that are shown
	mostShown   = 2400 // characters of a text
	mostLooked  = 64 << 10
)

// differences cuts two texts into shared parts and parts that only one has. O(n log n) in their
// lengths, up to 64 KiB of each.
func differences(t *text.Tokenizer, a, b []byte) (partsA, partsB []part) {
	a, b = a[:min(len(a), mostLooked)], b[:min(len(b), mostLooked)]
	sharedA, sharedB := make([]bool, len(a)), make([]bool, len(b))
	least := leastShared
	if min(len(a), len(b)) < shortText {
		least = 1
	}
	for _, s := range passage.InTexts(t, a, b, least) {
		mark(sharedA[s.StartA:s.EndA])
		mark(sharedB[s.StartB:s.EndB])
	}
	return parts(a, sharedA), parts(b, sharedB)
}

func mark(places []bool) {
	for i := range places {
		places[i] = true
	}
}

// parts cuts a text where shared passages begin and end. White space and punctuation between two
// shared passages are not marked as belonging to one text only.
func parts(doc []byte, shared []bool) (all []part) {
	room := mostShown
	for start := 0; start < len(doc); {
		end := start + 1
		for end < len(doc) && shared[end] == shared[start] {
			end++
		}
		piece := strings.ToValidUTF8(string(doc[start:end]), "\uFFFD")
		alone := !shared[start] && plain(piece) != ""
		start = end
		if room <= 0 {
			continue
		}
		if n := len(all); n > 0 && !alone && !all[n-1].Alone && all[n-1].Left == 0 {
			all[n-1].Text += piece
			continue
		}
		all = append(all, part{Text: piece, Alone: alone})
		room -= min(len(piece), mostShared)
	}
	return shorten(all)
}

// shorten leaves out the middle of long parts.
func shorten(all []part) (short []part) {
	room := mostShown
	for _, p := range all {
		runes := []rune(p.Text)
		most := min(mostShared, room)
		if p.Alone {
			most = room
		}
		if most <= 0 {
			return append(short, part{Left: len(runes)})
		}
		if len(runes) > most+most/4 {
			half := max(1, most/2)
			short = append(short, part{Text: string(runes[:half]), Alone: p.Alone}, part{Left: len(runes) - 2*half},
				part{Text: string(runes[len(runes)-half:]), Alone: p.Alone})
		} else {
			short = append(short, p)
		}
		room -= min(len(runes), most)
	}
	return short
}
