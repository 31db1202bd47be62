package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/harness/installed"
	"github.com/small-gate/small-gate/internal/hook"
	"github.com/small-gate/small-gate/internal/output"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/version"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that each hook would run here, and say what would be judged",
		Long: "Check that each hook would run here, and say what would be judged.\n\n" +
			"Agents' harnesses are looked at too, by their settings files in the work tree. The exit status is 2 if a hook would\n" +
			"not run, and if a settings file names small-hook agent-hook and the harness would not call it. A harness whose file\n" +
			"does not name it is only mentioned. Whether a harness is trusted to run hooks is known to it alone.\n\n" +
			"What it prints is meant for a report of a bug too: the versions, the kind of repository, the reader, the configuration and\n" +
			"the CI system. It holds no address, branch or secret; of paths the home directory is left out, except in commands.",
		Example: "  small-hook doctor\n" +
			"  small-hook doctor --format json",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := hook.Doctor(c.Context(), a.flags.dir)
			if err != nil {
				return err
			}
			agents, err := installed.Doctor(c.Context(), a.flags.dir)
			if err != nil {
				return err
			}
			if !found.Fires() || found.Driver.Broken || slices.ContainsFunc(agents, installed.Check.Broken) {
				a.status = statusCannot
			}
			scope, unknown := entrypoint.Survey(c.Context(), a.request())
			if slices.Contains(a.flags.targets, output.Target{Format: "json"}) && unknown == nil {
				return a.printDiagnosis(found, agents, scope)
			}
			return cmp.Or(a.print(a.diagnosis(found, agents, scope, unknown == nil)), unknown)
		},
	}
	c.Flags().Var(formatFlag{&a.flags, doctorFormat}, "format", "write it as `FORMAT`: text or json")
	if err := c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
	return c
}

// diagnosis is what the doctor found, in words. surveyed says that the scope is known.
func (a *app) diagnosis(found hook.Diagnosis, agents []installed.Check, scope entrypoint.Scope, surveyed bool) string {
	text := version.Long("small-hook") + "\n" + found.Text() + installed.Text(agents) + "\nCI: " + a.ciSystem() + "\n"
	if !surveyed {
		return a.withoutHome(text)
	}
	strict := "not strict"
	if scope.Strict {
		strict = "strict"
	}
	text += fmt.Sprintf("Policy: %s, %s, mode: %s\nReader: %s (%s)\n",
		sanitize.Line(scope.Policy), strict, scope.Mode, sanitize.Line(scope.Reader), sanitize.Line(scope.Why))
	for _, note := range scope.Notes {
		text += "Note: " + sanitize.Line(note) + "\n"
	}
	if len(scope.Workspaces) == 0 && !found.Repository.Bare {
		text += "Would judge: no workspace yet (there is no .small/ directory in the index)\n"
	}
	for _, w := range scope.Workspaces {
		text += "Would judge: " + sanitize.Line(w) + "\n"
	}
	return a.withoutHome(text)
}

// ciSystem names the CI system in whose job this runs.
func (a *app) ciSystem() string {
	if system := ci.Detect(a.Variables()); system != ci.Other {
		return system.Name
	}
	return "none that small-action knows"
}

// withoutHome writes ~ for the home directory, which often says who somebody is. Commands stay as they are typed.
func (a *app) withoutHome(text string) string {
	home := a.Getenv("HOME")
	if !filepath.IsAbs(home) || filepath.Dir(home) == home {
		return text
	}
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], filepath.Clean(home)+string(filepath.Separator), "~"+string(filepath.Separator))
	}
	return strings.Join(parts, "`")
}

func doctorFormat(name string) error {
	if name != "text" && name != "json" {
		return fmt.Errorf("doctor writes text or json, not %q", name)
	}
	return nil
}

// doctorSchema names the form of the doctor's JSON document. Members are only added.
const doctorSchema = "small-gate/doctor/v1"

// printDiagnosis prints what the doctor found as JSON.
func (a *app) printDiagnosis(found hook.Diagnosis, agents []installed.Check, scope entrypoint.Scope) error {
	type object = map[string]any
	hooks := make([]object, len(found.Checks))
	for i, h := range found.Checks {
		hooks[i] = object{"hook": h.Hook, "path": h.Path, "fires": h.Fires, "proof": h.Proof, "why": h.Why, "fix": h.Remedy, "program": h.Program, "version": h.Version}
	}
	harnesses := make([]object, len(agents))
	for i, c := range agents {
		harnesses[i] = object{
			"agent": c.File.Harness.Name, "path": c.File.Path, "calls": c.Calls, "expected": c.Expected, "why": c.Why, "fix": c.Remedy,
			"commands": append([]string{}, c.Commands...), "trust": c.File.Trust,
		}
	}
	text, err := json.MarshalIndent(object{
		"schema": doctorSchema, "fires": found.Fires(), "hooks": hooks, "agents": harnesses, "merge_driver_broken": found.Driver.Broken, "manager": found.Manager,
		"version": version.Long("small-hook"), "git": found.Repository.Git.Version, "repository": found.Repository.Kind, "ci": a.ciSystem(),
		"policy": scope.Policy, "strict": scope.Strict, "mode": scope.Mode, "reader": scope.Reader, "reader_why": scope.Why, "workspaces": append([]string{}, scope.Workspaces...),
		"notes": append(append([]string{}, found.Notes...), scope.Notes...),
	}, "", "  ")
	if err != nil {
		return err
	}
	return a.print(string(text) + "\n")
}
