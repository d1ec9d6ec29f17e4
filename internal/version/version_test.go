package version

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionAndCommitComeFromTheFirstPlaceThatKnowsThem(t *testing.T) {
	const placeholder = "$Format:%H$\n"
	stamp := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main:     debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: modified}, {Key: "vcs.revision", Value: "abc"}},
		}
	}
	module := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	for _, c := range []struct {
		name, release, commit, archived string
		info                            *debug.BuildInfo
		want                            string
	}{
		{"nothing", "", "", placeholder, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "version unknown (built without version control information)"},
		{"no build information", "", "", placeholder, &debug.BuildInfo{}, "version unknown (built without version control information)"},
		{"a checkout", "", "", placeholder, stamp("false"), "version unknown, commit abc"},
		{"a changed checkout", "", "", placeholder, stamp("true"), "version unknown, commit abc-modified"},
		{"a module", "", "", placeholder, module, "v1.2.3"},
		{"the linker", "v2.0.0", "def", placeholder, stamp("true"), "v2.0.0 def"},
		{"an archive of a release", "", "", "abc v1.0.0\n", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "v1.0.0 abc"},
		{"an archive without a tag", "", "", "abc \n", &debug.BuildInfo{}, "version unknown, commit abc"},
		{"an archive, and the linker", "v2.0.0", "", "abc v1.0.0\n", &debug.BuildInfo{}, "v2.0.0 abc"},
		{"an archive that was put under version control", "", "", "def v1.0.0\n", stamp("false"), "version unknown, commit abc"},
	} {
		if got := text(c.release, c.commit, c.archived, c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestArchivesOfTheSourceCarryTheirCommit(t *testing.T) {
	attributes, err := os.ReadFile("../../.gitattributes")
	if err != nil || !strings.Contains(string(attributes), "internal/version/archive.txt export-subst\n") {
		t.Errorf("git archive leaves archive.txt as it is: %q, %v", attributes, err)
	}
	hash, _, _ := strings.Cut(archived, " ")
	if !strings.HasPrefix(archived, "$Format:%H ") && len(hash) != 40 {
		t.Errorf("archive.txt has %q", archived)
	}
}
