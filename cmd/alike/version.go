package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/shingle"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the default schemes",
		Args:  exactly(0, "there is nothing to name"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := keepApart([]string{"-"}, nil); err != nil {
				return err
			}
			version, revision := "unknown", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = " " + s.Value
					}
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "alike %s%s\n%s %s/%s\n%s\n%s\n", version, revision,
				runtime.Version(), runtime.GOOS, runtime.GOARCH,
				shingle.Options{}.String(), alike.DefaultScheme())
			return nil
		},
	}
}
