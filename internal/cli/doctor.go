package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/agent/installed"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/install"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/report/output"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) doctorCommand() *cobra.Command {
	c := withHelp("doctor", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			logs, logsErr := a.logPatterns(c.Context())
			found, err := install.Doctor(c.Context(), a.flags.req.Dir, logs...)
			if err != nil {
				return err
			}
			agents, err := installed.Doctor(c.Context(), a.flags.req.Dir)
			if err != nil {
				return err
			}
			if !found.Fires() || found.Driver.Broken || slices.ContainsFunc(agents, installed.Check.Broken) {
				a.status = statusFailed
			}
			scope, scopeErr := judge.Survey(c.Context(), a.newRequest())
			scopeErr = cmp.Or(scopeErr, logsErr)
			if found.RunIn = a.otherRepository(); found.RunIn != "" {
				for i := range agents {
					agents[i].Remedy = wording.RunIn(found.RunIn, agents[i].Remedy)
				}
				for i := range scope.Notes {
					scope.Notes[i] = wording.RunIn(found.RunIn, scope.Notes[i])
				}
			}
			asJSON := slices.Contains(a.flags.targets, output.Target{Format: "json"})
			switch {
			case asJSON && scopeErr != nil:
				return scopeErr // the report of the failure is the only document on standard output
			case asJSON:
				return a.printDiagnosis(found, agents, scope)
			}
			return cmp.Or(a.print(a.diagnosis(found, agents, scope, scopeErr == nil)), scopeErr)
		},
	})
	c.Flags().Func("format", "write it as `FORMAT`: text or json", a.flags.formatAdder(checkDoctorFormat))
	offerValues(c, "format", "text", "json")
	return c
}

// diagnosis returns the doctor's result as text. surveyed is true if scope could be determined.
func (a *app) diagnosis(found install.Diagnosis, agents []installed.Check, scope judge.HookSurvey, surveyed bool) string {
	text := version.Long("small-hook") + "\n" + found.Text() + installed.Text(agents) + "\nCI: " + a.ciSystem() + "\n"
	if !surveyed {
		return a.withoutHome(text)
	}
	strict := "not strict"
	if scope.Strict {
		strict = "strict"
	}
	text += fmt.Sprintf("Configuration: %s, %s, mode: %s\nReader: %s (%s)\n",
		sanitize.Line(scope.Policy), strict, scope.Mode, sanitize.Line(scope.Reader), sanitize.Line(scope.ReaderReason))
	for _, note := range scope.Notes {
		text += "Note: " + sanitize.Line(note) + "\n"
	}
	if len(scope.Workspaces)+len(scope.Logs) == 0 && !found.Repository.Bare {
		text += "Would judge: nothing yet (there is no .small/ directory in the index, and no log in the configuration)\n"
	}
	for _, l := range scope.Logs {
		text += "Would judge: the log " + sanitize.Line(l) + "\n"
	}
	for _, w := range scope.Workspaces {
		text += "Would judge: " + sanitize.Line(w) + "\n"
	}
	return a.withoutHome(text)
}

func (a *app) ciSystem() string {
	if system := ci.Detect(a.Variables()); system != ci.Other {
		return system.Name
	}
	return "none, or one that small-action does not know"
}

// withoutHome writes ~ for the home directory, whose name often identifies a person, but not in commands (between backticks).
func (a *app) withoutHome(text string) string {
	home := a.Getenv("HOME")
	if !filepath.IsAbs(home) || filepath.Dir(home) == home {
		return text
	}
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = abbreviate(parts[i], filepath.Clean(home)+string(filepath.Separator), "~"+string(filepath.Separator))
	}
	return strings.Join(parts, "`")
}

// abbreviate replaces the beginning of paths, but not what stands within a longer path.
func abbreviate(text, beginning, short string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, beginning)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		if unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune("._-~", last) {
			out.WriteString(beginning)
		} else {
			out.WriteString(short)
		}
		text = after
	}
}

func checkDoctorFormat(name string) error {
	if name != "text" && name != "json" {
		return fmt.Errorf("doctor writes text or json, not %q", name)
	}
	return nil
}

// doctorSchema names the schema of the doctor's JSON document. Members may be added, never removed.
const doctorSchema = "small-gate/doctor/v1"

func (a *app) printDiagnosis(found install.Diagnosis, agents []installed.Check, scope judge.HookSurvey) error {
	type object = map[string]any
	hooks := make([]object, len(found.Checks))
	for i, h := range found.Checks {
		hooks[i] = object{"hook": h.Hook, "path": h.Path, "fires": h.Fires, "proof": h.Proof, "why": h.Why, "fix": found.Typed(h.Remedy), "program": h.Program, "version": h.Version}
	}
	harnesses := make([]object, len(agents))
	for i, c := range agents {
		harnesses[i] = object{
			"agent": c.File.Harness.Name, "path": c.File.Path, "calls": c.Calls, "expected": c.Expected, "why": c.Why, "fix": c.Remedy,
			"commands": append([]string{}, c.Commands...), "trust": c.File.Trust,
		}
	}
	notes := []string{}
	for _, note := range found.Notes {
		notes = append(notes, found.Typed(note))
	}
	text, err := json.MarshalIndent(object{
		"schema": doctorSchema, "fires": found.Fires(), "hooks": hooks, "agents": harnesses, "merge_driver_broken": found.Driver.Broken, "manager": found.Manager,
		"version": version.Long("small-hook"), "git": found.Repository.Git.Version, "repository": found.Repository.Kind, "ci": a.ciSystem(),
		"policy": scope.Policy, "strict": scope.Strict, "mode": scope.Mode, "reader": scope.Reader, "reader_why": scope.ReaderReason, "workspaces": append([]string{}, scope.Workspaces...),
		"notes": append(notes, scope.Notes...),
	}, "", "  ")
	if err != nil {
		return err
	}
	return a.print(string(text) + "\n")
}
