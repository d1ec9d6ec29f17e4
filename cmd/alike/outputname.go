package main

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
)

// The endings of the names of what commands write.
var (
	linkEndings  = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"}
	pairEndings  = []string{".csv", ".jsonl", ".ndjson"}
	tableEndings = []string{".csv"}
	lineEndings  = []string{".jsonl", ".ndjson", ".json"}
	jsonEndings  = []string{".json"}
	pageEndings  = []string{".html", ".htm"}
	plotEndings  = []string{".svg"}
)

// formatEndings are the endings of names that say what is in a file. Of what a name with another ending says nothing
// is known, such as pairs.out or links.txt.
var formatEndings = strings.Fields(`.csv .tsv .tab .psv .json .jsonl .ndjson .xml .yaml .yml .toml .html .htm .svg .png .jpg .pdf .md
	.xls .xlsx .xlsm .xlsb .ods .doc .docx .odt .numbers .parquet .feather .arrow .orc .avro .lance .hdf5 .h5 .pickle .pkl .npy .npz .rds .rda .rdata
	.dta .sav .sas7bdat .dbf .mdb .accdb .db .sqlite .sqlite3 .duckdb .sql .proto .pb .msgpack .cbor .bson
	.zip .7z .rar .tar .tgz .tbz2 .txz .lz4 .br .sz .z .lzma .lzo`)

// checkEnding refuses the name of an output that says another format than what is written, which has one of some
// endings. A flag names the output. A device or pipe may have any name.
func checkEnding(flag, name string, endings []string) error {
	if at, err := os.Stat(name); err == nil && !at.Mode().IsRegular() {
		return nil
	}
	base, compression := endingOf(name)
	switch ending := path.Ext(base); {
	case slices.Contains(endings, ending) && (ending != ".parquet" || compression == corpus.Plain):
		return nil
	case slices.Contains(formatEndings, ending):
		return usagef("%s %s: what is written is not what this name says: let it end in %s", flag, fault.Shown(name), strings.Join(endings, ", "))
	}
	return nil
}

// endingOf returns the name of an output in lower case, without what a URL asks for and the ending of its compression.
func endingOf(name string) (base string, c corpus.Compression) {
	if bucketurl.Is(name) {
		name, _, _ = strings.Cut(name, "?")
	}
	name = strings.ToLower(name)
	if _, c, _ = corpus.NameFormat(name); c != corpus.Plain {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return name, c
}

// pairsAsJSON tells whether pairs are written as JSON lines: by the name of the output, or by --json.
func pairsAsJSON(output string, asked bool) (bool, error) {
	if err := checkEnding("-o", output, withJSON(pairEndings, asked)); err != nil {
		return false, err
	}
	base, _ := endingOf(output)
	switch format, _, _ := corpus.NameFormat(base); {
	case format == corpus.CSV && asked:
		return false, errTwoFormats(output)
	case format == corpus.JSONL:
		return true, nil
	}
	return asked, nil
}

// withJSON returns endings, and .json if JSON lines were asked for: then nobody takes the file for something else.
func withJSON(endings []string, asked bool) []string {
	if asked {
		return append(slices.Clone(endings), ".json")
	}
	return endings
}

func errTwoFormats(output string) error {
	return usagef("--json and -o %s say two formats: leave one out", fault.Shown(output))
}
