package bucketurl

import (
	"runtime"
	"testing"
)

func TestURLs(t *testing.T) {
	for url, want := range map[string]URL{
		"s3://b":                        {Scheme: "s3", Bucket: "b"},
		"S3://b/":                       {Scheme: "s3", Bucket: "b"},
		"s3://b/k%20 ü/#x":              {Scheme: "s3", Bucket: "b", Key: "k%20 ü/#x"},
		"s3://b/p?.jsonl":               {Scheme: "s3", Bucket: "b", Key: "p?.jsonl"},
		"s3://b/year=20?4/m":            {Scheme: "s3", Bucket: "b", Key: "year=20?4/m"},
		"s3://b/k?endpoint=http://h:1/": {Scheme: "s3", Bucket: "b", Key: "k", Query: "endpoint=http://h:1/"},
		"s3://b?x=1":                    {Scheme: "s3", Bucket: "b", Query: "x=1"},
	} {
		if at, ok := Parse(url); !ok || at != want {
			t.Errorf("%s: %+v, want %+v", url, at, want)
		}
	}
	for _, path := range []string{"a", "/a/b", "-", "", "a:b", `c:\a`, "C:/a", "://x", "1s://b"} {
		if Is(path) || LocalPath(path) != path {
			t.Errorf("%q is a URL", path)
		}
	}
	if !Is("s3://b/c") || !Is("http://x") || Is("file:///a") {
		t.Error("Is")
	}
}

func TestLocalPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for url, want := range map[string]string{
		"file:///a/b.txt": "/a/b.txt", "file://localhost/a": "/a", "file://./a/b": "a/b", "file:///a%20b": "/a b",
		"file:///100%/x": "/100%/x", "file:///a?create_dir=1": "/a", "file:///p?.txt": "/p?.txt", "file:///": "/",
	} {
		if got := LocalPath(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestInside(t *testing.T) {
	for _, tt := range []struct {
		object, input string
		want          bool
	}{
		{"s3://b/in/x.csv", "s3://b/in", true},
		{"s3://b/in/x.csv", "s3://b", true},
		{"s3://b/in/x.csv", "s3://b/in/*.csv", true},
		{"s3://b/in/x.csv", "s3://b/in/x.csv", true},
		{"s3://b/in/x.csv", "s3://b/i*", true},
		{"s3://b/in/x.csv", "s3://b/in/*.jsonl", false},
		{"s3://b/in.csv", "s3://b/in", false},
		{"s3://c/in/x.csv", "s3://b/in", false},
		{"gs://b/in/x.csv", "s3://b/in", false},
		{"s3://b/in/x.csv", "in", false},
		{"in/x.csv", "s3://b/in", false},
	} {
		if got := Inside(tt.object, tt.input); got != tt.want {
			t.Errorf("%s in %s: %v", tt.object, tt.input, got)
		}
	}
}
