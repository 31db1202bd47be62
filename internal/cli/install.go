package cli

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/harness"
	"github.com/small-gate/small-gate/internal/harness/installed"
	"github.com/small-gate/small-gate/internal/hook"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) installCommand() *cobra.Command {
	var opts hook.InstallOptions
	var driver bool
	var agents []string
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the hooks in this repository; an existing hook is kept and runs first",
		Long: "Install the hooks in this repository; an existing hook is kept and runs first.\n\n" +
			"With --agent it has an agent's harness call `small-hook agent-hook` at a session's start, after each tool and at the\n" +
			"end of a turn, by that harness's settings file in the work tree, which is to be committed. Nothing else in that file\n" +
			"changes. Git's own hooks are not installed then. Exit status 2 says that something is left to do first.",
		Example: "  small-hook install\n" +
			"  small-hook install --merge-driver\n" +
			"  small-hook install --agent claude",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("agent") {
				names, err := agentNames(c, agents, "program")
				if err != nil {
					return err
				}
				result, err := installed.Install(c.Context(), names, installed.Options{Dir: a.flags.dir, Program: opts.Program})
				return a.printResult(result.Text(), result.Outcome, err)
			}
			opts.Dir = a.flags.dir
			if driver {
				if err := a.printDriver(hook.InstallMergeDriver(c.Context(), opts)); err != nil {
					return err
				}
			}
			result, err := hook.Install(c.Context(), opts)
			return a.printResult(result.Text(), result.Outcome, err)
		},
	}
	registerAgent(c, &agents, "have `NAME`'s harness call the gate, instead of git: "+wording.List(harnessNames(), "or")+"; may be given several times")
	c.Flags().StringVar(&opts.Program, "program", "", "have the hooks call `FILE` instead of this program")
	c.Flags().BoolVar(&opts.PreReceive, "pre-receive", false, "also install the server-side hook")
	c.Flags().BoolVar(&opts.PrepareCommitMsg, "prepare-commit-msg", false, "also install the hook that signs the commits of agents (SMALL_AGENT_ID)")
	c.Flags().BoolVar(&opts.Force, "force", false, "install the hooks even in a directory of a hook manager")
	c.Flags().BoolVar(&driver, "merge-driver", false, "also have git merge workspace files with this program instead of line by line")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var agents []string
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the hooks and put back what was there before",
		Example: "  small-hook uninstall\n" +
			"  small-hook uninstall --agent claude",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("agent") {
				names, err := agentNames(c, agents)
				if err != nil {
					return err
				}
				result, err := installed.Uninstall(c.Context(), names, a.flags.dir)
				return a.printResult(result.Text(), result.Outcome, err)
			}
			if err := a.printDriver(hook.UninstallMergeDriver(c.Context(), a.flags.dir)); err != nil {
				return err
			}
			result, err := hook.Uninstall(c.Context(), a.flags.dir)
			return a.printResult(result.Text(), result.Outcome, err)
		},
	}
	registerAgent(c, &agents, "take out of the settings of `NAME`'s harness what install --agent put in, and leave git's hooks")
	return c
}

// printDriver prints what was done about the merge driver.
func (a *app) printDriver(result hook.DriverResult, err error) error {
	return cmp.Or(err, a.print(result.Text()))
}

// printResult prints what was done about hooks or harnesses. If a person still has to do something, that is outcome 2: nothing is guarded yet.
func (a *app) printResult(text string, outcome hook.Outcome, err error) error {
	if err != nil || outcome == hook.NeedsManual {
		a.status = statusCannot
	}
	return cmp.Or(a.print(text), err)
}

// registerAgent gives a command the flag that names harnesses.
func registerAgent(c *cobra.Command, names *[]string, help string) {
	c.Flags().StringSliceVar(names, "agent", nil, help)
	if err := c.RegisterFlagCompletionFunc("agent", cobra.FixedCompletions(harnessNames(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
}

func harnessNames() []string {
	var names []string
	for _, h := range harness.All {
		names = append(names, h.Name)
	}
	return names
}

// agentNames are the harnesses that --agent names, each once. Of the command's other flags, --agent goes together with those allowed.
func agentNames(c *cobra.Command, given []string, allowed ...string) ([]string, error) {
	var other string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "agent" && !slices.Contains(allowed, f.Name) && c.InheritedFlags().Lookup(f.Name) == nil {
			other = f.Name
		}
	})
	if other != "" {
		return nil, usage(c, "--%s is about git's hooks, and --agent about the harness of an agent: they do not go together", other)
	}
	var names []string
	for _, name := range given {
		if !slices.Contains(harnessNames(), name) {
			return nil, usage(c, "--agent takes %s, not %q", wording.List(harnessNames(), "or"), name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, usage(c, "--agent takes %s", wording.List(harnessNames(), "or"))
	}
	return names, nil
}
