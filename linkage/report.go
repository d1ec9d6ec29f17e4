package linkage

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage/internal/decide"
)

// String describes in a few lines what was done, and the estimated quality.
func (r *Report) String() string {
	var w strings.Builder
	if r.Resumed {
		fmt.Fprintln(&w, "went on with the join that the work folder held")
	}
	among := humanize.Comma(int64(r.Left)) + " × " + counted(r.Right, "record")
	if r.OneTable {
		among = counted(r.Left, "record")
	}
	fmt.Fprintf(&w, "%s among %s, %s; %s considered\n", counted(r.Linked, "link"), among, r.Match, counted(r.Candidates, "candidate"))
	if r.Match == OneToOne {
		fmt.Fprintln(&w, describeAssignment(r.Assignment))
	}
	if estimates := r.Estimates(); estimates != "" {
		fmt.Fprintln(&w, estimates)
	}
	r.describeColumns(&w)
	r.describeVerdicts(&w)
	for _, note := range r.Told() {
		fmt.Fprintf(&w, "alike: %s\n", note)
	}
	for _, id := range r.Repeated {
		fmt.Fprintf(&w, "alike: %s is there more than once: links do not tell which record is meant\n", fault.Shown(id))
	}
	return w.String()
}

// describeColumns lists the columns that were compared, and says why others were not.
func (r *Report) describeColumns(w *strings.Builder) {
	var used, unused, reasons []string
	for _, c := range r.Columns {
		used = append(used, fault.ShownPair(c.Names()))
	}
	fmt.Fprintf(w, "compared: %s\n", strings.Join(used, ", "))
	columns := map[string][]string{}
	for _, u := range r.LeftOut {
		if columns[u.Reason] == nil {
			reasons = append(reasons, u.Reason)
		}
		columns[u.Reason] = append(columns[u.Reason], u.Name)
	}
	for _, reason := range reasons {
		unused = append(unused, fmt.Sprintf("%s (%s)", fault.List(columns[reason]), reason))
	}
	if len(unused) > 0 {
		fmt.Fprintf(w, "not compared: %s\n", strings.Join(unused, ", "))
	}
}

// describeVerdicts says what became of Config.Verdicts.
func (r *Report) describeVerdicts(w *strings.Builder) {
	if r.Verdicts+r.UnknownVerdicts == 0 {
		return
	}
	fmt.Fprintf(w, "verdicts: %s", counted(r.Verdicts, "pair"))
	if r.UnknownVerdicts > 0 {
		fmt.Fprintf(w, ", and %s of records that are not there", humanize.Comma(int64(r.UnknownVerdicts)))
	}
	if r.Parted > 0 {
		fmt.Fprintf(w, "; %s left out that would connect records which are different", counted(r.Parted, "link"))
	}
	fmt.Fprintln(w)
	for _, p := range r.Refused[:min(mostRefused, len(r.Refused))] {
		fmt.Fprintf(w, "alike: %s and %s were called the same, against other verdicts: they are kept apart\n", fault.Shown(p.A), fault.Shown(p.B))
	}
	if more := len(r.Refused) - mostRefused; more > 0 {
		fmt.Fprintf(w, "alike: and %s more\n", humanize.Comma(int64(more)))
	}
}

// describeAssignment says to what extent one-to-one links are the best choice.
func describeAssignment(a Assignment) string {
	text := fmt.Sprintf("one-to-one: the best choice in %s of records that hang together", counted(a.Components-a.Greedy, "group"))
	if a.Greedy > 0 {
		text += fmt.Sprintf("; the best pair first in %s of more than %s records or with an odd circle",
			counted(a.Greedy, "group"), humanize.Comma(Assigned))
	}
	return text
}

func counted(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return humanize.Comma(int64(n)) + " " + word
}

// unknownFrom is the width of a range from which it says nothing.
const unknownFrom = 0.3

// estimate sets the estimated quality.
func (r *Report) estimate(e decide.Estimates) {
	r.Matches, r.Precision, r.Recall = e.Matches, e.Precision.Likely, e.Recall.Likely
	r.ExpectedPrecision = [2]float64{e.Precision.Low, e.Precision.High}
	r.ExpectedRecall = [2]float64{e.Recall.Low, e.Recall.High}
	if r.Disputed || r.Linked == 0 {
		r.ExpectedPrecision = [2]float64{0, 1}
	}
	if r.Disputed || r.Wider {
		r.ExpectedRecall = [2]float64{0, 1}
	}
}

// Tells reports whether an expected range is narrow enough to say something.
func Tells(expected [2]float64) bool { return expected[1]-expected[0] <= unknownFrom } // not if it has no numbers

// leastRight is the least share of links of which so many must be right at least. What is removed wrongly is lost, and what is
// kept twice can still be removed: so two must be right for each that is wrong.
const leastRight = 2.0 / 3

// MostlyRight reports whether an expected precision tells something, and that at least two thirds are right.
func MostlyRight(precision [2]float64) bool { return Tells(precision) && precision[0] >= leastRight }

// Estimates says in words which share of the links is right, and which share of the matches was found, by the
// estimates. It is empty if there are no links.
func (r *Report) Estimates() string {
	if r.Linked == 0 {
		return ""
	}
	if r.Disputed {
		return "likely right and likely found: not known, because the data show two notions of what is the same thing, such as a " +
			"person and a household or a visit; labels, or a column that names the source of a record, would tell, and so would the user, by naming " +
			"columns in which one thing agrees"
	}
	if r.Wider {
		return fmt.Sprintf("likely right: %s of the links; likely found: not known, because records with less in common may be one thing too, such as "+
			"people of one household; labels would tell, and so would the user, by naming columns in which one thing agrees", shown(r.ExpectedPrecision))
	}
	text := fmt.Sprintf("likely right: %s of the links; likely found: %s of the matches", shown(r.ExpectedPrecision), shown(r.ExpectedRecall))
	if !Tells(r.ExpectedPrecision) || !Tells(r.ExpectedRecall) {
		text += "; labels would tell (alike label, alike learn)"
	}
	return text
}

// shown returns an expected range in words.
func shown(expected [2]float64) string {
	low, high := 100*expected[0], 100*expected[1]
	switch text := fmt.Sprintf("%.0f %% to %.0f %%", low, high); {
	case !Tells(expected):
		return fmt.Sprintf("not known (%s)", text)
	case high-low < 1:
		return fmt.Sprintf("%.1f %%", (low+high)/2)
	default:
		return text
	}
}
