package main

import "github.com/spf13/pflag"

// sayDefault says in the help what is used if a flag is not given, where that depends on more than the flag: the help
// then does not print the flag's value, which is what is used in one case only.
func sayDefault(flags *pflag.FlagSet, name, text string) {
	f := flags.Lookup(name)
	f.Usage += " (default: " + text + ")"
	switch f.Value.Type() { // the help prints none if it is the zero value
	case "string":
		f.DefValue = ""
	case "bool":
		f.DefValue = "false"
	default:
		f.DefValue = "0"
	}
}
