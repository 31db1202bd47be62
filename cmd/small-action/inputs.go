package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report"
)

// inputs are what the caller says: as flags, or as the inputs of an action,
// which have the same names. A flag wins over an input.
type inputs struct {
	base, head, dir, workspace, config, reader, failLevel string
	lane                                                  string
	laneFrom                                              lane.Source
	strict, summary                                       bool
	targets                                               []target
	version, help                                         bool
}

// target is one report to be written: a format, and the file it goes to;
// without a file, standard output.
type target struct{ format, file string }

// paths are the inputs that name a report's file, with the format's name.
var paths = []struct{ input, format, words string }{
	{"sarif", "sarif", "SARIF, for code scanning,"},
	{"junit", "junit", "JUnit, for test reports,"},
	{"codequality", "gitlab", "GitLab's Code Quality"},
	{"html", "html", "HTML, for people,"},
	{"json", "json", "JSON, which leaves nothing out,"},
	{"markdown", "markdown", "Markdown"},
}

func (in *inputs) flags() *pflag.FlagSet {
	set := pflag.NewFlagSet("small-action", pflag.ContinueOnError)
	set.SortFlags = false
	set.StringVar(&in.base, "base", "", "compare with `REV` instead of what the CI system says")
	set.StringVar(&in.head, "head", "", "judge `REV` (HEAD, if only a base is given)")
	in.summary = true
	set.AddFlag(&pflag.Flag{Name: "strict", Usage: "turn strict rules on", Value: (*toggle)(&in.strict), DefValue: "false", NoOptDefVal: "true"})
	set.StringVar(&in.workspace, "workspace", "any", "accept workspaces of `KIND` root, examples or any")
	set.StringVarP(&in.dir, "working-directory", "C", "", "judge the repository that `DIR` is in instead of the current directory's")
	set.StringVar(&in.config, "config", "", "take the configuration from `PATH` of the trusted tree instead of .small-gate.yml")
	set.StringVar(&in.failLevel, "fail-level", "error", "fail from `LEVEL` error or warning on")
	set.StringVar(&in.lane, "lane", "", "judge the change as one in the `LANE` "+strings.Join(policy.LaneNames, ", "))
	for _, p := range paths {
		set.Func(p.input, "write a report as "+p.words+" to `FILE`", func(file string) error { return in.reportTo(p.format, file) })
	}
	set.AddFlag(&pflag.Flag{Name: "summary", Usage: "write the step's summary, where the CI system has one", Value: (*toggle)(&in.summary), DefValue: "true", NoOptDefVal: "true"})
	set.StringVar(&in.reader, "reader", entrypoint.ReaderAuto, "read the repository with `READER` auto, go-git or git")
	set.Func("format", "write a report as `FORMAT` "+strings.Join(report.Formats(), ", ")+"; may be given several times", in.format)
	set.Func("output", "write the report of the format before it to `FILE`", in.output)
	set.BoolVar(&in.version, "version", false, "print the version")
	set.BoolVarP(&in.help, "help", "h", false, "print this help")
	return set
}

// toggle is a flag that is true or false.
type toggle bool

// String and Type are what pflag shows of it.
func (t *toggle) String() string { return strconv.FormatBool(bool(*t)) }
func (*toggle) Type() string     { return "bool" }

// Set takes what Go, YAML and people mostly write.
func (t *toggle) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("it is true or false")
	}
	*t = toggle(on)
	return nil
}

// actionInputs are the flags that an action has as inputs.
var actionInputs = []string{
	"base", "head", "strict", "workspace", "working-directory", "config", "fail-level", "lane",
	"sarif", "junit", "codequality", "html", "json", "markdown", "summary", "reader",
}

// parse reads the command line and, where the platform has actions, their
// inputs. It goes on after an error as far as it can, so that the reports that
// are asked for can say what was wrong.
func (in *inputs) parse(args []string, env map[string]string) error {
	set := in.flags()
	set.Usage = func() {}
	errs := []error{set.Parse(args)}
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("there are no arguments, but %q was given", set.Arg(0)))
	}
	switch ci.Detect(env) {
	case ci.GitHub, ci.Forgejo, ci.Gitea:
		action := githubactions.New(githubactions.WithGetenv(func(key string) string { return env[key] }))
		for _, name := range actionInputs {
			value := action.GetInput(name)
			if value == "" {
				// A shell cannot hand on a name with a dash.
				value = action.GetInput(strings.ReplaceAll(name, "-", "_"))
			}
			if value == "" || set.Changed(name) {
				continue
			}
			if err := set.Set(name, value); err != nil {
				errs = append(errs, err)
			}
			if name == "lane" {
				in.laneFrom = lane.FromInput
			}
		}
	}
	return errors.Join(append(errs, in.check())...)
}

// check demands values that are known before anything is judged.
func (in *inputs) check() error {
	if in.failLevel != "error" && in.failLevel != "warning" {
		return fmt.Errorf("there is no fail-level %q\nuse error or warning", in.failLevel)
	}
	if in.config != "" && (path.Clean(in.config) != in.config || path.IsAbs(in.config) || strings.HasPrefix(in.config, "..")) {
		return fmt.Errorf("config is %q, which is not the path of a file in a repository\nname it from the repository's root, for example ci/small-gate.yml", in.config)
	}
	return nil
}

// reportTo adds a report.
func (in *inputs) reportTo(format, file string) error {
	if file == "" {
		return errors.New("the file name is empty")
	}
	if err := in.taken(file); err != nil {
		return err
	}
	in.targets = append(in.targets, target{format, file})
	return nil
}

// taken refuses a file that another report goes to.
func (in *inputs) taken(file string) error {
	at, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	for _, t := range in.targets {
		if t.file == "" {
			continue
		}
		if other, err := filepath.Abs(t.file); err != nil || other == at {
			return errors.Join(err, fmt.Errorf("the %s report goes to %s already; two reports need two files", t.format, file))
		}
	}
	return nil
}

// format takes --format.
func (in *inputs) format(name string) error {
	if err := report.CheckFormat(name); err != nil {
		return err
	}
	in.targets = append(in.targets, target{format: name})
	return nil
}

// output takes --output.
func (in *inputs) output(file string) error {
	if len(in.targets) == 0 || in.targets[len(in.targets)-1].file != "" {
		return errors.New("put a --format before each --output")
	}
	if file == "" {
		return errors.New("the file name is empty")
	}
	if err := in.taken(file); err != nil {
		return err
	}
	in.targets[len(in.targets)-1].file = file
	return nil
}
