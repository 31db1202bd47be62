package entrypoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

// Request is what a person or a CI job may say about a judgement.
type Request struct {
	// Dir is where to look; empty means the current directory.
	Dir string
	// Strict turns strict rules on.
	Strict bool
	// Workspace is "root", "examples" or "any": which kinds of workspace are
	// accepted. Empty leaves it to the entry point.
	Workspace string
	// Config is a file that replaces the trusted policy, at the caller's own
	// choice.
	Config string
	// TrustedConfig is the path of the configuration in the trusted tree; empty
	// means policy.File at its root.
	TrustedConfig string
	// FailOnWarning makes warnings fail.
	FailOnWarning bool
	// MaxFileSize in bytes; 0 leaves the policy's limit.
	MaxFileSize int64
	// Each judges the snapshot of every commit.
	Each bool
	// Lane is the lane that the caller claims, one of policy.LaneNames in upper or
	// lower case; empty for none.
	Lane string
	// LaneFrom says how the caller claims it; empty stands for lane.FromCaller.
	LaneFrom lane.Source
	// Labels are those labels of a pull request that claim a lane.
	Labels []string
	// Reader names what reads the repository, one of Readers.
	Reader string
	// Environ is the process's environment.
	Environ []string
	// Now is the present.
	Now time.Time
	// Progress, if set, is called while commits are judged.
	Progress func(done, total int)

	// find is that of [gate.Options].
	find string
}

// agentVariable names the agent in whose environment a hook runs.
const agentVariable = "SMALL_AGENT_ID"

// Agent is the id of the agent in whose environment this runs; empty for a
// person.
func (r Request) Agent() string { return strings.TrimSpace(lookup(r.Environ, agentVariable)) }

// Edited reports whether git will start an editor on the message of the commit
// that a hook runs for: where none comes, git names ":" as the hook's editor.
func (r Request) Edited() bool { return lookup(r.Environ, "GIT_EDITOR") != ":" }

// kinds maps --workspace to the kinds that it accepts.
var kinds = map[string][]string{
	"root":     {gate.KindRepoRoot},
	"examples": {gate.KindExamples},
	"any":      {gate.KindRepoRoot, gate.KindExamples},
}

// options begins the options of a judgement. otherwise is the --workspace
// that holds when none is given.
func (r Request) options(mode, otherwise string) (gate.Options, error) {
	opts := gate.Options{
		Mode: mode, Strict: r.Strict, Now: r.Now, MaxFileSize: r.MaxFileSize, Each: r.Each, Progress: r.Progress,
		FailOnWarning: r.FailOnWarning, Find: r.find,
		Agent:  lookup(r.Environ, agentVariable),
		Labels: r.Labels, LaneFrom: r.LaneFrom,
	}
	var err error
	if opts.Lane, err = r.claimedLane(); err != nil {
		return opts, err
	}
	name := strings.ToLower(strings.TrimSpace(r.Workspace))
	if name == "" {
		name = otherwise
	}
	accepted, ok := kinds[name]
	if !ok {
		return opts, &gate.Failure{
			Message: fmt.Sprintf("there is no workspace kind %q", name),
			Remedy:  "use --workspace root, examples or any",
		}
	}
	opts.Kinds = accepted
	if r.MaxFileSize < 0 {
		return opts, &gate.Failure{Message: "--max-file-size is negative", Remedy: "give a number of bytes, such as --max-file-size 33554432"}
	}
	return opts, nil
}

// session is one judgement of a repository.
type session struct {
	opened
	opts gate.Options
	req  Request
	// trusted is the content of the trusted configuration, where a revision
	// has one.
	trusted []byte
	// found says that the trusted side has a configuration.
	found bool
	// glance is what peek has read of the revision peekedAt, glanceFound that there
	// is something, and glanceErr why it could not read it.
	peeked, glanceFound bool
	peekedAt            string
	glance              []byte
	glanceErr           error
}

// configFile is the path of the configuration in a tree.
func (s *session) configFile() string {
	if s.req.TrustedConfig != "" {
		return s.req.TrustedConfig
	}
	return policy.File
}

