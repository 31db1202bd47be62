package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
)

func (a *app) checkCommand() *cobra.Command {
	var state session.State
	c := withHelp("check", &cobra.Command{
		Args: limitArgs(0, 1, "at most one path"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuseEmpty(c, "ref", "against"); err != nil {
				return err
			}
			req := a.newRequest()
			if path := firstOrEmpty(args); filepath.IsAbs(path) {
				req.Dir = path
			} else if path != "" {
				req.Dir = filepath.Join(cmp.Or(req.Dir, "."), path)
			}
			if info, err := os.Stat(req.Dir); err == nil && !info.IsDir() && state != (session.State{}) {
				return &failure.Error{Message: wording.Printable(req.Dir) + " is not a directory", Remedy: "name a directory; `small-hook audit` judges every log"}
			}
			report := judge.Check(c.Context(), req, state)
			if f := report.Failure; f != nil && errors.Is(f, gate.ErrNothing) && !state.Recursive {
				if restore := edit.RestoreCommand(c.Context(), req); restore != "" {
					copied := *f // the error may be shared
					copied.Remedy = "if it was deleted: `" + restore + "`; else " + f.Remedy
					report.Failure = &copied
				}
			}
			return a.writeReports(c.Context(), report, false)
		},
	})
	c.Flags().BoolVar(&state.Staged, "staged", false, "judge the files in the index")
	c.Flags().StringVar(&state.Ref, "ref", "", "judge the files of the commit `REV`")
	c.Flags().StringVar(&state.Against, "against", "", "also judge how the log has changed since the commit `REV`")
	c.Flags().BoolVar(&state.Recursive, "recursive", false, "judge every workspace at or below the directory")
	return c
}

func (a *app) rangeCommand() *cobra.Command {
	return a.addLaneFlag(withHelp("range", &cobra.Command{
		Args: limitArgs(1, 1, "one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.writeReports(c.Context(), judge.Range(c.Context(), a.withProgressBar(a.newRequest()), args[0]), false)
		},
	}))
}

func (a *app) auditCommand() *cobra.Command {
	return withHelp("audit", &cobra.Command{
		Args: limitArgs(0, 1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.writeReports(c.Context(), judge.Audit(c.Context(), a.withProgressBar(a.newRequest()), firstOrEmpty(args)), false)
		},
	})
}

func (a *app) mergeCheckCommand() *cobra.Command {
	return withHelp("merge-check", &cobra.Command{
		Args: limitArgs(2, 2, "two revisions, OURS and THEIRS"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.writeReports(c.Context(), judge.MergeCheck(c.Context(), a.newRequest(), args[0], args[1]), false)
		},
	})
}

func firstOrEmpty(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// limitArgs refuses fewer than least and more than most arguments, and empty ones. expected describes them in the error.
func limitArgs(least, most int, expected string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usageError(c, "%s takes %s", c.Name(), expected)
		}
		if slices.Contains(args, "") {
			return usageError(c, "%s takes %s, and an argument is empty", c.Name(), expected)
		}
		return nil
	}
}

// refuseEmpty refuses flags that are given with an empty value: a script whose variable is not set would get what the command does without the flag.
func refuseEmpty(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		f := c.Flags().Lookup(name)
		texts := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			texts = list.GetSlice()
		}
		if f.Changed && (len(texts) == 0 || slices.Contains(texts, "")) {
			return usageError(c, "--%s is empty", name)
		}
	}
	return nil
}
