package action

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/output"
)

// inputs are the values of flags, or of inputs with the same names. A flag wins.
type inputs struct {
	compare       ci.Inputs
	req           session.Request
	failLevel     string
	summary       bool
	targets       output.Targets
	version, help bool
}

// reportInputs are the inputs that name the file of a report: the input, the report's format, and its description in the help.
var reportInputs = []struct{ input, format, words string }{
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
	set.StringVar(&in.compare.Base, "base", "", "compare with `REV` instead of what the CI system says")
	set.StringVar(&in.compare.Head, "head", "", "judge `REV` (default HEAD if a base is given)")
	in.summary = true
	set.AddFlag(&pflag.Flag{Name: "strict", Usage: "turn strict rules on", Value: (*toggle)(&in.req.Strict), DefValue: "false", NoOptDefVal: "true"})
	set.StringVar(&in.req.WorkspaceKind, "workspace", "any", "accept workspaces of `KIND` root, examples or any")
	set.StringVarP(&in.req.Dir, "working-directory", "C", "", "judge the repository of `DIR` instead of the current directory's")
	set.StringVar(&in.req.TrustedConfig, "config", "", "take the configuration from `PATH` of the trusted side instead of .small-gate.yml")
	set.StringVar(&in.req.Floor, "floor", "", "judge by the configuration in `FILE` too, or by this text of several lines: the worse verdict counts (default $SMALL_GATE_FLOOR)")
	set.StringVar(&in.failLevel, "fail-level", "error", "fail on findings of `LEVEL` error, or warning and error")
	set.StringVar(&in.req.Lane, "lane", "", "judge the change as one in the `LANE` "+strings.Join(lane.Names, ", "))
	for _, p := range reportInputs {
		set.Func(p.input, "write a report as "+p.words+" to `FILE`", func(file string) error {
			if file == "" {
				return errors.New("the file name is empty")
			}
			return in.targets.Add(p.format, file)
		})
	}
	set.AddFlag(&pflag.Flag{Name: "summary", Usage: "write the step's summary, if the CI system has one", Value: (*toggle)(&in.summary), DefValue: "true", NoOptDefVal: "true"})
	set.StringVar(&in.req.Reader, "reader", repository.Auto, "read the repository with `READER` auto, go-git or git")
	set.Func("format", "write a report as `FORMAT` "+strings.Join(report.Formats(), ", ")+"; may be given several times", func(name string) error {
		if err := report.CheckFormat(name); err != nil {
			return err
		}
		return in.targets.Add(name, "")
	})
	set.Func("output", "write the report of the format before it to `FILE`", in.targets.SendTo)
	set.BoolVar(&in.version, "version", false, "print the version")
	set.BoolVarP(&in.help, "help", "h", false, "print this help")
	return set
}

// toggle is a flag that is true or false.
type toggle bool

// String and Type are shown by pflag.
func (t *toggle) String() string { return strconv.FormatBool(bool(*t)) }
func (*toggle) Type() string     { return "bool" }

// Set accepts what strconv.ParseBool does, such as true, True and 1.
func (t *toggle) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("it is true or false")
	}
	*t = toggle(on)
	return nil
}

// InputNames returns the flags that are also inputs of a workflow's step.
func InputNames() (names []string) {
	new(inputs).flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"format", "output", "version", "help"}, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// parse reads the command line and the step's inputs. It continues after an error, so that the requested reports are known and contain it.
func (in *inputs) parse(args []string, system *ci.System, env map[string]string) error {
	set := in.flags()
	set.Usage = func() {}
	errs := []error{set.Parse(args)}
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("small-action takes no arguments, but %q was given", set.Arg(0)))
	}
	for _, name := range InputNames() {
		value := input(system, env, name)
		if value == "" || set.Changed(name) {
			continue
		}
		if err := set.Set(name, value); err != nil {
			errs = append(errs, err)
		}
		if name == "lane" {
			in.req.LaneFrom = lane.FromInput
		}
	}
	return together(append(errs, in.check())...)
}

// together returns one failure for all errors; nil if there is none.
func together(errs ...error) error {
	var messages []string
	out := &failure.Error{Err: errors.Join(errs...)}
	for _, err := range errs {
		if f := failure.Of(err); f != nil {
			messages, out.Remedy = append(messages, f.Message), cmp.Or(out.Remedy, f.Remedy)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	out.Message = strings.Join(messages, "; ")
	return out
}

// input returns the value of a step's input; empty if the system has no such inputs.
func input(system *ci.System, env map[string]string, name string) string {
	if system.InputPrefix == "" {
		return ""
	}
	variable := system.InputPrefix + strings.ToUpper(name)
	if value := strings.TrimSpace(env[variable]); value != "" {
		return value
	}
	return strings.TrimSpace(env[strings.ReplaceAll(variable, "-", "_")]) // a shell cannot pass on a name with a dash
}

// check validates values before anything is judged.
func (in *inputs) check() error {
	if in.failLevel != "error" && in.failLevel != "warning" {
		return &failure.Error{Message: fmt.Sprintf("there is no fail-level %q", in.failLevel), Remedy: "use error or warning"}
	}
	if config := in.req.TrustedConfig; config != "" && (path.Clean(config) != config || path.IsAbs(config) || strings.HasPrefix(config, "..")) {
		return &failure.Error{
			Message: fmt.Sprintf("config is %q, which is not the path of a file in a repository", config),
			Remedy:  "name it from the repository's root, for example ci/small-gate.yml",
		}
	}
	return nil
}
