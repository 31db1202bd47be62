package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// configFile returns the path of the configuration in a revision of the repository.
func (s *Session) configFile() string { return cmp.Or(s.Req.TrustedConfig, policy.File) }

// Trust takes the session's policy from the configuration in a revision; label is the revision's name for people. If revision is empty, or if the revision has no
// configuration, Trust takes the built-in policy. If the configuration is invalid, Trust returns a [policy.InvalidError]. If the request names a file in
// Config, all methods whose names begin with Trust, except TrustRoot, take the policy from that file.
func (s *Session) Trust(ctx context.Context, revision, label string) error {
	if revision == "" || s.Req.Config != "" {
		return s.TrustContent(nil, label, revision)
	}
	data, found, err := githistory.ReadFile(ctx, s.Repo, revision, s.configFile(), policy.MaxSize)
	if err != nil {
		return err
	}
	if found && s.Req.TrustedConfig != "" {
		label = s.Req.TrustedConfig + " in " + label
	}
	s.schemas = s.schemasAt(ctx, revision)
	return s.TrustContent(data, label, revision)
}

// TrustContent takes the policy from data, a configuration's content, or the built-in policy if data is nil. label names the configuration's place for
// people. at is the revision of data, a commit or the index: it becomes Opts.Trusted. The schemas that data names are read from where the session's last call of
// Trust or TrustRoot read them; before the first such call, logs are not judged by schemas.
func (s *Session) TrustContent(data []byte, label, at string) error {
	s.Opts.Trusted = at
	if s.Req.Config != "" {
		return s.useNamedFile()
	}
	return s.useText(label, data)
}

// TrustDefaults takes the built-in policy. why is the reason, which the report shows.
func (s *Session) TrustDefaults(why string) error {
	s.Opts.Trusted = ""
	if s.Req.Config != "" {
		return s.useNamedFile()
	}
	s.useDefaults(why)
	return nil
}

// TrustHead takes the policy from HEAD and, if a merge is under way, adds waivers and baselines as AddMergedAccepted does. It returns HEAD's
// commit and the parents of the next commit; merged is as in ParentsOfNextCommit. They are also returned beside an error of
// Trust or AddMergedAccepted.
func (s *Session) TrustHead(ctx context.Context, merged []string) (head string, parents []string, err error) {
	if head, err = s.Repo.Head(ctx); err != nil {
		return "", nil, err
	}
	if parents, err = s.ParentsOfNextCommit(ctx, head, merged); err != nil {
		return "", nil, err
	}
	if err = s.Trust(ctx, head, "HEAD"); err == nil && head != "" {
		err = s.AddMergedAccepted(ctx, head, parents[1:]...)
	}
	return head, parents, err
}

// AddMergedAccepted adds to the policy the waivers, baselines and since commits of those merged commits that the default branch has and head lacks: the
// merge may bring an edit that the default branch accepts, while the configuration at head is older than that.
func (s *Session) AddMergedAccepted(ctx context.Context, head string, merged ...string) error {
	if len(merged) == 0 || s.Req.Config != "" {
		return nil
	}
	defaultBranch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil || defaultBranch.ID == "" {
		return err
	}
	for _, id := range merged {
		onDefault, err := s.Repo.MergeBases(ctx, defaultBranch.ID, id)
		if err != nil {
			return err
		}
		onHead, err := s.Repo.MergeBases(ctx, head, id)
		if err != nil {
			return err
		}
		if !slices.Contains(onDefault, id) || slices.Contains(onHead, id) { // a commit is its own merge base with its descendants
			continue
		}
		theirs := &Session{Repo: s.Repo, Req: s.Req, floor: s.floor}
		var invalid *policy.InvalidError
		if err := theirs.Trust(ctx, id, "the default branch"); errors.As(err, &invalid) {
			continue // an invalid configuration accepts nothing
		} else if err != nil {
			return err
		}
		if theirs.Opts.Policy.HasAllBaselinesOf(s.Opts.Policy) {
			s.Opts.Trusted = id // id's logs can decide which baselines are active, since id's configuration has all of them
		}
		accepting := s.Opts.Policy.WithAccepted(theirs.Opts.Policy)
		if accepting.Logs, err = s.withSinceOf(ctx, accepting.Logs, theirs.Opts.Policy.Logs); err != nil {
			return err
		}
		s.Opts.Policy = accepting
	}
	return nil
}

