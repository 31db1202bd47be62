package entrypoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/gate/run"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/policy"
)

// session is one piece of work in a repository.
type session struct {
	opened
	opts run.Options
	req  Request
	// trusted is the content of the configuration on the trusted side, and found says that there is one.
	trusted []byte
	found   bool
}

// inSession runs do on the request's repository and returns its error. reader names what read the repository.
func (r Request) inSession(ctx context.Context, mode string, do func(*session) error) (reader string, err error) {
	opts, err := r.options(mode, "any")
	if err != nil {
		return "", err
	}
	var done error
	reader, err = r.read(ctx, mode, func(o opened) error {
		done = do(&session{opened: o, opts: opts, req: r})
		return done
	})
	if done != nil && !errors.Is(err, done) { // else err says more about it
		err = errors.Join(done, err)
	}
	return reader, err
}

// inRepository runs a judgement inside the request's repository.
func inRepository(ctx context.Context, req Request, mode string, judge func(*session) (*finding.Report, error)) *finding.Report {
	opts, err := req.options(mode, "any")
	if err != nil {
		return run.FailureReport(opts, err)
	}
	var report *finding.Report
	reader, err := req.read(ctx, mode, func(o opened) error {
		s := &session{opened: o, opts: opts, req: req}
		var err error
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
	if err != nil {
		report = run.FailureReport(opts, err)
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
	replaced, err := s.repo.ReplaceRefs(ctx)
	if err != nil {
		return nil, err
	}
	if replaced {
		notes = append(notes, noteReplaced)
	}
	grafted, err := s.repo.Grafts()
	if grafted {
		notes = append(notes, noteGrafted)
	}
	return notes, err
}

// addNotes adds the notes to a report that judged something.
func (s *session) addNotes(ctx context.Context, r *finding.Report) (err error) {
	if r.Verdict != finding.Error && r.Examined.Commits+r.Examined.Workspaces+r.Examined.Workflows+len(r.Findings) > 0 {
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

// trust takes the policy from a revision, which label names for people. An empty revision has none.
func (s *session) trust(ctx context.Context, revision, label string) error {
	s.opts.Trusted = revision
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	if revision == "" {
		return s.use(label, nil, false)
	}
	data, found, err := githistory.ReadFile(ctx, s.repo, revision, s.configFile(), policy.MaxSize)
	if err != nil {
		return err
	}
	if found && s.req.TrustedConfig != "" {
		label = s.req.TrustedConfig + " in " + label
	}
	return s.use(label, data, found)
}

// trustHead takes the policy from HEAD, which an unborn branch does not have.
func (s *session) trustHead(ctx context.Context, head string) error {
	if head == "" {
		return s.trust(ctx, "", "")
	}
	return s.trust(ctx, head, "HEAD")
}

// trustNobody takes the built-in policy, and says why.
func (s *session) trustNobody(why string) error {
	s.opts.Trusted = ""
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	err := s.use("", nil, false)
	s.opts.Policy.Source = fmt.Sprintf("%s (%s)", policy.BuiltIn, why)
	return err
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
	return s.use(path, data, true)
}

// use parses a policy, or takes the built-in one if there is none.
func (s *session) use(source string, data []byte, found bool) error {
	s.trusted, s.found = data, found
	if !found {
		s.opts.Policy = policy.Default()
		if source != "" {
			s.opts.Policy.Source = fmt.Sprintf("%s (no %s in %s)", policy.BuiltIn, s.configFile(), source)
		}
		return nil
	}
	p, err := policy.Parse(source, data, rules.Known())
	if err != nil {
		return err
	}
	s.opts.Policy = p
	return nil
}

// checkAdded completes the report on a change whose end is tip. The change is judged under the trusted configuration, but an invalid
// one that it adds would be the next trusted one: then nothing could be judged, not even its correction. That is outcome 2 while it
// is easy to correct.
func (s *session) checkAdded(ctx context.Context, tip string, r *finding.Report) (*finding.Report, error) {
	if s.req.Config != "" || r.Verdict == finding.Error {
		return r, nil
	}
	data, found, err := githistory.ReadFile(ctx, s.repo, tip, s.configFile(), policy.MaxSize)
	if err != nil || !found || s.found && bytes.Equal(data, s.trusted) {
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
