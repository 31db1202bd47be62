package entrypoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/hook"
)

// Where the refs of a push came from, for the report.
const (
	sourceStdin   = "standard input"
	sourceManager = "PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF"
	sourceBranch  = "PRE_COMMIT_LOCAL_BRANCH"
	sourceGuess   = "HEAD against what the remote is known to have, since no refs were handed over"
)

// handover is what a hook was told of a push.
type handover struct {
	updates []hook.RefUpdate
	// remote is the name of the remote, or its URL; empty on the server.
	remote string
	// source says where this is from.
	source string
}

// PrePush judges what git is about to push, each ref by itself: every commit
// that the remote lacks, then the ref's old tip against its new one. args are
// the hook's arguments: the remote's name (or URL) and its URL. The policy is
// the default branch's; for the default branch itself, its old tip's.
func PrePush(ctx context.Context, req Request, args []string, stdin io.Reader) *gate.Report {
	told := handover{source: sourceStdin}
	if len(args) > 0 {
		told.remote = args[0]
	}
	report := inRepository(ctx, req, "pre-push", func(s *session) (*gate.Report, error) {
		var err error
		if told.updates, err = refLines(hook.ReadPrePush(stdin)); err != nil {
			return nil, err
		}
		if len(told.updates) == 0 {
			if err := s.unsaid(ctx, &told); err != nil {
				return nil, err
			}
		}
		known, err := s.knownTo(ctx, told.remote)
		if err != nil {
			return nil, err
		}
		return s.push(ctx, told, known), nil
	})
	report.Examined.Source = told.source
	return report
}

// refLines passes on what was read, and takes an error apart into what is wrong
// and what to do about it.
func refLines(updates []hook.RefUpdate, err error) ([]hook.RefUpdate, error) {
	var trouble *hook.Error
	if errors.As(err, &trouble) {
		message, remedy, _ := strings.Cut(trouble.Error(), "\n")
		return nil, &gate.Failure{Message: message, Remedy: remedy, Err: err}
	}
	return updates, err
}

// knownTo lists the commits that a remote is known to have.
func (s *session) knownTo(ctx context.Context, remote string) ([]string, error) {
	if remote == "" || strings.ContainsAny(remote, ":\\ ") || strings.HasPrefix(remote, "/") || strings.HasPrefix(remote, ".") {
		return nil, nil // a URL or a path, which has no remote-tracking branches
	}
	return s.repo.Tips(ctx, "refs/remotes/"+remote+"/")
}

// unsaid finds out what is pushed where standard input says nothing: from the
// variables of the pre-commit framework, which takes the lines for itself and
// hands on one pair of revisions, or a branch alone where the push brings a
// root commit; else HEAD is judged against what the remote is known to have.
func (s *session) unsaid(ctx context.Context, told *handover) error {
	getenv := func(key string) string { return lookup(s.req.Environ, key) }
	if name := getenv("PRE_COMMIT_REMOTE_NAME"); name != "" {
		told.remote = name
	}
	if told.remote == "" {
		told.remote = "origin"
	}
	from, to := getenv("PRE_COMMIT_FROM_REF"), getenv("PRE_COMMIT_TO_REF")
	told.source = sourceManager
	if to == "" {
		told.source, to = sourceBranch, getenv("PRE_COMMIT_LOCAL_BRANCH")
	}
	if to == "" {
		told.source, to = sourceGuess, "HEAD"
		if head, err := s.repo.Head(ctx); err != nil || head == "" {
			return err
		}
	}
	u := hook.RefUpdate{LocalRef: to, Ref: getenv("PRE_COMMIT_REMOTE_BRANCH")}
	var err error
	if u.LocalID, err = s.commit(ctx, to); err != nil {
		return err
	}
	u.RemoteID = "0"
	if from != "" && !hook.IsZero(from) {
		if u.RemoteID, err = s.commit(ctx, from); err != nil {
			return err
		}
	}
	told.updates = []hook.RefUpdate{u}
	return nil
}