// withSinceOf returns the stanzas of logs. Each has the since commit of the same stanza in others, if that one is newer than its own.
func (s *Session) withSinceOf(ctx context.Context, logs, others []policy.Log) ([]policy.Log, error) {
	out := slices.Clone(logs)
	for i := range out {
		at := slices.IndexFunc(others, out[i].Names)
		if at < 0 || others[at].Since == "" {
			continue
		}
		if own := out[i].Since; own != "" {
			if bases, err := s.Repo.MergeBases(ctx, own, others[at].Since); err != nil {
				return nil, err
			} else if !slices.Contains(bases, own) {
				continue
			}
		}
		out[i].Since = others[at].Since
	}
	return out, nil
}

// TrustHeadWithStagedStanzas takes the policy as TrustHead does, and adds the items of `logs` that only the index's configuration has. It is for
// the commands that the hook pre-commit names as fixes: the hook has judged by these items, and they are not committed yet when a fix is typed. If the
// index's configuration is invalid, no stanza is added; pre-commit reports the invalid configuration.
func (s *Session) TrustHeadWithStagedStanzas(ctx context.Context) error {
	if _, _, err := s.TrustHead(ctx, nil); err != nil {
		return err
	}
	staged, invalid, err := s.readProposed(ctx, history.Index)
	if err == nil && invalid == nil && staged != nil {
		s.Opts.Policy = s.Opts.Policy.WithLogsOf(staged)
	}
	return err
}

// ParentsOfNextCommit lists the parents of the next commit: head, and then the commits in merged or, if merged is empty, those in MERGE_HEAD. head is
// HEAD's commit; if HEAD has none yet, head is "" and the list lacks it.
func (s *Session) ParentsOfNextCommit(ctx context.Context, head string, merged []string) (parents []string, err error) {
	if len(merged) == 0 {
		if merged, err = workgit.MergeHeads(ctx, s.Repo); err != nil {
			return nil, err
		}
	}
	if head != "" {
		parents = []string{head}
	}
	for _, id := range merged {
		if id != head {
			parents = append(parents, id)
		}
	}
	return parents, nil
}

// TrustLocated takes the policy for `small-hook check`: from the revision of at, or, for files on disk, from the root of the work tree around the directory
// (without a work tree, from the directory itself).
func (s *Session) TrustLocated(ctx context.Context, at Located) error {
	if s.Repo != nil {
		return s.Trust(ctx, at.Revision, at.Label)
	}
	dir, err := githistory.Physical(s.Req.Dir)
	if err != nil {
		return err
	}
	root := WorkTreeRootOf(dir)
	s.Opts.PartOfTree = dir != root
	if s.Req.Config != "" {
		return s.useNamedFile()
	}
	return s.TrustRoot(root)
}

// TrustRoot takes the policy from the configuration on disk in root, a directory, or the built-in policy if there is none. It ignores the
// request's Config.
func (s *Session) TrustRoot(root string) error {
	data, err := ReadConfig(filepath.Join(root, policy.File))
	if err != nil {
		return err
	}
	if data == nil {
		s.setPolicy(policy.Default())
		return nil
	}
	s.schemas = SchemasIn(root)
	return s.useText(policy.File, data)
}

// useNamedFile takes the policy from the file that the request names in Config. It fails if there is no such file.
func (s *Session) useNamedFile() error {
	data, err := ReadConfig(s.Req.Config)
	if err != nil {
		return err
	}
	if data == nil {
		return &failure.Error{Message: "cannot read the configuration: there is no file " + s.Req.Config, Remedy: "name an existing file with --config, or leave --config out"}
	}
	s.schemas = schemasBeside(s.Req.Config)
	if err = s.useText(s.Req.Config, data); err == nil {
		s.Opts.Policy.OutsideRepo = true
	}
	return err
}

// useText takes the policy from data, a configuration's content, or the built-in policy if data is nil. source names the configuration's place for
// people.
func (s *Session) useText(source string, data []byte) error {
	s.TrustedText = data
	if data == nil {
		s.useDefaults("no " + s.configFile() + " in " + source)
		return nil
	}
	p, err := policy.ParseWhole(source, data, catalogue.Known(), s.schemas)
	s.trustedSchemas = nil
	if p != nil {
		s.trustedSchemas = p.SchemaDigests()
	}
	s.setPolicy(p)
	return err
}

// useDefaults takes the built-in policy. why is the reason, which the report shows.
func (s *Session) useDefaults(why string) {
	p := policy.Default()
	p.Source += " (" + why + ")"
	s.setPolicy(p)
}

