package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/combine"
)

func (a *app) appendCommand() *cobra.Command {
	// In the order in which an entry has them.
	fields := []struct{ flag, key, usage string }{
		{"task", "task_id", "the `ID` of the plan's task, or one that begins meta/"},
		{"status", "status", "the task's `STATUS`: pending, in_progress, completed, blocked or cancelled"},
		{"evidence", "evidence", "what shows that the work was done, as `TEXT`"},
		{"verification", "verification", "how the work was verified, as `TEXT`"},
		{"command", "command", "the `COMMAND` that was run"},
		{"test", "test", "the `TEST` that was run"},
		{"link", "link", "a `URL`"},
		{"commit", "commit", "the `ID` of the commit, 7 to 40 lower-case hex digits"},
		{"notes", "notes", "anything else, as `TEXT`"},
	}
	values := make([]string, len(fields))
	var log, line string
	c := withHelp("append", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("log") || c.Flags().Changed("line") {
				return a.appendToConfiguredLog(c, log, line)
			}
			var entry combine.NewEntry
			for i, f := range fields {
				switch {
				case c.Flags().Changed(f.flag):
					entry = append(entry, [2]string{f.key, values[i]})
				case f.flag == "task":
					return usageError(c, "append needs --task, the task whose work is recorded")
				}
			}
			done, err := edit.Append(c.Context(), a.newRequest(), a.lockingOptions(), entry)
			task := wording.Printable(values[0])
			return a.reportAppended(done, err, "an entry for "+task, "Record "+task, "")
		},
	})
	for i, f := range fields {
		c.Flags().StringVar(&values[i], f.flag, "", f.usage)
	}
	c.Flags().StringVar(&log, "log", "", "append to the log of lines or blocks at `PATH`, which the configuration names, instead")
	c.Flags().StringVar(&line, "line", "", "with --log: the entry, as `TEXT`; without --line, a block is read from standard input")
	a.addWaitFlag(c)
	return c
}

func (a *app) appendToConfiguredLog(c *cobra.Command, log, line string) error {
	var otherFlag string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"log", "line", "wait"}, f.Name) && c.InheritedFlags().Lookup(f.Name) == nil {
			otherFlag = f.Name
		}
	})
	switch {
	case log == "":
		return usageError(c, "append needs --log PATH for a log of the configuration")
	case otherFlag != "":
		return usageError(c, "--log and --%s exclude each other: --%s is a field of the progress log's entries", otherFlag, otherFlag)
	}
	lineOrNil := &line
	if !c.Flags().Changed("line") {
		lineOrNil = nil
	}
	done, err := edit.AppendEntry(c.Context(), a.newRequest(), a.lockingOptions(), log, lineOrNil, a.Stdin)
	return a.reportAppended(done, err, "an entry", "Append to "+wording.Printable(done.Log), "")
}

// reportAppended prints that what was appended, or why nothing was, and what to type next. message is for the commit; more is printed at the end.
func (a *app) reportAppended(done edit.Appended, err error, what, message, more string) error {
	a.workDone = done.Done // after Ctrl-C too
	switch {
	case err != nil:
		return err
	case !done.Done:
		return a.explainNotAppended(done)
	}
	if _, err := io.WriteString(a.Stderr, sanitize.Lines(done.Warning(a.commands)+done.UnknownTask)); err != nil {
		return done.ExplainError(err)
	}
	text := fmt.Sprintf("%s: appended %s\n", wording.Printable(done.Log), what) + done.Note()
	text += a.nextLine(append(done.CommandsBeforeCommit(), done.StageCommand, "git commit -m "+wording.ShellWord(message))...)
	return done.ExplainError(a.print(text + more))
}

// explainNotAppended prints what Append put back instead of appending.
func (a *app) explainNotAppended(done edit.Appended) error {
	if err := a.reportGuarded(done.Guarded); err != nil {
		return err
	}
	_, err := io.WriteString(a.Stderr, "nothing was appended: type the command again\n")
	return err
}
