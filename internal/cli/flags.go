package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/output"
)

// flags has the values of the shared flags, and of --wait.
type flags struct {
	req     session.Request
	color   string
	quiet   bool
	verbose bool
	wait    time.Duration
	targets output.Targets
}

func (f *flags) register(set *pflag.FlagSet) {
	f.wait = lock.DefaultWait
	set.FuncP("dir", "C", "work in `DIR` instead of the current directory; :/DIR begins at the root of the work tree", f.setDir)
	set.BoolVar(&f.req.Strict, "strict", false, "turn strict rules on")
	set.StringVar(&f.req.WorkspaceKind, "workspace", "", "accept workspaces of `KIND` root, examples or any")
	set.Func("config", "use `FILE` instead of the trusted .small-gate.yml", fileNameSetter(&f.req.Config))
	set.Func("floor", "judge by the configuration in `FILE` too: the worse verdict counts (default $SMALL_GATE_FLOOR)", fileNameSetter(&f.req.Floor))
	set.StringVar(&f.req.Reader, "reader", repository.Auto, "read the repository with `READER` auto, go-git or git")
	set.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing if nothing is wrong")
	set.BoolVar(&f.verbose, "verbose", false, "list notes too, which need no action")
	f.color = "auto"
	set.Var((*colorMode)(&f.color), "color", "color text `WHEN`: auto, always or never")
	set.BoolVar(&f.req.EachCommit, "each", false, "judge the workspaces at every commit, not only at the tip")
	set.Int64Var(&f.req.MaxFileSize, "max-file-size", 0, "read files of up to `BYTES` (default: as configured, or 16 MiB)")
	set.Func("format", "write the report as `FORMAT`: "+wording.List(report.Formats(), "or")+"; may be given several times", f.formatAdder(report.CheckFormat))
	set.Func("output", "write the report in the format of the --format before it to `FILE`", f.targets.SendTo)
}

// colorMode is the value of --color. It is checked where the flag is read, so that its error is one of the command line.
type colorMode string

func (m *colorMode) String() string { return string(*m) }

// Type makes help show the default as that of a string.
func (m *colorMode) Type() string { return "string" }

func (m *colorMode) Set(mode string) error {
	if _, err := report.UseColor(mode, false, func(string) string { return "" }); err != nil {
		return err
	}
	*m = colorMode(mode)
	return nil
}

func (a *app) addLaneFlag(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.flags.req.Lane, "lane", "", "judge the change as one in the `LANE` "+wording.List(lane.Names, "or"))
	return c
}

// setDir handles --dir. As in git's pathspecs, ":/" is the root of the work tree.
func (f *flags) setDir(dir string) error {
	if rest, fromRoot := wording.CutTop(dir); fromRoot {
		root, err := session.WorkTreeRoot()
		if err != nil {
			return err
		}
		dir = filepath.Join(root, filepath.FromSlash(rest))
	}
	f.req.Dir = dir
	return nil
}

// fileNameSetter returns a handler for --config or --floor. It refuses an empty name: a script whose variable is not set would judge without the file.
func fileNameSetter(into *string) func(name string) error {
	return func(name string) error {
		if strings.TrimSpace(name) == "" {
			return errors.New("the file name is empty")
		}
		*into = name
		return nil
	}
}

// formatAdder returns a handler for --format, whose values check accepts.
func (f *flags) formatAdder(check func(name string) error) func(name string) error {
	return func(name string) error {
		if err := check(name); err != nil {
			return err
		}
		return f.targets.Add(name, "")
	}
}

// findReportTargets finds the reports that a command line asks for, even an invalid one: parsing stops at the first error, which the reports
// must contain.
func findReportTargets(args []string) output.Targets {
	var f flags
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		var err error
		switch name {
		case "--":
			return f.targets
		case "--format":
			err = f.formatAdder(report.CheckFormat)(value)
		case "--output":
			err = f.targets.SendTo(value)
		}
		if err != nil {
			continue // parsing reports this error
		}
	}
	return f.targets
}

func (a *app) newRequest() session.Request {
	req := a.flags.req
	req.Environ, req.Now, req.Version = a.Environ, time.Now(), version.Long("small-hook")
	req.Evidence = a.flags.targets.ShowEvidence()
	return req
}
