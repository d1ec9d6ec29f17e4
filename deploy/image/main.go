// Command image builds a container image of alike as an OCI layout, without a daemon and without root. The same
// source, compiler and certificates give the same digest on every machine, since all times are that of the commit.
//
//	go run ./deploy/image -o alike.oci
//	skopeo copy oci:alike.oci:latest docker://registry.example/alike:1.0
//
// The image has the program, an empty folder /data and, if given, certificates of authorities; it has no shell.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("image: ")
	out := flag.String("o", "", "`folder` of the layout, which must not be there")
	platforms := flag.String("platform", "linux/amd64", "`platforms` of the image, separated by commas")
	tag := flag.String("tag", "latest", "`name` of the image within the layout")
	certificates := flag.String("certificates", "", "`file` with certificates of authorities, for buckets (default: none)")
	programs := flag.String("programs", "", "`folder` with the programs as SYSTEM_MACHINE/alike (default: they are built)")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	digest, err := run(context.Background(), *out, strings.Split(*platforms, ","), *tag, *certificates, *programs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(digest)
}

// run writes the layout with the program for each platform, which it builds unless there is a folder of programs. It
// returns the digest of what the tag names.
func run(ctx context.Context, out string, platforms []string, tag, certificates, programs string) (digest string, err error) {
	created, err := epoch(ctx)
	if err != nil {
		return "", err
	}
	files := []file{{name: "data/", mode: 0o700, owner: user}}
	if certificates != "" {
		content, err := os.ReadFile(certificates)
		if err != nil {
			return "", err
		}
		files = append(files, file{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: content})
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(out))
		}
	}()
	var images []image
	for _, platform := range platforms {
		system, machine, ok := strings.Cut(platform, "/")
		if !ok {
			return "", fmt.Errorf("-platform %s: give a system and a machine, such as linux/amd64", platform)
		}
		program, err := programFor(ctx, programs, system, machine)
		if err != nil {
			return "", err
		}
		with := append([]file{{name: "alike", mode: 0o755, content: program}}, files...)
		images = append(images, image{system, machine, with})
	}
	return writeLayout(out, tag, created, images)
}

// epoch returns the time that everything in the image has: SOURCE_DATE_EPOCH or the time of the commit.
func epoch(ctx context.Context) (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w; set SOURCE_DATE_EPOCH where there is no repository", err)
		}
		seconds = strings.TrimSpace(string(out))
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(n, 0).UTC(), nil
}

// programFor returns the program for a platform, from the folder if there is one.
func programFor(ctx context.Context, programs, system, machine string) ([]byte, error) {
	if programs == "" {
		return build(ctx, system, machine)
	}
	return os.ReadFile(filepath.Join(programs, system+"_"+machine, "alike"))
}

// build returns the program for a platform.
func build(ctx context.Context, system, machine string) (program []byte, err error) {
	dir, err := os.MkdirTemp("", "alike-image")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "alike")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-w", "-o", path, "github.com/alike-dev/alike/cmd/alike")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+system, "GOARCH="+machine)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build for %s/%s: %w", system, machine, err)
	}
	return os.ReadFile(path)
}
