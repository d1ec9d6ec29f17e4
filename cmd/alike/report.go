package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
)

const reportHelp = `Make the page of a finished run again.

DIR is the output folder of alike dedup or alike decontaminate. Its report.html is made from its
report.json alone: the documents need not be there any more. The bytes are those that the run
wrote, unless this program is a newer one, which may show more.`

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:     "report DIR",
		Short:   "Make the page of a finished run again",
		Long:    reportHelp,
		Example: "  alike report clean/",
		Args:    exactly(1, "name the output folder of a run"),
		RunE:    func(_ *cobra.Command, args []string) error { return alike.WriteReport(args[0]) },
	}
}
