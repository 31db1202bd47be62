package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) baselineCommand() *cobra.Command {
	var reason string
	c := withHelp("baseline", &cobra.Command{
		Args: limitArgs(0, 1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usageError(c, "--reason is blank")
			}
			if err := a.newRequest().RefuseAgent(); err != nil {
				return err
			}
			written, err := edit.Baseline(c.Context(), a.newRequest(), firstOrEmpty(args), reason)
			if err != nil {
				return err
			}
			text := baselineText(written)
			if len(written.Baselines) == 0 && len(written.Logs) > 0 && c.Flags().Changed("reason") {
				text += "the reason is not written, since a stanza of logs has none: give it in the commit's message\n"
			}
			if len(written.Baselines)+len(written.Logs) > 0 {
				text += a.nextLine("git add -- :/.small-gate.yml", `git commit -m "Accept the logs as they stand" -- :/.small-gate.yml`)
			}
			return a.print(text)
		},
	})
	c.Flags().StringVar(&reason, "reason", "accepted as it stands", "the reason `WHY`, for the stanza")
	return c
}

func baselineText(written edit.Accepted) string {
	if len(written.Baselines)+len(written.Logs) == 0 {
		return fmt.Sprintf("%s already accepts every log as it stands in %s\n", sanitize.Line(written.File), sanitize.Line(written.Revision))
	}
	var text strings.Builder
	for _, b := range written.Baselines {
		fmt.Fprintf(&text, "%s: %s accepted, head %s\n", sanitize.Line(b.Path), wording.Count(b.Entries, "entry"), b.Head)
	}
	for _, l := range written.Logs {
		fmt.Fprintf(&text, "%s: what was done until %s is accepted (since)\n", sanitize.Line(l.Path), history.Short(written.Since))
	}
	fmt.Fprintf(&text, "written to %s; review and commit it\n", sanitize.Line(written.File))
	if n := written.Unmigrated; n > 0 {
		fmt.Fprintf(&text, "%s of the log can still be migrated (small progress migrate): if you want that, migrate before you commit this, and run this command again\n",
			wording.Count(n, "timestamp"))
	}
	return text.String()
}

func (a *app) waiveCommand() *cobra.Command {
	var selection judge.EditSelection
	var reason, until, from, log string
	c := withHelp("waive", &cobra.Command{
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuseEmpty(c, "rule", "log", "report", "until"); err != nil {
				return err
			}
			ways := 0
			for _, given := range []bool{len(args) > 0, selection.Rule != "", log != ""} {
				if given {
					ways++
				}
			}
			if selection.Fingerprints = args; ways != 1 || log != "" && from != "" {
				return usageError(c, "%s takes fingerprints, --rule ID, or --log PATH", c.Name())
			}
			if err := a.newRequest().RefuseAgent(); err != nil {
				return err
			}
			if log != "" {
				return a.waiveLogRewrite(c.Context(), log, reason, until)
			}
			edits, err := a.findEdits(c, selection, from)
			if err != nil {
				return err
			}
			for i := range edits {
				edits[i].Reason, edits[i].Until = reason, until
			}
			file, err := edit.Waive(c.Context(), a.newRequest(), edits)
			if err != nil {
				return err
			}
			return a.print(a.waivedText(edits, file))
		},
	})
	c.Flags().StringVar(&selection.Rule, "rule", "", "waive all edits that the rule `ID` reports")
	c.Flags().StringVar(&log, "log", "", "waive the rewrite of the log at `PATH` as a whole")
	c.Flags().StringVar(&reason, "reason", "", "the reason `WHY`, for the stanzas (required)")
	c.Flags().StringVar(&until, "until", "", "the last `DAY` (UTC) of the exception, as 2026-12-31")
	c.Flags().StringVar(&from, "report", "", "take the findings from the JSON report in `FILE` (- for standard input)")
	return c
}

// waiveLogRewrite waives a log's rewrite as a whole, and prints the edits in it.
func (a *app) waiveLogRewrite(ctx context.Context, log, reason, until string) error {
	done, file, err := edit.WaiveRewrite(ctx, a.newRequest(), log, reason, until)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, r := range done {
		fmt.Fprintf(&text, "%s: the rewrite %s is waived, from %s (head %s) to %s (head %s):\n", sanitize.Line(r.Path), r.Where,
			wording.Count(r.Before.Entries, "entry"), r.Before.Head, wording.Count(r.After.Entries, "entry"), r.After.Head)
		for _, line := range r.Edits {
			fmt.Fprintf(&text, "  %s\n", sanitize.Line(line))
		}
		if r.More > 0 {
			fmt.Fprintf(&text, "  and %s more\n", wording.Count(r.More, "edit"))
		}
	}
	return a.print(text.String() + a.nextAfterWaiving(file))
}

func (a *app) nextAfterWaiving(file string) string {
	return fmt.Sprintf("written to %s; the waiver counts once the target branch has it: push it first\n", sanitize.Line(file)) +
		a.nextLine("git add -- :/.small-gate.yml", `git commit -m "Waive edits" -- :/.small-gate.yml`, "git push")
}

func (a *app) waivedText(edits []judge.EditToWaive, file string) string {
	var text strings.Builder
	type kind struct{ rule, path string }
	counts := map[kind]int{}
	for _, e := range edits {
		counts[kind{e.Rule, e.Path}]++
	}
	for _, e := range edits {
		k := kind{e.Rule, e.Path}
		if n := counts[k]; n > 0 {
			fmt.Fprintf(&text, "%s: %s waived in %s\n", sanitize.Line(e.Rule), wording.Count(n, "edit"), sanitize.Line(e.Path))
		}
		delete(counts, k)
	}
	return text.String() + a.nextAfterWaiving(file)
}

func (a *app) findEdits(c *cobra.Command, selection judge.EditSelection, from string) ([]judge.EditToWaive, error) {
	if from == "" {
		return judge.FindEdits(c.Context(), a.newRequest(), selection)
	}
	const maxReportSize = 256 << 20 // bytes
	data, err := []byte(nil), error(nil)
	if from == "-" {
		data, err = io.ReadAll(a.Stdin)
	} else {
		data, err = readFile(c.Context(), from, maxReportSize)
	}
	if err != nil {
		return nil, err
	}
	return judge.FindEditsIn(data, selection)
}

// readFile reads a whole file of at most limit bytes. The file may be a pipe.
func readFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(interruptible{ctx, f}, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, errors.Join(err, f.Close())
}
