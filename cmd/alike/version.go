package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/version"
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
			printVersion(cmd)
			return nil
		},
	}
}

func printVersion(cmd *cobra.Command) {
	fmt.Fprintf(cmd.OutOrStdout(), "alike %s\n%s %s/%s\n%s\n%s\n", version.Text(),
		runtime.Version(), runtime.GOOS, runtime.GOARCH,
		shingle.Options{}.String(), alike.DefaultScheme())
}
