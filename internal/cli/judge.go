package cli

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
)

func (a *app) checkCommand() *cobra.Command {
	var what session.What
	c := &cobra.Command{
		Use:   "check [PATH]",
		Short: "Judge the workspace of one directory as its files are",
		Long: "Judge the workspace of the directory PATH, or that of --dir, as its files are. Without either, it is the\n" +
			"workspace here or above, up to the root of the work tree.",
		Example: "  small-hook check\n" +
			"  small-hook check --strict packages/importer\n" +
			"  small-hook check --against HEAD",
		Args: takes(0, 1, "at most one path"),
		RunE: func(c *cobra.Command, args []string) error {
			for name, value := range map[string]string{"ref": what.Ref, "against": what.Against} {
				if value == "" && c.Flags().Changed(name) {
					return usage(c, "--%s takes a revision, and it is empty", name)
				}
			}
			req := a.request()
			if path := optional(args); filepath.IsAbs(path) {
				req.Dir = path
			} else if path != "" {
				req.Dir = filepath.Join(cmp.Or(req.Dir, "."), path)
			}
			return a.finish(c.Context(), entrypoint.Check(c.Context(), req, what), false)
		},
	}
	c.Flags().BoolVar(&what.Staged, "staged", false, "judge the files in the index")
	c.Flags().StringVar(&what.Ref, "ref", "", "judge the files of the commit `REV`")
	c.Flags().StringVar(&what.Against, "against", "", "also judge what has become of the log since the commit `REV`")
	c.Flags().BoolVar(&what.Recursive, "recursive", false, "judge every workspace at or below the directory")
	return c
}

func (a *app) rangeCommand() *cobra.Command {
	return a.claims(&cobra.Command{
		Use:   "range BASE..HEAD",
		Short: "Judge every commit that HEAD has and BASE lacks, and the two tips",
		Example: "  small-hook range origin/main..HEAD\n" +
			"  small-hook range origin/main..HEAD --format html --output gate.html",
		Args: takes(1, 1, "one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), entrypoint.Range(c.Context(), a.withProgress(a.request()), args[0]), false)
		},
	})
}

func (a *app) auditCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "audit [REV]",
		Short: "Judge every commit of a revision's history",
		Example: "  small-hook audit\n" +
			"  small-hook audit v1.2.0 --format json",
		Args: takes(0, 1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), entrypoint.Audit(c.Context(), a.withProgress(a.request()), optional(args)), false)
		},
	}
}

func (a *app) mergeCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "merge-check OURS THEIRS",
		Short:   "Predict whether THEIRS would merge cleanly into OURS, from their tips and merge base",
		Example: "  small-hook merge-check HEAD origin/main",
		Args:    takes(2, 2, "two revisions, OURS and THEIRS"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), entrypoint.MergeCheck(c.Context(), a.request(), args[0], args[1]), false)
		},
	}
}

func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// takes is for a command with at least and at most so many arguments; words say which.
func takes(least, most int, words string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage(c, "%s takes %s", c.Name(), words)
		}
		return nil
	}
}
