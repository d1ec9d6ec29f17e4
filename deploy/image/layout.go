package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// user is who the program runs as, without rights over anything but /data.
const user = 65532

// A file of an image; one whose name ends with / is a folder.
type file struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

// An image is what runs on one platform.
type image struct {
	system, machine string
	files           []file
}

// The types of the OCI's image specification, with the fields that are needed.
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *platform         `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	manifest struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        descriptor   `json:"config"`
		Layers        []descriptor `json:"layers"`
	}
	index struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}
	configuration struct {
		Created string `json:"created"`
		platform
		Config struct {
			User         string
			ExposedPorts map[string]struct{}
			Entrypoint   []string
			Cmd          []string
			Volumes      map[string]struct{}
			WorkingDir   string
			Labels       map[string]string
			StopSignal   string
		} `json:"config"`
		RootFS struct {
			Type    string   `json:"type"`
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// writeLayout writes an OCI layout with one image, or an index of several, under a tag. It returns the digest of what
// the tag names.
func writeLayout(dir, tag string, created time.Time, images []image) (digest string, err error) {
	var of []descriptor
	for _, i := range images {
		d, err := writeImage(dir, created, i)
		if err != nil {
			return "", err
		}
		of = append(of, d)
	}
	named := of[0]
	if len(of) > 1 {
		if named, err = writeJSON(dir, indexType, index{2, indexType, of}); err != nil {
			return "", err
		}
	}
	named.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag}
	top, err := json.Marshal(index{2, indexType, []descriptor{named}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), top, 0o666); err != nil {
		return "", err
	}
	return named.Digest, os.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o666)
}

// writeImage writes the layer, configuration and manifest of an image.
func writeImage(dir string, created time.Time, i image) (d descriptor, err error) {
	archive, err := pack(created, i.files)
	if err != nil {
		return d, err
	}
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := z.Write(archive); err != nil {
		return d, err
	}
	if err := z.Close(); err != nil {
		return d, err
	}
	layer, err := writeBlob(dir, layerType, compressed.Bytes())
	if err != nil {
		return d, err
	}
	c := configuration{Created: created.Format(time.RFC3339), platform: platform{i.machine, i.system}}
	c.Config.User = "65532:65532"
	c.Config.Entrypoint, c.Config.Cmd = []string{"/alike"}, []string{"serve", "--data", "/data", "--listen", ":8080"}
	c.Config.ExposedPorts = map[string]struct{}{"8080/tcp": {}}
	c.Config.Volumes, c.Config.WorkingDir, c.Config.StopSignal = map[string]struct{}{"/data": {}}, "/data", "SIGTERM"
	c.Config.Labels = map[string]string{"org.opencontainers.image.title": "alike"}
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{digestOf(archive)}
	config, err := writeJSON(dir, configType, c)
	if err != nil {
		return d, err
	}
	d, err = writeJSON(dir, manifestType, manifest{2, manifestType, config, []descriptor{layer}})
	d.Platform = &c.platform
	return d, err
}

// pack returns files as a tar archive, all of one time. The folders above a file come without being asked for.
func pack(created time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(f.name, "/") {
			kind = tar.TypeDir
		}
		header := tar.Header{
			Typeflag: kind, Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), ModTime: created,
			Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func writeJSON(dir, mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return writeBlob(dir, mediaType, content)
}

// writeBlob writes what is found by its digest.
func writeBlob(dir, mediaType string, content []byte) (descriptor, error) {
	digest := digestOf(content)
	folder := filepath.Join(dir, "blobs", "sha256")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return descriptor{}, err
	}
	err := os.WriteFile(filepath.Join(folder, strings.TrimPrefix(digest, "sha256:")), content, 0o666)
	return descriptor{MediaType: mediaType, Digest: digest, Size: len(content)}, err
}
