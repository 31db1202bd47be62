package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
)

func (a *app) checkCommand() *cobra.Command {
	var what session.State
	c := described("check", &cobra.Command{
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
			if info, err := os.Stat(req.Dir); err == nil && !info.IsDir() && what != (session.State{}) {
				return &failure.Error{Message: wording.Printable(req.Dir) + " is not a directory", Remedy: "name a directory; `small-hook audit` judges every log"}
			}
			report := judge.Check(c.Context(), req, what)
			if f := report.Failure; f != nil && errors.Is(f, gate.ErrNothing) && !what.Recursive && edit.HadWorkspace(c.Context(), req) {
				said := *f
				said.Remedy = "if it was deleted: `small-hook restore`; else " + f.Remedy
				report.Failure = &said
			}
			return a.finish(c.Context(), report, false)
		},
	})
	c.Flags().BoolVar(&what.Staged, "staged", false, "judge the files in the index")
	c.Flags().StringVar(&what.Ref, "ref", "", "judge the files of the commit `REV`")
	c.Flags().StringVar(&what.Against, "against", "", "also judge what has become of the log since the commit `REV`")
	c.Flags().BoolVar(&what.Recursive, "recursive", false, "judge every workspace at or below the directory")
	return c
}

func (a *app) rangeCommand() *cobra.Command {
	return a.claims(described("range", &cobra.Command{
		Args: takes(1, 1, "one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), judge.Range(c.Context(), a.withProgress(a.request()), args[0]), false)
		},
	}))
}

func (a *app) auditCommand() *cobra.Command {
	return described("audit", &cobra.Command{
		Args: takes(0, 1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), judge.Audit(c.Context(), a.withProgress(a.request()), optional(args)), false)
		},
	})
}

func (a *app) mergeCheckCommand() *cobra.Command {
	return described("merge-check", &cobra.Command{
		Args: takes(2, 2, "two revisions, OURS and THEIRS"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), judge.MergeCheck(c.Context(), a.request(), args[0], args[1]), false)
		},
	})
}

func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// takes is for a command with least to most arguments; words describe them.
func takes(least, most int, words string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage(c, "%s takes %s", c.Name(), words)
		}
		return nil
	}
}
