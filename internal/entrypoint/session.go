package entrypoint

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/repository"
)

// session is one piece of work in a repository, or in a directory.
type session struct {
	// repo is nil in a directory; tree is either.
	repo repository.Repository
	tree history.Tree
	// why says why this reader was taken.
	why  string
	opts run.Options
	req  Request
	// trusted is the content of the configuration on the trusted side; nil if there is none.
	trusted []byte
}

// opener runs do in a session, and returns the name of the reader.
type opener func(ctx context.Context, mode string, do func(*session) error) (reader string, err error)

// inRepository is the opener of the request's repository; if another reader takes over, do runs again, in a new session.
func (r Request) inRepository(ctx context.Context, mode string, do func(*session) error) (reader string, err error) {
	opts, err := r.options(mode)
	if err != nil {
		return "", err
	}
	source := repository.Source{Dir: r.Dir, Environ: r.Environ, Reader: r.Reader, Mode: mode}
	return source.Do(ctx, func(repo repository.Repository, why string) error {
		return do(&session{repo: repo, tree: repo, why: why, opts: opts, req: r})
	})
}

// inDirectory is the opener of the request's directory, as its files are on disk.
func (r Request) inDirectory(_ context.Context, mode string, do func(*session) error) (reader string, err error) {
	opts, err := r.options(mode)
	if err != nil {
		return "", err
	}
	tree, err := directory.Open(cmp.Or(r.Dir, "."))
	if err != nil {
		return directory.Reader, err
	}
	return directory.Reader, do(&session{tree: tree, opts: opts, req: r})
}

// judge makes the report of a judgement in a repository.
func (r Request) judge(ctx context.Context, mode string, judge func(*session) (*finding.Report, error)) *finding.Report {
	return r.judgeIn(ctx, mode, r.inRepository, judge)
}

func (r Request) judgeIn(ctx context.Context, mode string, in opener, judge func(*session) (*finding.Report, error)) *finding.Report {
	var report *finding.Report
	reader, err := in(ctx, mode, func(s *session) (err error) {
		if report, err = judge(s); err == nil {
			err = s.addNotes(ctx, report)
		}
		if err != nil {
			report = run.FailureReport(s.opts, err)
		}
		if report.Failure == nil {
			return nil // and not a nil of that type
		}
		return report.Failure
	})
	if report == nil || failure.Of(err) != report.Failure {
		report = run.FailureReport(run.Options{Mode: mode, Strict: r.Strict}, err)
	}
	report.Examined.Reader = reader
	return report
}

// Notes on what git shows differently from what is judged. Both are a person's own, are in no clone, and would let a bad change
// pass or a good one fail.
const (
	noteReplaced = "this repository has replace refs; the real objects are judged"
	noteGrafted  = "this repository has grafts (info/grafts); the real parents are judged"
)

func (s *session) notes(ctx context.Context) ([]string, error) {
	var notes []string
	replaced, grafted, err := s.repo.Substitutes(ctx)
	if replaced {
		notes = append(notes, noteReplaced)
	}
	if grafted {
		notes = append(notes, noteGrafted)
	}
	return notes, err
}

func (s *session) addNotes(ctx context.Context, r *finding.Report) (err error) {
	if s.repo != nil && r.Verdict != finding.Error && r.Examined.Commits+r.Examined.Workspaces+r.Examined.Workflows+len(r.Findings) > 0 {
		r.Examined.Notes, err = s.notes(ctx)
	}
	return err
}

// configFile is the path of the configuration in a tree.
func (s *session) configFile() string {
	if s.req.TrustedConfig != "" {
		return s.req.TrustedConfig
	}
	return policy.File
}

// trust takes the policy from a revision, which label names for people; an empty revision has none.
func (s *session) trust(ctx context.Context, revision, label string) error {
	s.opts.Trusted = revision
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	if revision == "" {
		return s.use(label, nil)
	}
	data, found, err := githistory.ReadFile(ctx, s.repo, revision, s.configFile(), policy.MaxSize)
	if err != nil {
		return err
	}
	if found && s.req.TrustedConfig != "" {
		label = s.req.TrustedConfig + " in " + label
	}
	return s.use(label, data)
}

// trustNobody takes the built-in policy, and says why.
func (s *session) trustNobody(why string) error {
	s.opts.Trusted = ""
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	s.useDefaults(why)
	return nil
}

// useRoot takes the policy from the file in a root directory, if there is one.
func (s *session) useRoot(root string) error {
	data, err := readConfig(filepath.Join(root, policy.File))
	if err != nil {
		return err
	}
	if data == nil {
		s.opts.Policy = policy.Default()
		return nil
	}
	return s.use(policy.File, data)
}

// useFile takes the policy from a file that the caller names.
func (s *session) useFile(path string) error {
	data, err := readConfig(path)
	if err != nil {
		return err
	}
	if data == nil {
		return &failure.Error{Message: "cannot read the configuration: there is no file " + path, Remedy: "name an existing file with --config, or leave --config out"}
	}
	return s.use(path, data)
}

// use takes the policy from the content of a configuration, nil if there is none; source says where it is from.
func (s *session) use(source string, data []byte) (err error) {
	if s.trusted = data; data == nil {
		s.useDefaults("no " + s.configFile() + " in " + source)
		return nil
	}
	s.opts.Policy, err = policy.Parse(source, data, rules.Known())
	return err
}

func (s *session) useDefaults(why string) {
	s.opts.Policy = policy.Default()
	s.opts.Policy.Source += " (" + why + ")"
}

// checkAdded completes the report on a change whose end is tip. The change is judged under the trusted configuration, but an invalid
// one that it adds would be the next trusted one: then nothing could be judged, not even its correction. That is outcome 2 while it
// is easy to correct.
func (s *session) checkAdded(ctx context.Context, tip string, r *finding.Report) (*finding.Report, error) {
	if s.req.Config != "" || r.Verdict == finding.Error {
		return r, nil
	}
	data, found, err := githistory.ReadFile(ctx, s.repo, tip, s.configFile(), policy.MaxSize)
	if err != nil || !found || s.trusted != nil && bytes.Equal(data, s.trusted) {
		return r, err
	}
	if _, err := policy.Parse(s.configFile(), data, rules.Known()); err != nil {
		r.Verdict = finding.Error
		r.Failure = &failure.Error{
			Message: "this change adds an invalid configuration: " + failure.Of(err).Message,
			Remedy:  "correct it in this change; docs/configuration.md lists every key",
			Err:     err,
		}
	}
	return r, nil
}