// PreReceive judges, on the server, what a push brings before any ref moves.
// The policy is the default branch's; for the default branch itself, its old
// tip's.
func PreReceive(ctx context.Context, req Request, stdin io.Reader) *gate.Report {
	report := inRepository(ctx, req, "pre-receive", func(s *session) (*gate.Report, error) {
		updates, err := refLines(hook.ReadPreReceive(stdin))
		if err != nil {
			return nil, err
		}
		known, err := s.repo.Tips(ctx)
		if err != nil {
			return nil, err
		}
		return s.push(ctx, handover{updates: updates}, known), nil
	})
	report.Examined.Source = sourceStdin
	return report
}

// push judges each update by itself and makes one report of them. One that
// cannot be judged does not keep the others from being told.
func (s *session) push(ctx context.Context, told handover, known []string) *gate.Report {
	var reports []*gate.Report
	for _, u := range told.updates {
		if u.Deletes() {
			continue
		}
		report, err := s.update(ctx, u, told.remote, known)
		if err != nil {
			report = gate.FailureReport(s.opts, err)
		}
		if report != nil {
			reports = append(reports, report)
		}
	}
	if len(reports) == 0 {
		return gate.Nothing(s.opts)
	}
	return gate.Combine(reports)
}

// update judges one ref's move. It returns nil for a ref that leads to no
// commit.
func (s *session) update(ctx context.Context, u hook.RefUpdate, remote string, known []string) (*gate.Report, error) {
	tip, isCommit, err := s.repo.Peel(ctx, u.LocalID)
	if err != nil || !isCommit {
		return nil, err
	}
	move := gate.Update{Ref: u.Ref, New: tip, Known: known}
	if !u.Creates() {
		if move.Old, err = s.oldTip(ctx, u, remote); err != nil {
			return nil, err
		}
	}
	if err := s.trustForRef(ctx, u.Ref, move.Old, remote); err != nil {
		return nil, err
	}
	return s.withBrought(ctx, move.New, gate.Push(ctx, s.repo, move, s.opts))
}

// oldTip is the commit where a ref is now. One that is not here cannot be
// compared with: it has to be fetched first.
func (s *session) oldTip(ctx context.Context, u hook.RefUpdate, remote string) (string, error) {
	here, err := s.repo.Has(ctx, u.RemoteID)
	if err != nil {
		return "", err
	}
	if !here {
		if remote == "" {
			remote = "origin"
		}
		return "", &gate.Failure{
			Message: fmt.Sprintf("%s is at %s on the remote, and that commit is not here: it cannot be seen whether the push drops entries", u.Ref, u.RemoteID),
			Remedy:  fmt.Sprintf("git fetch %s %s", remote, u.Ref),
		}
	}
	old, isCommit, err := s.repo.Peel(ctx, u.RemoteID)
	if err != nil || !isCommit {
		return "", err
	}
	return old, nil
}

// trustForRef takes the policy from the default branch, or from a ref's own
// old tip where that is the default branch.
func (s *session) trustForRef(ctx context.Context, ref, old, remote string) error {
	branch, err := s.repo.DefaultBranch(ctx, remote)
	if err != nil {
		return err
	}
	if branch.ID == "" {
		return s.trust(ctx, old, ref)
	}
	if old != "" && branchName(ref) == branchName(branch.Ref) {
		return s.trust(ctx, old, ref+" before the push")
	}
	return s.trust(ctx, branch.ID, branch.Ref)
}

// branchName is a branch's name without the prefix of heads or of a remote;
// other refs keep their full name.
func branchName(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return name
	}
	if rest, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
		_, name, _ := strings.Cut(rest, "/")
		return name
	}
	return ref
}

// lookup reads a variable of an environment, the last one of a name.
func lookup(environ []string, key string) string {
	for _, kv := range slices.Backward(environ) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			return v
		}
	}
	return ""
}