// setPolicy sets the session's policy: p, or, if the session judges by the floor, the policy that the floor makes of p ([policy.Floor.PolicyFor]).
func (s *Session) setPolicy(p *policy.Policy) {
	if s.floor != nil && p != nil {
		p = s.floor.PolicyFor(p)
	}
	s.Opts.Policy = p
}

// BringsConfiguration reports whether a change that ends at tip brings a valid configuration that differs from the trusted one;
// false if the request names a configuration in Config.
func (s *Session) BringsConfiguration(ctx context.Context, tip string) (bool, error) {
	p, invalid, err := s.readProposed(ctx, tip)
	return p != nil && invalid == nil, err
}

// readProposed reads the configuration that a change brings, with its schemas. The change ends at tip. p is nil if the configuration is the trusted
// one, if there is none, if it is invalid, or if the request names another one in Config. invalid says what is wrong with an invalid configuration.
func (s *Session) readProposed(ctx context.Context, tip string) (p *policy.Policy, invalid, err error) {
	if s.Req.Config != "" {
		return nil, nil, nil
	}
	data, found, err := githistory.ReadFile(ctx, s.Repo, tip, s.configFile(), policy.MaxSize)
	same := s.TrustedText != nil && bytes.Equal(data, s.TrustedText)
	if err != nil || !found || same && len(s.trustedSchemas) == 0 {
		return nil, nil, err
	}
	p, invalid = policy.ParseWhole(s.configFile(), data, catalogue.Known(), s.schemasAt(ctx, tip))
	if same && invalid == nil && slices.Equal(p.SchemaDigests(), s.trustedSchemas) {
		return nil, nil, nil
	}
	if s.floor != nil && invalid == nil {
		p = s.floor.PolicyFor(p)
	}
	return p, invalid, nil
}

// CheckRootConfig returns an error if the configuration on disk in root, the root of a work tree, is invalid: it would be trusted once it is committed.
func (s *Session) CheckRootConfig(root string) error {
	data, err := ReadConfig(filepath.Join(root, policy.File))
	isTrusted := s.TrustedText != nil && bytes.Equal(data, s.TrustedText) && len(s.trustedSchemas) == 0
	if err != nil || data == nil || isTrusted {
		return err
	}
	if _, err := policy.ParseWhole(policy.File, data, catalogue.Known(), SchemasIn(root)); err != nil {
		return &failure.Error{
			Message: "the configuration of the work tree is invalid: " + failure.Of(err).Message,
			Remedy:  "correct " + policy.File + "; " + policy.EveryKey,
			Err:     err,
		}
	}
	return nil
}

// OptionsForOldCommits returns the options for judging again the commits from before a change that ends at tip. added are the baselines that only the
// change's configuration has: they count for the old commits, too.
func (s *Session) OptionsForOldCommits(ctx context.Context, tip string) (opts run.Options, added []policy.Baseline, err error) {
	p, _, err := s.readProposed(ctx, tip) //nolint:errcheck // CheckProposed reports an invalid configuration; p is nil then
	opts = s.Opts
	if opts.Policy, added = s.Opts.Policy.ForOldCommits(p); len(added) > 0 {
		// A baseline is active only if the log in the commit Trusted begins with it. Before the change, the log may have fewer entries than that.
		opts.Trusted = tip
	}
	return opts, added, err
}

// ReadConfig reads a configuration from disk. It returns nil if there is no file, and fails if the file is not a regular one. It reads at most one byte
// more than policy.MaxSize.
func ReadConfig(path string) ([]byte, error) {
	return readConfig(path, "the configuration", "name another file with --config")
}

// readConfig reads a configuration or a floor as ReadConfig does. role is its name in messages: "the configuration" or "the floor". nameAnother is the
// part of a remedy that says how to name another file.
func readConfig(path, role, nameAnother string) ([]byte, error) {
	data, err := wholefile.Start(path, policy.MaxSize+1) // with one byte too many, the parser reports that the file is too large
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, wholefile.ErrNotRegular) {
		return nil, &failure.Error{
			Message: path + " is not an ordinary file",
			Remedy:  "replace it with an ordinary file, or " + nameAnother + "; " + policy.EveryKey,
			Err:     err,
		}
	}
	if err != nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("cannot read %s: %v", role, err),
			Remedy:  "make the file readable, or " + nameAnother,
			Err:     err,
		}
	}
	return data, nil
}
