package cli

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/output"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/repository"
	"github.com/small-gate/small-gate/internal/wording"
)

// flags are the flags that all commands have.
type flags struct {
	dir, workspace, config, color string
	lane                          string
	reader                        string
	strict, each, quiet           bool
	maxFileSize                   int64
	targets                       output.Targets
}

func (f *flags) register(set *pflag.FlagSet) {
	set.VarP(dirFlag{f}, "dir", "C", "look at `DIR` instead of the current directory; :/DIR begins at the root of the work tree")
	set.BoolVar(&f.strict, "strict", false, "turn strict rules on")
	set.StringVar(&f.workspace, "workspace", "", "accept workspaces of `KIND` root, examples or any")
	set.StringVar(&f.config, "config", "", "use `FILE` instead of the trusted .small-gate.yml")
	set.StringVar(&f.reader, "reader", repository.Auto, "read the repository with `READER` auto, go-git or git")
	set.BoolVar(&f.quiet, "quiet", false, "say nothing if nothing is wrong")
	set.StringVar(&f.color, "color", "auto", "color text `WHEN`: auto, always or never")
	set.BoolVar(&f.each, "each", false, "judge the workspaces at every commit, not only at the tip")
	set.Int64Var(&f.maxFileSize, "max-file-size", 0, "read files of up to `BYTES` (default 16 MiB)")
	set.Var(formatFlag{f, report.CheckFormat}, "format", "write the report as `FORMAT`: "+wording.List(report.Formats(), "or")+"; may be given several times")
	set.Var(outputFlag{f}, "output", "write the report of the format before it to `FILE`")
}

// claims gives a command that judges a change the flag with which the caller claims a lane.
func (a *app) claims(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.flags.lane, "lane", "", "judge the change as one in the `LANE` "+wording.List(policy.LaneNames, "or"))
	return c
}

// dirFlag is the directory to look at. As in git's pathspecs, ":/" is the root of the work tree.
type dirFlag struct{ flags *flags }

func (v dirFlag) String() string { return "" }
func (dirFlag) Type() string     { return "string" }

// Set takes --dir.
func (v dirFlag) Set(dir string) error {
	if rest, fromTop := strings.CutPrefix(dir, ":/"); fromTop {
		top, err := session.Top()
		if err != nil {
			return err
		}
		dir = filepath.Join(top, filepath.FromSlash(rest))
	}
	v.flags.dir = dir
	return nil
}

// formatFlag adds a report, of a format that check accepts.
type formatFlag struct {
	flags *flags
	check func(name string) error
}

func (formatFlag) String() string { return "" }
func (formatFlag) Type() string   { return "format" }

// Set takes --format.
func (v formatFlag) Set(name string) error {
	if err := v.check(name); err != nil {
		return err
	}
	return v.flags.targets.Add(name, "")
}

// outputFlag names the file of the report before it.
type outputFlag struct{ flags *flags }

func (outputFlag) String() string { return "" }
func (outputFlag) Type() string   { return "file" }

// Set takes --output.
func (v outputFlag) Set(file string) error { return v.flags.targets.SendTo(file) }

// askedFor finds the reports that a command line asks for, whatever else is wrong with it: parsing stops at the first error, and
// the reader of a report wants to know of that too.
func askedFor(args []string) output.Targets {
	var f flags
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		var err error
		switch name {
		case "--":
			return f.targets
		case "--format":
			err = formatFlag{&f, report.CheckFormat}.Set(value)
		case "--output":
			err = outputFlag{&f}.Set(value)
		}
		if err != nil {
			continue // no report can be written so, and parsing reports the error itself
		}
	}
	return f.targets
}

// request is what the flags ask of an entry point.
func (a *app) request() session.Request {
	return session.Request{
		Dir: a.flags.dir, Strict: a.flags.strict, Workspace: a.flags.workspace, Config: a.flags.config,
		MaxFileSize: a.flags.maxFileSize, Reader: a.flags.reader, Each: a.flags.each, Lane: a.flags.lane, Environ: a.Environ, Now: time.Now(),
	}
}
