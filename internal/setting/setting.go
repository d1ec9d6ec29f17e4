// Package setting makes messages that name settings, so that programs can show their own names for
// them.
//
// The library knows a setting as a field of a Go struct; the user of a program knows it as a flag.
// A message that tells the user to change a setting keeps its Name apart from the text, so that a
// program can insert the flag instead:
//
//	err := setting.Errorf("%w; start over with %s", cause, setting.Fresh)
//	err.Error()                            // …; start over with Fresh
//	setting.Explain(err, flagOf)           // …; start over with --fresh
package setting

import (
	"fmt"
	"slices"
	"strings"
)

// A Name is the name of a field of dedup.Config, of corpus.Options, or of another struct that a
// caller of the library fills.
type Name string

// All settings that messages name.
const (
	Answer          Name = "Answer"
	Banding         Name = "Banding"
	Bits            Name = "Bits"
	BucketCap       Name = "BucketCap"
	Candidates      Name = "Candidates"
	Containment     Name = "Containment"
	Distance        Name = "Distance"
	Field           Name = "Field"
	Fold            Name = "Fold"
	Format          Name = "Format"
	Fresh           Name = "Fresh"
	Hash            Name = "Hash"
	Header          Name = "Header"
	IDF             Name = "IDF"
	IDField         Name = "IDField"
	Keep            Name = "Keep"
	Keys            Name = "Keys"
	Late            Name = "Late"
	Match           Name = "Match"
	MaxRecord       Name = "MaxRecord"
	Measure         Name = "Measure"
	Memory          Name = "Memory"
	MinBands        Name = "MinBands"
	MinLength       Name = "MinLength"
	Model           Name = "Model"
	NGram           Name = "NGram"
	NoSync          Name = "NoSync"
	Normalize       Name = "Normalize"
	OnError         Name = "OnError"
	Permutations    Name = "Permutations"
	Passage         Name = "Passage"
	Pipe            Name = "Pipe"
	Precision       Name = "Precision"
	Audit           Name = "Audit"
	Preset          Name = "Preset"
	Recall          Name = "Recall"
	Refresh         Name = "Refresh"
	Repetitions     Name = "Repetitions"
	Rows            Name = "Rows"
	SaveConfig      Name = "SaveConfig"
	Scheme          Name = "Scheme"
	Seed            Name = "Seed"
	Shared          Name = "Shared"
	ShingleHash     Name = "ShingleHash"
	Same            Name = "Same"
	Source          Name = "Source"
	Star            Name = "Star"
	StopWords       Name = "StopWords"
	StripDiacritics Name = "StripDiacritics"
	TagPrefix       Name = "TagPrefix"
	TextField       Name = "TextField"
	ThirdTexts      Name = "ThirdTexts"
	Threshold       Name = "Threshold"
	Tokens          Name = "Tokens"
	Top             Name = "Top"
	Truth           Name = "Truth"
	Unique          Name = "Unique"
	Verify          Name = "Verify"
	Window          Name = "Window"
	WindowDocs      Name = "WindowDocs"
	Whole           Name = "Whole"
	With            Name = "With"
	Within          Name = "Within"
	By              Name = "By"
	Work            Name = "Work"
)

var Names = []Name{
	Banding, Bits, BucketCap, Candidates, Containment, Distance, Field, Fold, Format, Fresh, Hash, Header, IDF, IDField,
	Keep, Keys, Late, Match, MaxRecord, Measure, Memory, MinBands, MinLength, Model, NGram, NoSync, Normalize, OnError,
	Answer, Audit, Passage, Permutations, Pipe, Precision, Preset, Recall, Refresh, Repetitions, Rows, Same, SaveConfig, Scheme, Seed, Shared, ShingleHash, Source, Star,
	StopWords, StripDiacritics, TagPrefix, TextField, ThirdTexts, Threshold, Tokens, Top, Truth, Unique, Verify, Whole, Window, WindowDocs, With,
	Within, By, Work,
}

// A Text is a message that may name settings. The zero value is an empty one.
type Text struct{ marked string }

// mark encloses every Name in a marked text. If data contain it, they can at worst be taken for a
// setting of the same name.
const mark = "\x00"

func marked(field string) string { return mark + field + mark }

// Textf is fmt.Sprintf for a message. Arguments may be Names and Texts.
func Textf(format string, args ...any) Text {
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case Name:
			if slices.Contains(Names, arg) { // a journal also has other settings
				args[i] = marked(string(arg))
			}
		case Text:
			args[i] = arg.marked
		}
	}
	return Text{fmt.Errorf(format, args...).Error()} // unlike Sprintf it knows %w
}

// String returns the message with settings as Go names them.
func (t Text) String() string { return t.Explain(func(field string) string { return field }) }

// Explain returns the message with every setting replaced by name(field), where field is the name
// of its field.
func (t Text) Explain(name func(field string) string) string {
	pieces := strings.Split(t.marked, mark)
	for i := 1; i+1 < len(pieces); i++ {
		if slices.Contains(Names, Name(pieces[i])) {
			pieces[i-1] += name(pieces[i]) + pieces[i+1]
			pieces = slices.Delete(pieces, i, i+2)
			i--
		}
	}
	return strings.Join(pieces, mark)
}

// Mark returns the text of an error in a form to store, from which Unmark makes a message that
// names the same settings.
func Mark(err error) string { return Explain(err, marked) }

// Unmark returns the message of a text that Mark has returned.
func Unmark(text string) Text { return Text{text} }

// An Error is an error whose text may name settings.
type Error struct {
	Text
	err error
}

// Errorf is fmt.Errorf with Names and Texts among the arguments.
func Errorf(format string, args ...any) error {
	return &Error{Textf(format, args...), fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the error that wraps what was formatted with %w.
func (e *Error) Unwrap() error { return e.err }

// An Explainer is an error whose text may name settings.
type Explainer interface {
	error
	// Explain returns the text with every setting named by name.
	Explain(name func(field string) string) string
}

// Explain returns the text of an error, and of all that it wraps, with settings named by name.
// Where an error rewords an error that it wraps, the settings in it keep their names.
func Explain(err error, name func(field string) string) string {
	return explain(err.Error(), err, name)
}

// explain replaces the texts of err and of the errors in it by their explained texts.
func explain(text string, err error, name func(field string) string) string {
	if e, ok := err.(Explainer); ok {
		text = strings.Replace(text, e.Error(), e.Explain(name), 1)
	}
	switch wraps := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wraps.Unwrap(); inner != nil {
			text = explain(text, inner, name)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wraps.Unwrap() {
			if inner != nil {
				text = explain(text, inner, name)
			}
		}
	}
	return text
}
