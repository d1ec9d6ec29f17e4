package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
)

// joinFile is what --save-config writes and --config reads.
type joinFile struct {
	LeftID    string          `json:"left_id,omitempty"`
	RightID   string          `json:"right_id,omitempty"`
	Fields    []linkage.Field `json:"fields,omitempty"`
	Match     linkage.Match   `json:"match,omitempty"`
	Threshold float64         `json:"threshold,omitempty"`
	Precision float64         `json:"precision,omitempty"`
	Top       int             `json:"top,omitempty"`
	With      []string        `json:"with,omitempty"`
	linkage.Weighing
	linkage.Searching
	// Model is what the join has learned. alike match decides by it; another join learns its own.
	Model *linkage.Model `json:"model,omitempty"`
}

// joinConfig returns the library's configuration.
func (f *joinFlags) joinConfig(cmd *cobra.Command, args []string) (c alike.JoinConfig, err error) {
	s, err := f.settings(cmd.Flags())
	if err != nil {
		return c, err
	}
	size, err := parseSize("max-record", f.maxRecord)
	if err != nil {
		return c, err
	}
	if f.plot != "" && f.truth == "" {
		return c, usagef("--plot draws the scores of --truth: name a file of true pairs")
	}
	if (f.audit != 0) != (f.audited != "") {
		return c, usagef("--audit and --audit-labels belong together: the number of pairs, and a file for the answers")
	}
	if err := errors.Join(checkThreads(f.threads), checkSkipped(f.skipped), checkLabels("--audit-labels", f.audited)); err != nil {
		return c, err
	}
	c = alike.JoinConfig{
		Left: args[0], LeftID: s.LeftID, RightID: s.RightID, Fields: s.Fields,
		Corpus:    corpus.Options{Format: corpus.Format(f.format.value), MaxRecord: size},
		Threshold: s.Threshold, Precision: s.Precision, Match: s.Match, Top: s.Top, With: s.With, Threads: f.threads,
		Sources: f.sources, Same: f.same, Weighing: s.Weighing, Searching: s.Searching,
		Considered: f.truth != "" || f.found.page != "", Evidence: explainedOn(f.page), Audit: f.audit, Fail: dedup.OnError(f.onError.value) == dedup.OnErrorFail,
	}
	if len(args) > 1 {
		c.Right = args[1]
	}
	if f.model != "" {
		if c.Model, err = alike.ReadJoinModel(f.model); err != nil {
			return c, fmt.Errorf("--model %w", err)
		}
		if !cmd.Flags().Changed("match") && f.config == "" {
			c.Match = "" // the model's
		}
	}
	if c.Memory, err = budgetOf(f.memory); err != nil {
		return c, err
	}
	limitHeap(c.Memory)
	if f.fresh && f.work == "" {
		return c, usagef("--fresh is about a --work folder: name it, or leave --fresh out")
	}
	c.Work, c.Fresh = f.work, f.fresh
	useObjects(&c.Corpus)
	if err := c.Validate(); err != nil {
		return c, usageError{err}
	}
	if f.verdicts != "" {
		if c.Verdicts, err = alike.ReadSaid(f.verdicts); err != nil {
			return c, fmt.Errorf("--verdicts: %w", err)
		}
	}
	if f.known != "" {
		o := c.Corpus
		o.Format = corpus.ByName
		if c.Known, err = alike.ReadLinks(cmd.Context(), f.known, o); err != nil {
			return c, fmt.Errorf("--against-links: %w", err)
		}
	}
	return c, nil
}

