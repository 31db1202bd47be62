package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/judge/witnessing"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) witnessCommand() *cobra.Command {
	var o witnessing.Options
	var newKey string
	c := described("witness", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, name := range []string{"state", "name", "ref", "accept", "sign", "verify", "new-key"} {
				if f := c.Flags().Lookup(name); f.Changed && strings.Trim(f.Value.String(), "[]") == "" {
					return usage(c, "--%s is empty", name)
				}
			}
			switch {
			case newKey != "" && (o.State != "" || o.Sign == "" || o.Verify == ""):
				return usage(c, "--new-key takes --sign and --verify, the two files to write, and nothing else")
			case newKey != "":
				if err := witnessing.NewKey(newKey, o.Sign, o.Verify); err != nil {
					return err
				}
				return a.print(sanitize.Lines("the secret key is in " + o.Sign + ", the public one in " + o.Verify + "\n"))
			case o.State == "":
				return usage(c, "--state is missing: the directory that keeps what was seen")
			}
			report, first := witnessing.JudgeRefs(c.Context(), a.request(), o)
			if err := a.finish(c.Context(), report, false); err != nil || !first {
				return err
			}
			// With --quiet too: who loses the state would look for the first time for ever.
			_, err := io.WriteString(a.Stderr, sanitize.Lines("small-hook: this is the first look at "+o.State+": nothing was there to compare with\n"))
			return unwritten("that this is the first look", err)
		},
	})
	c.Flags().StringVar(&o.State, "state", "", "keep what was seen in `DIR` (required)")
	c.Flags().StringArrayVar(&o.Refs, "ref", nil, "watch the branch or tag `REF`, too; may be given several times")
	c.Flags().StringVar(&o.Name, "name", "", "the repository's `NAME` (default: origin's address, or the directory's name)")
	c.Flags().StringSliceVar(&o.Accept, "accept", nil, "go on past the finding with this `FINGERPRINT`; may be given several times")
	c.Flags().StringVar(&o.Sign, "sign", "", "sign the state with the secret key in `FILE`")
	c.Flags().StringVar(&o.Verify, "verify", "", "demand that the state is signed by a public key in `FILE`")
	c.Flags().StringVar(&newKey, "new-key", "", "write a new pair of keys, called `NAME`, into the files of --sign and --verify")
	return c
}

func (a *app) digestsCommand() *cobra.Command {
	var what session.State
	c := described("digests", &cobra.Command{
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("ref") && what.Ref == "" {
				return usage(c, "--ref takes a revision, and it is empty")
			}
			if len(args) == 0 {
				args = []string{""}
			}
			var text strings.Builder
			for _, path := range args {
				digests, err := judge.Digests(c.Context(), a.request(), what, path)
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
	c.Flags().StringVar(&what.Ref, "ref", "", "read the log of the commit `REV`")
	return c
}
