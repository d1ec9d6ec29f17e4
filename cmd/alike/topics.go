package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A topic is a group of flags, and a page of help about them.
type topic struct {
	name, title string
	// flags are the names of flags, in the order of the help. One that means something else in some command is listed apart, as command:flag.
	flags string
	// note is what the page says besides, unless the command has an annotation of the topic's name.
	note string
}

// topics are all topics, in the order of the help. Every flag of every command is in one of them.
var topics = []topic{
	{name: "output", title: "What is written, and where", flags: "output results keep cluster ids-only tag tag-prefix duplicates summary pairs:clusters join:with shared hex passages plot html report by baseline write-baseline sarif add id no-sync json"},
	{name: "input", title: "What is read", flags: "among check:index mcp:index against with against-links question answer passage eval:clusters spans header format text-field id-field left-id right-id time-field fingerprints pre pre-glob pre-timeout max-record on-error skipped"},
	{name: "similarity", title: "What is alike, and how it is found", flags: "recipe sample wrong measure threshold precision recall candidates match top distance third-texts within examples ask verify hashes tune:bits bands rows min-bands bucket-cap scheme seed min-similarity"},
	{name: "units", title: "What is cut out of texts", flags: "unit min-tokens min-count code cut found-only"},
	{name: "text", title: "How text becomes shingles", flags: "ngram tokens normalize fold strip-diacritics stop-words min-token-length repetitions"},
	{name: "records", title: "Records of tables", flags: "records field source same unique known changes entities model config save-config truth probability accept verdicts audit audit-labels explain explain-pairs verbose idf join:repetitions pairs:top"},
	{name: "index", title: "Indexes", flags: "index build:keep columns containment keys build:verbose"},
	{name: "window", title: "What a stream remembers", flags: "window late window-docs refresh state replay"},
	{name: "service", title: "The service", flags: "data log snapshots listen serve:tokens tls-cert tls-key insecure stateless durability pprof metrics-listen"},
	{name: "resources", title: "Memory, threads and progress", flags: "memory threads work fresh dry-run timings progress metrics quiet"},
	{name: "tasks", title: "Runs on many machines", flags: "plan task partitions engine prices again pipe stage:columns print"},
	{name: presetsTopic, title: "Published systems", flags: "preset bits hash permutations shingle-hash idf-epsilon idf-delta join:measure", note: presetsHelp},
}

// presetsTopic has the flags that exist for published systems, which no other help names.
const presetsTopic = "presets"

// common are the flags that `alike COMMAND --help` shows, up to mostFlags. A command that is not here shows all but
// those of presets.
var common = map[string]string{
	"decontaminate": "output against question answer passage threshold cut found-only json format text-field id-field memory threads work quiet",

	"dedup":         "output keep against index ids-only json format text-field id-field recipe threshold ngram records work memory quiet",
	"pairs":         "output json with format text-field id-field recipe measure threshold ngram tokens records field work memory quiet",
	"passages":      "output unit min-tokens min-count code found-only json format text-field id-field on-error skipped threads memory quiet",
	"join":          "output with json left-id right-id against-links threshold precision match field model probability truth explain memory quiet",
	"entities":      "output json unique known id-field field precision threshold model summary explain format on-error memory quiet",
	"stream":        "duplicates tag format text-field id-field time-field threshold scheme distance ngram window late state memory metrics quiet",
	"index build":   "json format text-field id-field time-field recipe threshold ngram tokens keep columns containment keys memory threads quiet",
	"check":         "among index threshold top passages add id ngram tokens format text-field id-field skipped memory threads quiet",
	"mcp":           "among index threshold add ngram tokens format text-field id-field memory threads quiet",
	"search":        "json measure threshold candidates recall top passages format pre text-field id-field skipped memory threads quiet",
	"sketch":        "output hex format text-field id-field measure scheme seed ngram tokens normalize stop-words memory threads work quiet",
	"tune":          "json html plot format text-field measure threshold wrong precision examples ask recall hashes bits bands rows",
	"plan dedup":    "output results keep format text-field id-field measure threshold ngram records work memory partitions engine prices quiet",
	"plan passages": "output results unit min-tokens min-count threshold found-only format text-field id-field work memory partitions prices quiet",
	"plan pairs":    "output results format text-field id-field measure threshold ngram tokens records work memory partitions engine prices quiet",
	"plan join":     "output results with format left-id right-id candidates threshold match field model work memory partitions engine quiet",
}

// mostFlags is how many flags `alike COMMAND --help` shows at most.
const mostFlags = 16

func topicOf(cmd *cobra.Command, flag string) string {
	for _, name := range []string{cmd.Name() + ":" + flag, flag} {
		for _, t := range topics {
			if slices.Contains(strings.Fields(t.flags), name) {
				return t.name
			}
		}
	}
	return ""
}

// ofTopic returns the flags of a command that belong to a topic, in the order of the topic; wanted, unless nil, chooses
// among them.
func ofTopic(cmd *cobra.Command, t topic, wanted func(flag string) bool) *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	for _, name := range strings.Fields(t.flags) {
		f := cmd.Flags().Lookup(strings.TrimPrefix(name, cmd.Name()+":"))
		if f != nil && topicOf(cmd, f.Name) == t.name && !f.Hidden && (wanted == nil || wanted(f.Name)) {
			flags.AddFlag(f)
		}
	}
	return flags
}

// topicsOf returns the topics about which a command has flags.
func topicsOf(cmd *cobra.Command) (of []topic) {
	for _, t := range topics {
		if ofTopic(cmd, t, nil).HasFlags() {
			of = append(of, t)
		}
	}
	return of
}

// isCommon tells whether `alike COMMAND --help` shows a flag.
func isCommon(cmd *cobra.Command, flag string) bool {
	if names, ok := common[strings.TrimPrefix(cmd.CommandPath(), "alike ")]; ok {
		return slices.Contains(strings.Fields(names), flag)
	}
	return topicOf(cmd, flag) != presetsTopic
}

const helpAll = "help-all"

const presetsHelp = `Presets are settings of published systems. Flags override them:

  broder    pairs that share more than 5 of 200 minima of shingles of 54 visible
            ASCII characters: --tokens ascii --ngram 54 --bands 200 --rows 1
            --scheme 'kmins family=plainxor k=200' --min-bands 6 --shared
            --threshold 0.03 --verify sketch; min-bands follows the threshold.
            With --shingle-hash fnv1 and --permutations it agrees with the program.
  features  pairs that share 2 of 6 groups of 14 minima of shingles of 10 words:
            --ngram 10 --scheme 'kmins k=84' --bands 6 --rows 14 --min-bands 2
            --threshold 0.95 --verify none --shared

Others make the fingerprints of another program, byte for byte, which pairs, dedup,
stream and index compare by --distance, and sketch prints:

  hash4j-fastsimhash, hash4j-simhash
      SimHash of hash4j. The elements of the set are the text's words, cut at
      white space, hashed by komihash 5.0 over UTF-16. Takes --bits.
  exlsh-word, exlsh-char
      ExLSH's, for documents and for short strings: NFC, lower case, every run of
      bytes other than word characters of Latin-1 one space; words or characters;
      the SimHash of shingles of three (--ngram) by MD5 (--hash). Text flags that
      are given take the place of the preset's choice.

Of records, --idf sketch estimates by a count-min sketch how many records have a token,
and alike join --measure weighted-jaccard compares records by that similarity.

  alike pairs corpus/ --preset broder --timings stages.csv
  alike pairs news.jsonl --preset exlsh-word --distance 3
  alike sketch names.jsonl --preset exlsh-char --ngram 2 --hash xxh3`
