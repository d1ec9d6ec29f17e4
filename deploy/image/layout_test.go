package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// blob returns what a descriptor names, if it is that.
func blob(t *testing.T, dir string, d descriptor) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(d.Digest, "sha256:")))
	if err != nil || len(content) != d.Size || digestOf(content) != d.Digest {
		t.Fatalf("%+v: %d bytes, %v", d, len(content), err)
	}
	return content
}

func blobJSON[T any](t *testing.T, dir string, d descriptor) (value T) {
	t.Helper()
	if err := json.Unmarshal(blob(t, dir, d), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// The same files and time give the same digest, others give another one, and all that the layout names is there.
func TestALayoutIsWholeAndTheSameEveryTime(t *testing.T) {
	created := time.Unix(1_700_000_000, 0).UTC()
	files := func(program string) []file {
		return []file{{"alike", 0o755, 0, []byte(program)}, {"data/", 0o700, user, nil}}
	}
	images := []image{{"linux", "amd64", files("one")}, {"linux", "arm64", files("two")}}
	write := func(created time.Time, images []image) (dir, digest string) {
		dir = t.TempDir()
		digest, err := writeLayout(dir, "v1", created, images)
		if err != nil {
			t.Fatal(err)
		}
		return dir, digest
	}
	dir, first := write(created, images)
	if _, second := write(created, images); first != second {
		t.Errorf("%s, then %s", first, second)
	}
	for name, other := range map[string]func() (string, string){
		"another time":    func() (string, string) { return write(created.Add(time.Second), images) },
		"another program": func() (string, string) { return write(created, []image{images[0], {"linux", "arm64", files("three")}}) },
		"fewer platforms": func() (string, string) { return write(created, images[:1]) },
	} {
		if _, digest := other(); digest == first {
			t.Errorf("%s has the same digest", name)
		}
	}
	var top index
	content, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil || json.Unmarshal(content, &top) != nil || top.Manifests[0].Digest != first || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1" {
		t.Fatalf("%s, %v", content, err)
	}
	all := blobJSON[index](t, dir, top.Manifests[0])
	for i, d := range all.Manifests {
		m := blobJSON[manifest](t, dir, d)
		c := blobJSON[configuration](t, dir, m.Config)
		if *d.Platform != c.platform || c.Architecture != images[i].machine || c.Config.User != "65532:65532" {
			t.Errorf("%+v is for %+v", d, c)
		}
		z, err := gzip.NewReader(strings.NewReader(string(blob(t, dir, m.Layers[0]))))
		if err != nil {
			t.Fatal(err)
		}
		archive, err := io.ReadAll(z)
		if err != nil || digestOf(archive) != c.RootFS.DiffIDs[0] {
			t.Errorf("the layer is not the one of the configuration: %v", err)
		}
		holds(t, string(archive), images[i].files, created)
	}
}

// holds checks that an archive has files.
func holds(t *testing.T, archive string, files []file, created time.Time) {
	t.Helper()
	r := tar.NewReader(strings.NewReader(archive))
	for _, f := range files {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || h.Name != f.name || h.Mode != f.mode || h.Uid != f.owner || !h.ModTime.Equal(created) || string(content) != string(f.content) {
			t.Errorf("%+v has %q, %v", h, content, err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("there is more: %v", err)
	}
}

// What cannot be built leaves nothing behind, and what is there is not touched.
func TestALayoutIsWhollyThereOrNotAtAll(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	out := filepath.Join(t.TempDir(), "layout")
	for _, platform := range []string{"linux", "linux/nothing"} {
		if _, err := run(t.Context(), out, []string{platform}, "v1", "", ""); err == nil {
			t.Errorf("%s is built", platform)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s leaves a folder: %v", platform, err)
		}
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), out, []string{"linux/nothing"}, "v1", "", ""); !errors.Is(err, os.ErrExist) {
		t.Errorf("a folder that is there: %v", err)
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
}

// Both ways to an image give the same one, as far as its settings go.
func TestTheDockerfileSaysTheSame(t *testing.T) {
	dir := t.TempDir()
	if _, err := writeLayout(dir, "v1", time.Unix(0, 0), []image{{"linux", "amd64", nil}}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var top index
	if err := json.Unmarshal(content, &top); err != nil {
		t.Fatal(err)
	}
	c := blobJSON[configuration](t, dir, blobJSON[manifest](t, dir, top.Manifests[0]).Config).Config
	list := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	docker, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"USER " + c.User, "WORKDIR " + c.WorkingDir, "VOLUME /data", "EXPOSE 8080", "STOPSIGNAL " + c.StopSignal, "ENTRYPOINT " + list(c.Entrypoint), "CMD " + list(c.Cmd)} {
		if !strings.Contains(string(docker), line+"\n") {
			t.Errorf("the Dockerfile lacks %s", line)
		}
	}
}
