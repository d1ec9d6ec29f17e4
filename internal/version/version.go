// Package version says which version and commit a program of alike was built from.
//
// A build by Go in a checkout, or of a module at a version, carries both in its build information. Programs that build
// a release or a wheel without it set them by the linker:
//
//	go build -ldflags "-X github.com/alike-dev/alike/internal/version.release=v1.2.3
//	                   -X github.com/alike-dev/alike/internal/version.commit=0123abcd" ./cmd/alike
//
// An archive of the source has them in archive.txt, which git archive fills in.
package version

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

// release and commit are set by the linker.
var release, commit string

// archived is "COMMIT VERSION" in an archive, and otherwise the placeholder for these; the version may be missing.
//
//go:embed archive.txt
var archived string

// Text returns the version and the commit as far as they are known, and in words that they are not.
func Text() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return text(release, commit, archived, info)
}

// text takes each of version and commit from the first place that knows it.
func text(release, commit, archived string, info *debug.BuildInfo) string {
	if release == "" && info.Main.Version != "(devel)" {
		release = info.Main.Version
	}
	if commit == "" {
		commit = stamped(info)
	}
	if !strings.HasPrefix(archived, "$") {
		hash, tag, _ := strings.Cut(strings.TrimSpace(archived), " ")
		if commit == "" {
			commit = hash
		}
		if release == "" && commit == hash {
			release = tag
		}
	}
	switch {
	case release == "" && commit == "":
		return "version unknown (built without version control information)"
	case release == "":
		return "version unknown, commit " + commit
	case commit == "":
		return release
	}
	return release + " " + commit
}

// stamped returns the commit in which Go has built the program, "" if it was not in a checkout.
func stamped(info *debug.BuildInfo) (commit string) {
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if commit != "" && modified {
		commit += "-modified"
	}
	return commit
}
