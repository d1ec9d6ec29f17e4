package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

// bar is a bar of a histogram, in a square of 100 by 100.
type bar struct {
	X, Y, Width, Height string
	Title               string
	Link                string // address of what it stands for; "": none
}

// across is the table of removed documents by groups, without rows and columns in which there are none.
func across(a *dedup.ReportAcross) matrix {
	m := matrix{What: "removed", Of: cmp.Or(a.Of, "file")}
	name := func(names []string, i int) string {
		if i == len(names) {
			return "others"
		}
		return cmp.Or(cut(names[i], shownName), "none")
	}
	var columns []int
	for j := range len(a.Columns) + 1 {
		if slices.ContainsFunc(a.Removed, func(row []int64) bool { return row[j] > 0 }) {
			columns = append(columns, j)
			m.Top = append(m.Top, name(a.Columns, j))
		}
	}
	for i, row := range a.Removed {
		if slices.Max(row) == 0 {
			continue
		}
		m.Left = append(m.Left, name(a.Rows, i))
		var counts []int64
		for _, j := range columns {
			counts = append(counts, row[j])
		}
		m.Counts = append(m.Counts, counts)
	}
	return m
}

// share is a part of a whole in per cent.
func share(part, whole int64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// decided says in a sentence when documents count as similar.
func decided(s *dedup.Summary) string {
	switch {
	case s.CandidateMethod == dedup.MethodRecords:
		return "Records that belong together: " + s.Decision + "."
	case s.Decision != "":
		return "Signatures decide: " + s.Decision + "."
	}
	name := s.Measure
	if name == "" {
		name = "Jaccard similarity"
	}
	how := fmt.Sprintf("Documents are alike from a %s of %v on", name, s.Threshold)
	if s.CandidateMethod == dedup.MethodExact {
		return how + "; all pairs were found."
	}
	if s.Bands > 0 {
		how += fmt.Sprintf("; candidates share one of %d bands of %d rows", s.Bands, s.Rows)
	}
	share := fmt.Sprintf("%.2f", 100*s.ExpectedRecall.Low)
	if s.ExpectedRecall.Range {
		share += fmt.Sprintf(" to %.2f", 100*s.ExpectedRecall.High)
	}
	return fmt.Sprintf("%s; at the threshold %s %% of the pairs are found.", how, share)
}

// histogram returns the bars of counts for equal parts of 0 to 1, without those of 0.
func histogram(counts []int64) []bar {
	from := func(part int) string { return fmt.Sprintf("%.2f", float64(part)/float64(len(counts))) }
	return barsOf(counts, from, func(n int64) float64 { return float64(n) })
}

// barsOf returns the bars of counts for equal parts, without those of 0. from says where a part begins, height is on
// any scale.
func barsOf(counts []int64, from func(part int) string, height func(n int64) float64) (all []bar) {
	most := int64(0)
	for _, n := range counts {
		most = max(most, n)
	}
	width := 100 / float64(len(counts))
	for i, n := range counts {
		if n == 0 {
			continue
		}
		tall := max(1, 100*height(n)/height(most))
		all = append(all, bar{
			X: fmt.Sprintf("%.2f", width*float64(i)), Y: fmt.Sprintf("%.2f", 100-tall),
			Width: fmt.Sprintf("%.2f", width*0.9), Height: fmt.Sprintf("%.2f", tall),
			Title: fmt.Sprintf("%s to %s: %s", from(i), from(i+1), humanize.Comma(n)),
		})
	}
	return all
}

func curve(recall []float64) string {
	var points strings.Builder
	for i, p := range recall {
		fmt.Fprintf(&points, "%.1f,%.1f ", 100*float64(i)/float64(len(recall)-1), 100*(1-p))
	}
	return strings.TrimSpace(points.String())
}

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
