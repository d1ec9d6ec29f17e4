package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// lint fails where the linter finds fault with a configuration.
func lint(t *testing.T, name, config string) {
	t.Helper()
	lints, err := service.GlobalEnvironment().FullConfigSchema("", "").NewStreamConfigLinter().LintYAML([]byte(config))
	if err != nil || len(lints) > 0 {
		t.Errorf("%s: %v %v", name, lints, err)
	}
}

func TestExamplesAreWithoutFault(t *testing.T) {
	examples, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatal(examples, err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lint(t, path, string(data))
		if err := service.NewStreamBuilder().SetYAML(string(data)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```\n")

// A line of the documentation is a processor, a block of it a part of a pipeline.
func TestConfigurationsOfTheDocumentationAreWithoutFault(t *testing.T) {
	data, err := os.ReadFile("../../docs/connect.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(data), -1)
	processors := regexp.MustCompile("`(alike_dedupe: \\{.*?\\})`").FindAllStringSubmatch(string(data), -1)
	if len(blocks) == 0 || len(processors) == 0 {
		t.Fatalf("%d blocks and %d processors", len(blocks), len(processors))
	}
	for _, block := range blocks {
		lint(t, block[1], block[1])
	}
	for _, processor := range processors {
		lint(t, processor[1], "pipeline: { processors: [ { "+processor[1]+" } ] }")
	}
}
