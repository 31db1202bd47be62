package cli

import (
	"cmp"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/entrypoint/witnessing"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) witnessCommand() *cobra.Command {
	var o witnessing.Options
	var newKey string
	c := &cobra.Command{
		Use:   "witness --state DIR",
		Short: "Compare a repository's logs with what was seen of them before, which is kept elsewhere",
		Long: "Compare every log of the watched branches with what was seen of it before, and note what is there now. DIR keeps\n" +
			"what was seen of one repository; it belongs where those who may push to the repository may not write: a second\n" +
			"repository, a server. The default branch is watched, or what --ref names, and everything that DIR knows already.\n" +
			"If an entry, a log or a branch is missing, DIR stays as it is until it is back or a person accepts the finding.\n\n" +
			"Waivers and baselines count only as DIR has recorded them at an earlier look, or from --config. Recipes for GitHub,\n" +
			"GitLab and cron, the form of the state, and what a witness cannot see:\n" +
			wording.Docs + "witness.md\n\n" +
			"Exit status: 0 nothing is missing, 1 there are findings, 2 it could not judge or could not record.",
		Example: "  small-hook -C watched witness --state state\n" +
			"  small-hook -C watched witness --state state --accept 1b9d2f3a4c5e6071\n" +
			"  small-hook witness --new-key witness.example.org --sign witness.key --verify witness.pub",
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
			report, first := witnessing.Look(c.Context(), a.request(), o)
			if err := a.finish(c.Context(), report, false); err != nil || !first {
				return err
			}
			// With --quiet too: who loses the state would look for the first time for ever.
			_, err := io.WriteString(a.Stderr, sanitize.Lines("small-hook: this is the first look at "+o.State+": nothing was there to compare with\n"))
			return unwritten("that this is the first look", err)
		},
	}
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
	var what session.What
	c := &cobra.Command{
		Use:   "digests [PATH...]",
		Short: "Print the digest of every entry of a log, one a line",
		Long: "Print the digest of every entry of the log in the workspace here or above, in order, one a line. PATH is another\n" +
			"workspace, or a log; of several the digests follow each other.",
		Example: "  small-hook digests --ref HEAD~3\n  small-hook digests packages/importer",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("ref") && what.Ref == "" {
				return usage(c, "--ref takes a revision, and it is empty")
			}
			if len(args) == 0 {
				args = []string{""}
			}
			var text strings.Builder
			for _, path := range args {
				digests, err := entrypoint.Digests(c.Context(), a.requestFor(path), what)
				if err != nil {
					return err
				}
				for _, d := range digests {
					text.WriteString(d.String() + "\n")
				}
			}
			return a.print(text.String())
		},
	}
	c.Flags().StringVar(&what.Ref, "ref", "", "read the log of the commit `REV`")
	return c
}

// requestFor is the request for a workspace, or its log, below --dir; an empty path is --dir itself.
func (a *app) requestFor(path string) session.Request {
	req := a.request()
	if path == "" {
		return req
	}
	if filepath.Base(path) == small.Progress.FileName() {
		path = filepath.Dir(path)
	}
	if req.Dir = filepath.Join(cmp.Or(req.Dir, "."), path); filepath.IsAbs(path) {
		req.Dir = path
	}
	return req
}
