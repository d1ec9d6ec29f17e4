// Package docs reads the documents that benchmarks are made of.
package docs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A Doc is a line of a file.
type Doc struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Each calls visit for each document of a file of JSON, .zst or not.
func Each(name string, visit func(Doc) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = bufio.NewReader(file)
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(4<<30))
		if err != nil {
			return err
		}
		defer z.Close()
		in = z
	}
	for d := json.NewDecoder(in); ; {
		var doc Doc
		if err := d.Decode(&doc); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := visit(doc); err != nil {
			return err
		}
	}
}
