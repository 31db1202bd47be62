package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/harness/installed"
	"github.com/small-gate/small-gate/internal/hook"
	"github.com/small-gate/small-gate/internal/output"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that each hook would run here, and say what would be judged",
		Long: "Check that each hook would run here, and say what would be judged.\n\n" +
			"Agents' harnesses are looked at too, by their settings files in the work tree. The exit status is 2 if a hook would\n" +
			"not run, and if a settings file names small-hook agent-hook and the harness would not call it. A harness whose file\n" +
			"does not name it is only mentioned. Whether a harness is trusted to run hooks is known to it alone.",
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
			if err := cmp.Or(a.print(found.Text()+installed.Text(agents)), unknown); err != nil {
				return err
			}
			text := fmt.Sprintf("\nPolicy: %s\nReader: %s (%s)\n", sanitize.Line(scope.Policy), sanitize.Line(scope.Reader), sanitize.Line(scope.Why))
			for _, note := range scope.Notes {
				text += "Note: " + sanitize.Line(note) + "\n"
			}
			if len(scope.Workspaces) == 0 && !found.Repository.Bare {
				text += "Would judge: no workspace yet (there is no .small/ directory in the index)\n"
			}
			for _, w := range scope.Workspaces {
				text += "Would judge: " + sanitize.Line(w) + "\n"
			}
			return a.print(text)
		},
	}
	c.Flags().Var(formatFlag{&a.flags, doctorFormat}, "format", "write it as `FORMAT`: text or json")
	if err := c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
	return c
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
		"policy": scope.Policy, "reader": scope.Reader, "workspaces": append([]string{}, scope.Workspaces...),
		"notes": append(append([]string{}, found.Notes...), scope.Notes...),
	}, "", "  ")
	if err != nil {
		return err
	}
	return a.print(string(text) + "\n")
}
