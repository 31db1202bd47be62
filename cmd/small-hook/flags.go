package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report"
)

// flags are the flags that all commands have.
type flags struct {
	dir, workspace, config, color string
	lane                          string
	reader                        string
	strict, each                  bool
	maxFileSize                   int64
	targets                       []target
}

// target is one report to be written: a format, and the file it goes to;
// without a file, standard output (standard error in a hook).
type target struct{ format, file string }

func (f *flags) register(set *pflag.FlagSet) {
	set.StringVarP(&f.dir, "dir", "C", "", "look at `DIR` instead of the current directory")
	set.BoolVar(&f.strict, "strict", false, "turn strict rules on")
	set.StringVar(&f.workspace, "workspace", "", "accept workspaces of `KIND` root, examples or any")
	set.StringVar(&f.config, "config", "", "use `FILE` instead of the trusted .small-gate.yml")
	set.StringVar(&f.reader, "reader", entrypoint.ReaderAuto, "read the repository with `READER` auto, go-git or git")
	set.StringVar(&f.color, "color", "auto", "color text `WHEN`: auto, always or never")
	set.BoolVar(&f.each, "each", false, "judge the workspaces as of every commit, not the tip's alone")
	set.Int64Var(&f.maxFileSize, "max-file-size", 0, "read files of up to `BYTES` (default 16 MiB)")
	set.Var(formatFlag{f, report.CheckFormat}, "format", "write the report as `FORMAT`: "+eitherOf(report.Formats())+"; may be given several times")
	set.Var(outputFlag{f}, "output", "write the report of the format before it to `FILE`")
}

// claims gives a command the flag with which the caller claims a lane: those
// that judge a change have it.
func (a *app) claims(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.flags.lane, "lane", "", "judge the change as one in the `LANE` "+eitherOf(policy.LaneNames))
	return c
}

// eitherOf lists names for people.
func eitherOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// formatFlag begins a target, of a format that check accepts.
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
	v.flags.targets = append(v.flags.targets, target{format: name})
	return nil
}

// outputFlag completes the target before it.
type outputFlag struct{ flags *flags }

func (outputFlag) String() string { return "" }
func (outputFlag) Type() string   { return "file" }

// Set takes --output.
func (v outputFlag) Set(file string) error {
	if file == "" {
		return fmt.Errorf("the file name is empty")
	}
	n := len(v.flags.targets)
	for _, t := range v.flags.targets {
		if t.file != "" && filepath.Clean(t.file) == filepath.Clean(file) {
			return fmt.Errorf("the %s report goes to %s already; two reports need two files", t.format, file)
		}
	}
	if n == 0 {
		v.flags.targets = append(v.flags.targets, target{format: "text", file: file})
		return nil
	}
	last := &v.flags.targets[n-1]
	if last.file != "" {
		return fmt.Errorf("the %s report goes to %s already; put a --format before each --output", last.format, last.file)
	}
	last.file = file
	return nil
}

// noReport refuses --format and --output for a command that writes no report.
func (a *app) noReport(c *cobra.Command, _ []string) error {
	if len(a.flags.targets) == 0 {
		return nil
	}
	return fmt.Errorf("%[1]s writes no report, so that it takes neither --format nor --output; its exit status and its text say what was done\nsee: %[2]s --help", c.Name(), c.CommandPath())
}

// askedFor finds the reports that a command line asks for without minding what
// else it says: parsing stops at the first flag that is wrong, and the reader
// of a report wants to know of that too.
func askedFor(args []string) []target {
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
			continue // no report can be written so; the error itself is told
		}
	}
	return f.targets
}

// request is what the flags say about a judgement.
func (a *app) request() entrypoint.Request {
	return entrypoint.Request{
		Dir: a.flags.dir, Strict: a.flags.strict, Workspace: a.flags.workspace, Config: a.flags.config,
		MaxFileSize: a.flags.maxFileSize, Reader: a.flags.reader, Each: a.flags.each, Lane: a.flags.lane, Environ: a.environ, Now: time.Now(),
	}
}

func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
