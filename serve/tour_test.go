package serve

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheTourOfTheDocsWorks runs the commands of docs/service.md against a server, which answers none by an error.
func TestTheTourOfTheDocsWorks(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	if out, err := exec.Command("curl", "--help", "all").Output(); err != nil || !strings.Contains(string(out), "--json") {
		t.Skip("needs curl 7.82")
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "service.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tour, _ := strings.Cut(string(page), "## A tour")
	_, tour, _ = strings.Cut(tour, "```sh\n")
	tour, _, found := strings.Cut(tour, "```\n")
	if !found {
		t.Fatal("the page has no tour")
	}
	s := start(t, Config{})
	const local = "localhost:8080"
	script := "set -euo pipefail\ncurl() { command curl --silent --fail-with-body --noproxy '*' \"$@\"; }\n" + strings.ReplaceAll(tour, local, strings.TrimPrefix(s.url, "http://"))
	out, err := exec.Command(bash, "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for line := range strings.Lines(tour) { // answers that the tour shows come in this order
		shown, isAnswer := strings.CutPrefix(strings.TrimSpace(line), "# ")
		for piece := range strings.SplitSeq(shown, "…") {
			if isAnswer {
				var ok bool
				if _, rest, ok = strings.Cut(rest, piece); !ok {
					t.Fatalf("the tour shows %s, but the answers are\n%s", shown, out)
				}
			}
		}
	}
}
