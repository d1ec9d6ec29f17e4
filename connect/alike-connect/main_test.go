package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
)

func TestExamplesHaveComponentsAndFieldsThatAreKnown(t *testing.T) {
	examples, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatal(examples, err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := service.NewStreamBuilder().SetYAML(string(data)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