// settings returns the settings of the file and the flags; flags override the file.
func (f *joinFlags) settings(flags *pflag.FlagSet) (s joinFile, err error) {
	if f.config != "" {
		data, err := os.ReadFile(f.config)
		if err != nil {
			return s, err
		}
		data, _ = bom.Text(data)
		if err := fault.Decode(bytes.NewReader(data), &s, true); err != nil {
			return s, fmt.Errorf("--config %s: %w", fault.Shown(f.config), err)
		}
		// The zero value stands for the default, and is written jaccard.
		var given struct{ Measure *measure.Measure }
		if err := json.Unmarshal(data, &given); err == nil && given.Measure != nil && *given.Measure == measure.Jaccard {
			return s, usagef("--config %s: %w", fault.Shown(f.config), errJaccard)
		}
	}
	s.LeftID, s.RightID = cmp.Or(f.leftID, s.LeftID), cmp.Or(f.rightID, s.RightID)
	if flags.Changed("match") || s.Match == "" {
		s.Match = linkage.Match(f.match.value)
	}
	if flags.Changed("threshold") {
		if s.Threshold, s.Precision = 0, 0; f.threshold != "auto" {
			if s.Threshold, err = strconv.ParseFloat(f.threshold, 64); err != nil || !(s.Threshold > 0) { // also refuses NaN
				return s, usagef("--threshold is %q: take a similarity above 0 and up to 1, or auto", f.threshold)
			}
		}
	}
	if flags.Changed("precision") {
		if s.Precision = f.precision; !(s.Precision > 0) {
			return s, usagef("--precision is %v: take a share above 0 and below 1", f.precision)
		}
		if !flags.Changed("threshold") {
			s.Threshold = 0
		}
	}
	if flags.Changed("top") {
		s.Top = f.top
	}
	if flags.Changed("with") {
		s.With = f.with
	}
	if err := f.weigh.apply(&s, flags); err != nil {
		return s, err
	}
	if len(f.fields) > 0 {
		s.Fields = nil
		for _, spec := range f.fields {
			field, err := parseField(spec)
			if err != nil {
				return s, err
			}
			s.Fields = append(s.Fields, field)
		}
	}
	return s, nil
}

// saveConfig writes the choices that were made.
func (f *joinFlags) saveConfig(cmd *cobra.Command, c alike.JoinConfig, r *alike.JoinResult) error {
	s := joinFile{LeftID: c.LeftID, RightID: c.RightID, Match: r.Match, Threshold: c.Threshold, Precision: c.Precision, Top: c.Top, With: c.With, Weighing: c.Weighing, Searching: c.Searching, Model: r.Model}
	for _, column := range r.Columns {
		s.Fields = append(s.Fields, column.Field)
	}
	if err := writeJSON(cmd, f.save, s); err != nil {
		return fmt.Errorf("--save-config: %w", err)
	}
	return nil
}

var errJaccard = errors.New("measure is jaccard: tokens of records have weights; take weighted-jaccard or cosine")

func (f *weighFlags) apply(s *joinFile, flags *pflag.FlagSet) (err error) {
	if flags.Changed("idf") {
		if s.IDF = linkage.IDF(f.idf.value); s.IDF != linkage.IDFSketch {
			s.Epsilon, s.Delta = 0, 0 // of the sketch in the file
		}
	}
	if flags.Changed("idf-epsilon") {
		s.Epsilon = f.epsilon
	}
	if flags.Changed("idf-delta") {
		s.Delta = f.delta
	}
	if flags.Changed("measure") {
		if s.Measure, err = measure.Parse(f.measure.value); err != nil {
			return usageError{err}
		}
		if s.Measure == measure.Jaccard {
			return usagef("--%w", errJaccard)
		}
	}
	if flags.Changed("repetitions") {
		s.Repetitions = f.repetitions
	}
	if flags.Changed("candidates") {
		s.Candidates = linkage.Candidates(f.candidates.value)
	}
	if flags.Changed("recall") {
		if err := recipeflags.CheckRecall(f.recall); err != nil {
			return err
		}
		s.Recall = f.recall
	}
	return nil
}

// checkNames checks the names of what a command about tables writes beside its output.
func (f *joinFlags) checkNames() error {
	if err := f.found.check(); err != nil {
		return err
	}
	for _, of := range []struct {
		flag, name string
		endings    []string
	}{
		{"--summary", f.summary, jsonEndings}, {"--save-config", f.save, jsonEndings}, {"--explain-pairs", f.page, pageEndings},
		{"--plot", f.plot, plotEndings}, {"--skipped", f.skipped, lineEndings}, {"--audit-labels", f.audited, tableEndings},
	} {
		if err := checkEnding(of.flag, of.name, of.endings); err != nil {
			return err
		}
	}
	return nil
}
