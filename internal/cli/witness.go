package cli

import (
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/judge/witnessing"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) witnessCommand() *cobra.Command {
	var opts witnessing.Options
	var newKey string
	c := withHelp("witness", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := refuseEmpty(c, "state", "name", "ref", "accept", "sign", "verify", "new-key"); err != nil {
				return err
			}
			switch {
			case newKey != "" && (opts.State != "" || opts.Sign == "" || opts.Verify == ""):
				return usageError(c, "--new-key takes --sign and --verify, the two files to write, and nothing else")
			case newKey != "":
				if err := witnessing.NewKey(newKey, opts.Sign, opts.Verify); err != nil {
					return err
				}
				return a.print(sanitize.Lines("the secret key is in " + opts.Sign + ", the public one in " + opts.Verify + "\n"))
			case opts.State == "":
				return usageError(c, "--state is missing: it names the directory that keeps the state")
			}
			report, first := witnessing.JudgeRefs(c.Context(), a.newRequest(), opts)
			if err := a.writeReports(c.Context(), report, false); err != nil || !first {
				return err
			}
			// Even with --quiet: if every run loses the state, every run is a first one, and passes.
			_, err := io.WriteString(a.Stderr, sanitize.Lines("small-hook: this is the first run with "+opts.State+": there was no state to compare with\n"))
			return explainWriteError("the note on the first run", err)
		},
	})
	c.Flags().StringVar(&opts.State, "state", "", "keep the state in `DIR` (required)")
	c.Flags().StringArrayVar(&opts.Refs, "ref", nil, "watch the branch or tag `REF`, not the default branch; may be given several times")
	c.Flags().StringVar(&opts.Name, "name", "", "the repository's `NAME` (default: origin's address, or the directory's name)")
	c.Flags().StringSliceVar(&opts.Accept, "accept", nil, "accept the finding with this `FINGERPRINT`, and go on; may be given several times")
	c.Flags().StringVar(&opts.Sign, "sign", "", "sign the state with the secret key in `FILE`")
	c.Flags().StringVar(&opts.Verify, "verify", "", "demand that the state is signed by a public key in `FILE`")
	c.Flags().StringVar(&newKey, "new-key", "", "write a new pair of keys, called `NAME`, into the files of --sign and --verify")
	return c
}

func (a *app) digestsCommand() *cobra.Command {
	var state session.State
	c := withHelp("digests", &cobra.Command{
		Args: limitArgs(0, math.MaxInt, "paths"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuseEmpty(c, "ref"); err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{""}
			}
			var text strings.Builder
			for _, path := range args {
				digests, err := judge.Digests(c.Context(), a.newRequest(), state, path)
				if err != nil {
					return err
				}
				for _, d := range digests {
					text.WriteString(d.String() + "\n")
				}
			}
			return a.print(text.String())
		},
	})
	c.Flags().StringVar(&state.Ref, "ref", "", "read the log of the commit `REV`")
	return c
}
