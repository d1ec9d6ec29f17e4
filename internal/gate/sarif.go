package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// The rule and the schema of WriteSARIF.
const (
	sarifRule   = "near-duplicate"
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifPrint  = "alikePair/v1"
)

// The objects of SARIF 2.1.0 (OASIS, 2020) that WriteSARIF makes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifText `json:"rules"`
	}
	sarifText struct {
		ID    string       `json:"id"`
		Short sarifMessage `json:"shortDescription"`
		Help  sarifMessage `json:"help"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID     string             `json:"ruleId"`
		RuleIndex  int                `json:"ruleIndex"`
		Level      string             `json:"level"`
		Message    sarifMessage       `json:"message"`
		Locations  []sarifLocation    `json:"locations"`
		Related    []sarifLocation    `json:"relatedLocations"`
		Prints     map[string]string  `json:"partialFingerprints"`
		Baseline   string             `json:"baselineState,omitempty"`
		Properties map[string]float64 `json:"properties"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int64 `json:"startLine"`
	}
)

// WriteSARIF writes pairs in the form that code hosts and editors show, SARIF 2.1.0: each at its later document, with the
// earlier one beside it. fresh says that they are those that a baseline does not know.
func WriteSARIF(w io.Writer, version string, pairs []Pair, fresh bool) error {
	state := ""
	if fresh {
		state = "new"
	}
	results := []sarifResult{}
	for i := range pairs {
		p := &pairs[i]
		k := knownOf(p)
		of := unordered(k.TextA, k.TextB)
		related := locationOf(&p.A)
		related.ID, related.Message = 1, &sarifMessage{p.A.Name}
		results = append(results, sarifResult{
			RuleID: sarifRule, Level: "warning",
			// In a message [text](1) is a link to the related location.
			Message:   sarifMessage{fmt.Sprintf("%.0f %% like [%s](1)", 100*p.Similarity, escaped(p.A.Name))},
			Locations: []sarifLocation{locationOf(&p.B)}, Related: []sarifLocation{related},
			Prints: map[string]string{sarifPrint: of[0] + of[1]}, Baseline: state, Properties: map[string]float64{"similarity": p.Similarity},
		})
	}
	driver := sarifDriver{Name: "alike", Version: version, Rules: []sarifText{{
		sarifRule, sarifMessage{"Two texts are nearly the same"},
		sarifMessage{"Keep one of the two texts and refer to it, or accept the pair in a new baseline"},
	}}}
	log := sarifLog{sarifSchema, "2.1.0", []sarifRun{{sarifTool{driver}, "utf16CodeUnits", results}}}
	to := json.NewEncoder(w)
	to.SetIndent("", " ")
	to.SetEscapeHTML(false)
	return to.Encode(log)
}

// escaped returns a name for the text of a link.
func escaped(name string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(strings.ToValidUTF8(name, "\uFFFD"))
}

func locationOf(d *Document) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(d.Path)}}}
	if d.Line > 0 {
		l.Physical.Region = &sarifRegion{d.Line}
	}
	return l
}

// uriOf returns the URI of a file: relative if its path is. A URL stays as it is.
func uriOf(path string) string {
	if strings.Contains(path, "://") {
		return path
	}
	slashed := filepath.ToSlash(filepath.Clean(path))
	if filepath.IsAbs(path) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(slashed, "/")}).String()
	}
	return (&url.URL{Path: slashed}).String()
}
