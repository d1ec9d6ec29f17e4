package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/internal/recipeflags"
)

// choice is a flag that takes one of a few words, as recipeflags.Word is.
type choice struct {
	value   string
	allowed []string
}

// choose makes a choice; the first word is the default.
func choose[T ~string](allowed ...T) choice {
	c := choice{value: string(allowed[0])}
	for _, a := range allowed {
		c.allowed = append(c.allowed, string(a))
	}
	return c
}

func (c *choice) String() string  { return c.value }
func (c *choice) Type() string    { return "word" }
func (c *choice) Words() []string { return c.allowed }

// Set takes a word of the list.
func (c *choice) Set(s string) error {
	return (&recipeflags.Word{To: &c.value, Allowed: c.allowed}).Set(s)
}

// completeChoices lets the shell complete the words of cmd's choices.
func completeChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if c, ok := f.Value.(interface{ Words() []string }); ok {
			words := cobra.FixedCompletions(c.Words(), cobra.ShellCompDirectiveNoFileComp)
			if err := cmd.RegisterFlagCompletionFunc(f.Name, words); err != nil {
				panic(err) // registered twice: a bug of this program
			}
		}
	})
}

// explainFlag words an error of a flag like other errors: what is wrong, and what would be right.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if remedy := otherCommand[name][cmd.Name()]; remedy != "" {
			return usagef("unknown flag --%s: %s", name, remedy)
		}
		if near := nearestFlag(cmd, name); near != "" {
			return usagef("unknown flag --%s: did you mean --%s?", name, near)
		}
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return usagef("--%s is %q: %s", f.Name, invalid.GetValue(), recipeflags.Wanted(f, invalid, cmp.Or(limits[cmd.Name()+" "+f.Name], limits[f.Name])))
	case errors.As(err, &bare):
		return usagef("--%s lacks its value", bare.GetFlag().Name)
	}
	return usageError{err}
}

// otherCommand says, by flag and command, what to use instead of a flag that only another command
// has.
var otherCommand = map[string]map[string]string{
	"with": {
		"dedup":  "--against removes what is like other documents, alike pairs --with lists pairs across two collections",
		"sketch": "sketch takes all inputs alike, alike pairs --with lists pairs across two collections",
	},
	"against": {"pairs": "--with lists the pairs with a second collection, alike dedup --against removes what is like other documents"},
}

// limits are the largest values of flags that only commands have, or have another limit in.
var limits = map[string]uint64{"threads": mostThreads, "partitions": 1 << 16, "tune bits": 32}

// nearestFlag returns the flag that a mistyped name most likely stands for, "" when no flag is
// near.
func nearestFlag(cmd *cobra.Command, name string) string {
	nearest, least := "", max(2, len(name)/3)+1
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := editDistance(name, f.Name); d < least && d < len(f.Name) {
			nearest, least = f.Name, d
		}
	})
	return nearest
}

// editDistance counts the bytes to insert, delete or replace between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// mostThreads is more than any machine has processors, and few enough to begin them all.
const mostThreads = 1 << 12
