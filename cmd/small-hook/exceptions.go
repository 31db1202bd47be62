package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/report"
)

func (a *app) baselineCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "baseline [REV]",
		Short: "Accept every log as it stands, in .small-gate.yml",
		Long: "Write a stanza into .small-gate.yml that accepts every log as it stands in REV (HEAD if none is\n" +
			"named). What came before is not judged any more; what comes after is. The stanza counts once it\n" +
			"is committed.",
		Args: atMost(1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			written, err := entrypoint.Baseline(c.Context(), a.request(), optional(args), reason)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, baselineText(written))
			return err
		},
	}
	c.Flags().StringVar(&reason, "reason", "adopted the gate here", "say `WHY`, in the stanza")
	return c
}

// baselineText says which logs are accepted now.
func baselineText(written entrypoint.Written) string {
	if len(written.Baselines) == 0 {
		return fmt.Sprintf("%s accepts every log as it stands in %s already\n", report.Sanitize(written.File), report.Sanitize(written.Revision))
	}
	var text strings.Builder
	for _, b := range written.Baselines {
		noun := "entries"
		if b.Entries == 1 {
			noun = "entry"
		}
		fmt.Fprintf(&text, "%s: %d %s accepted, head %s\n", report.Sanitize(b.Path), b.Entries, noun, b.Head)
	}
	fmt.Fprintf(&text, "written to %s; review it and commit it\n", report.Sanitize(written.File))
	return text.String()
}

func (a *app) waiveCommand() *cobra.Command {
	var reason, until, from string
	c := &cobra.Command{
		Use:   "waive FINGERPRINT",
		Short: "Excuse one edit, in .small-gate.yml",
		Long: "Write a stanza into .small-gate.yml that excuses the edit with the given fingerprint (or the first\n" +
			"eight or more digits of it). It is looked for in the index, then in HEAD's history, or in a JSON\n" +
			"report. The exception counts once it is merged: commit it by itself, then make the change.",
		Args: exactly(1, "one fingerprint"),
		RunE: func(c *cobra.Command, args []string) error {
			edit, err := a.findEdit(c, args[0], from)
			if err != nil {
				return err
			}
			edit.Reason, edit.Until = reason, until
			written, err := entrypoint.Waive(c.Context(), a.request(), edit)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s is excused in %s\nwritten to %s; review it, commit it by itself and merge it before the change\n",
				report.Sanitize(edit.Rule), report.Sanitize(edit.Path), report.Sanitize(written.File))
			return err
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "say `WHY`, in the stanza (required)")
	c.Flags().StringVar(&until, "until", "", "the last `DAY` (UTC) on which the exception holds, as 2026-12-31")
	c.Flags().StringVar(&from, "report", "", "take the finding from a JSON report in `FILE`, - for standard input")
	return c
}

func (a *app) findEdit(c *cobra.Command, fingerprint, from string) (entrypoint.Excuse, error) {
	if from == "" {
		return entrypoint.FindEdit(c.Context(), a.request(), fingerprint)
	}
	data, err := a.readAll(c.Context(), from)
	if err != nil {
		return entrypoint.Excuse{}, err
	}
	return entrypoint.FindEditIn(data, fingerprint)
}

// maxReport bounds a report that is read back, in bytes.
const maxReport = 256 << 20

// readAll reads a file, or standard input for "-".
func (a *app) readAll(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(interruptible{ctx, f}, maxReport+1)) // it may be a pipe, or endless
	if err == nil && len(data) > maxReport {
		err = fmt.Errorf("%s has more than %d bytes; a report is smaller", name, maxReport)
	}
	return data, errors.Join(err, f.Close())
}
