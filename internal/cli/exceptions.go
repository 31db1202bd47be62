package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) baselineCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "baseline [REV]",
		Short: "Accept every log as it stands, in .small-gate.yml",
		Long: "Write a stanza into .small-gate.yml that accepts every log as it stands in REV (default HEAD). What came\n" +
			"before is no longer judged; what comes after is. The stanza counts once it is committed.",
		Args: atMost(1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			written, err := entrypoint.Baseline(c.Context(), a.request(), optional(args), reason)
			if err != nil {
				return err
			}
			return a.print(baselineText(written))
		},
	}
	c.Flags().StringVar(&reason, "reason", "adopted the gate here", "the reason `WHY`, for the stanza")
	return c
}

func baselineText(written entrypoint.Accepted) string {
	if len(written.Baselines) == 0 {
		return fmt.Sprintf("%s already accepts every log as it stands in %s\n", sanitize.Line(written.File), sanitize.Line(written.Revision))
	}
	var text strings.Builder
	for _, b := range written.Baselines {
		fmt.Fprintf(&text, "%s: %s accepted, head %s\n", sanitize.Line(b.Path), wording.Count(b.Entries, "entry"), b.Head)
	}
	fmt.Fprintf(&text, "written to %s; review and commit it\n", sanitize.Line(written.File))
	return text.String()
}

func (a *app) waiveCommand() *cobra.Command {
	var reason, until, from string
	c := &cobra.Command{
		Use:   "waive FINGERPRINT",
		Short: "Excuse one edit, in .small-gate.yml",
		Long: "Write a stanza into .small-gate.yml that excuses the edit with this fingerprint (at least its first\n" +
			"eight digits). The edit is looked up in the index, then in HEAD's history, or in a JSON report. The\n" +
			"exception counts once it is merged: commit it by itself, then make the change.",
		Args: exactly(1, "one fingerprint"),
		RunE: func(c *cobra.Command, args []string) error {
			edit, err := a.findEdit(c, args[0], from)
			if err != nil {
				return err
			}
			edit.Reason, edit.Until = reason, until
			file, err := entrypoint.Waive(c.Context(), a.request(), edit)
			if err != nil {
				return err
			}
			return a.print(fmt.Sprintf("%s is excused in %s\nwritten to %s; review it, commit it by itself, and merge it before the change\n",
				sanitize.Line(edit.Rule), sanitize.Line(edit.Path), sanitize.Line(file)))
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "the reason `WHY`, for the stanza (required)")
	c.Flags().StringVar(&until, "until", "", "the last `DAY` (UTC) of the exception, as 2026-12-31")
	c.Flags().StringVar(&from, "report", "", "take the finding from the JSON report in `FILE` (- for standard input)")
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
		return io.ReadAll(a.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return readBounded(interruptible{ctx, f}, f, name, maxReport)
}

// readBounded reads all of a file, which may be a pipe or endless, and closes it.
func readBounded(from io.Reader, file io.Closer, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, errors.Join(err, file.Close())
}