// inRepository runs a judgement inside the request's repository.
func inRepository(ctx context.Context, req Request, mode string, judge func(*session) (*gate.Report, error)) *gate.Report {
	opts, err := req.options(mode, "any")
	if err != nil {
		return gate.FailureReport(opts, err)
	}
	var report *gate.Report
	reader, err := req.read(ctx, mode, func(o opened) error {
		s := &session{opened: o, opts: opts, req: req}
		var err error
		if report, err = judge(s); err == nil {
			report, err = s.withNotes(ctx, report)
		}
		if err != nil {
			report = gate.FailureReport(s.opts, err)
		}
		if report.Failure == nil {
			return nil // and not a nil of that type
		}
		return report.Failure
	})
	if err != nil {
		report = gate.FailureReport(opts, err)
	}
	report.Examined.Reader = reader
	return report
}

// trust takes the policy from a revision; label says in words which it is. An
// empty revision has none.
func (s *session) trust(ctx context.Context, revision, label string) error {
	s.opts.Trusted = revision
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	var data []byte
	found := false
	var err error
	switch {
	case s.peeked && s.peekedAt == revision:
		data, found, err = s.glance, s.glanceFound, s.glanceErr
	case revision != "":
		data, found, err = s.repo.ReadFile(ctx, revision, s.configFile(), policy.MaxSize)
	}
	if err != nil {
		return err
	}
	s.trusted, s.found = data, found
	if found && s.req.TrustedConfig != "" {
		label = s.req.TrustedConfig + " in " + label
	}
	return s.use(label, data, found)
}

// trustNobody takes the built-in policy, and says why.
func (s *session) trustNobody(why string) error {
	s.opts.Trusted = ""
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	s.trusted, s.found = nil, false
	s.opts.Policy = policy.Default()
	s.opts.Policy.Source = fmt.Sprintf("%s (%s)", policy.BuiltIn, why)
	return nil
}

// mayConfigureWorkflows reports whether the trusted policy may name files beside
// workspaces. A policy that is not read yet is not parsed for it, so that a
// commit which touches nothing of interest is not held up by one.
func (s *session) mayConfigureWorkflows(ctx context.Context, revision string) (bool, error) {
	data, err := s.peek(ctx, revision)
	var failure *gate.Failure
	if errors.As(err, &failure) && failure.Err == nil {
		return false, nil // it is no file: it configures nothing, and whoever needs it says so
	}
	return policy.MayConfigureWorkflows(data), err
}

// peek reads the trusted policy, once, for a look at its bytes. It is nil where
// there is none.
func (s *session) peek(ctx context.Context, revision string) ([]byte, error) {
	if s.peeked {
		return s.glance, s.glanceErr
	}
	s.peeked, s.peekedAt = true, revision
	switch {
	case s.req.Config != "":
		s.glance, s.glanceErr = readConfig(s.req.Config)
	case revision != "":
		s.glance, s.glanceFound, s.glanceErr = s.repo.ReadFile(ctx, revision, s.configFile(), policy.MaxSize)
	}
	return s.glance, s.glanceErr
}

// useFile takes the policy from a file that the caller names.
func (s *session) useFile(path string) error {
	data, err := readConfig(path)
	if err != nil {
		return err
	}
	if data == nil {
		return &gate.Failure{Message: "cannot read the configuration: there is no file " + path, Remedy: "name an existing file with --config, or leave --config out"}
	}
	return s.use(path, data, true)
}

// use parses a policy, or takes the built-in one where there is none.
func (s *session) use(source string, data []byte, found bool) error {
	if !found {
		s.opts.Policy = policy.Default()
		if source != "" {
			s.opts.Policy.Source = fmt.Sprintf("%s (no %s in %s)", policy.BuiltIn, s.configFile(), source)
		}
		return nil
	}
	p, err := policy.Parse(source, data, gate.Known())
	if err != nil {
		return &gate.Failure{
			Message: oneLine(err),
			Remedy:  "correct it there; docs/configuration.md lists every key",
			Err:     err,
		}
	}
	s.opts.Policy = p
	return nil
}

// oneLine is an error that lists problems, one to a line, as one sentence.
func oneLine(err error) string {
	headline, problems, found := strings.Cut(err.Error(), "\n")
	if !found {
		return headline
	}
	lines := strings.Split(problems, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return headline + ": " + strings.Join(lines, "; ")
}
