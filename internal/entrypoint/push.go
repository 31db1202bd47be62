package entrypoint

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/hookinput"
	"github.com/small-gate/small-gate/internal/wording"
)

// Where the refs of a push came from, for the report.
const (
	sourceStdin   = "standard input"
	sourceManager = "PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF"
	sourceBranch  = "PRE_COMMIT_LOCAL_BRANCH"
	sourceGuess   = "HEAD against what the remote is known to have"
)

// handover is what a hook knows about a push.
type handover struct {
	updates []hookinput.RefUpdate
	// remote is the name of the remote, or its URL; empty on the server.
	remote string
	// received is true on the server.
	received bool
	source   string
}

// PrePush judges what git is about to push, each ref by itself: every commit that the remote lacks, then the ref's old tip against its
// new one. args are the hook's arguments: the remote's name (or URL) and its URL. The policy is the default branch's; for the default
// branch itself, its old tip's.
func PrePush(ctx context.Context, req session.Request, args []string, stdin io.Reader) *finding.Report {
	push := handover{source: sourceStdin}
	if len(args) > 0 {
		push.remote = args[0]
	}
	lines := sync.OnceValues(func() ([]hookinput.RefUpdate, error) { return hookinput.ReadPrePush(stdin) })
	report := req.Judge(ctx, "pre-push", func(s *session.Session) (*finding.Report, error) {
		var err error
		if push.updates, err = lines(); err != nil {
			return nil, err
		}
		if len(push.updates) == 0 {
			if err := guess(ctx, s, &push); err != nil {
				return nil, err
			}
		}
		return pushTo(ctx, s, push)
	})
	report.Examined.Source = push.source
	return report
}

// pushTo judges a push to a remote, which has what its remote-tracking branches say.
func pushTo(ctx context.Context, s *session.Session, push handover) (*finding.Report, error) {
	var known []string
	if githistory.IsRemoteName(push.remote) { // a URL or a path has no remote-tracking branches
		var err error
		if known, err = s.Repo.Tips(ctx, "refs/remotes/"+push.remote+"/"); err != nil {
			return nil, err
		}
	}
	return judgePush(ctx, s, push, known), nil
}

// guess finds out what is pushed if standard input is empty: from the variables of the pre-commit framework, which consumes the lines
// and hands on one pair of revisions, or a branch alone if the push brings a root commit; else HEAD is judged against what the remote
// is known to have.
func guess(ctx context.Context, s *session.Session, push *handover) error {
	push.remote = cmp.Or(s.Req.Getenv("PRE_COMMIT_REMOTE_NAME"), push.remote, origin)
	from, to := s.Req.Getenv("PRE_COMMIT_FROM_REF"), s.Req.Getenv("PRE_COMMIT_TO_REF")
	push.source = sourceManager
	if to == "" {
		push.source, to = sourceBranch, s.Req.Getenv("PRE_COMMIT_LOCAL_BRANCH")
	}
	if to == "" && from != "" {
		return &failure.Error{
			Message: "PRE_COMMIT_FROM_REF is set, and neither PRE_COMMIT_TO_REF nor PRE_COMMIT_LOCAL_BRANCH says what is pushed",
			Remedy:  "`unset PRE_COMMIT_FROM_REF`, or set both as the pre-commit framework does",
		}
	}
	if to == "" {
		push.source, to = sourceGuess, "HEAD"
		if head, err := s.Repo.Head(ctx); err != nil || head == "" {
			return err
		}
	}
	u := hookinput.RefUpdate{LocalRef: to, Ref: s.Req.Getenv("PRE_COMMIT_REMOTE_BRANCH"), RemoteID: "0"}
	var err error
	if u.LocalID, err = s.Commit(ctx, to); err != nil {
		return err
	}
	if from != "" && !history.IsZero(from) {
		if u.RemoteID, err = s.Commit(ctx, from); err != nil {
			return err
		}
	}
	push.updates = []hookinput.RefUpdate{u}
	return nil
}

// PreReceive judges, on the server, what a push brings before any ref moves. The policy is the default branch's; for the default branch
// itself, its old tip's.
func PreReceive(ctx context.Context, req session.Request, stdin io.Reader) *finding.Report {
	lines := sync.OnceValues(func() ([]hookinput.RefUpdate, error) { return hookinput.ReadPreReceive(stdin) })
	report := req.Judge(ctx, "pre-receive", func(s *session.Session) (*finding.Report, error) {
		updates, err := lines()
		if err != nil {
			return nil, err
		}
		if len(updates) == 0 { // git runs this hook for a ref at least (githooks(5))
			return nil, &failure.Error{
				Message: "standard input names no ref: something before this command has consumed what git wrote",
				Remedy:  "hand it on: `refs=$(cat)`, then `printf '%s\\n' \"$refs\" | small-hook pre-receive`",
			}
		}
		known, err := s.Repo.Tips(ctx)
		if err != nil {
			return nil, err
		}
		return judgePush(ctx, s, handover{updates: updates, received: true}, known), nil
	})
	report.Examined.Source = sourceStdin
	return report
}

// move is an update of a ref that leads to a commit.
type move struct {
	hookinput.RefUpdate
	// tip is the commit where the ref will be.
	tip string
	// known is true if the other side has that commit already.
	known bool
}

// isOf reports whether the ref that moves is the default branch, as the other side calls it.
func (m move) isOf(branch githistory.Branch, remote string) bool {
	ref := m.Ref
	if !strings.HasPrefix(ref, "refs/") {
		ref = "refs/heads/" + ref // as a hook manager may name it
	}
	return strings.HasPrefix(branch.Ref, "refs/") && ref == "refs/heads/"+branchName(branch.Ref, remote)
}

// judgePush judges each update by itself and makes one report of them. One that cannot be judged does not hide the findings of the others.
func judgePush(ctx context.Context, s *session.Session, push handover, known []string) *finding.Report {
	var reports []*finding.Report
	add := func(report *finding.Report, err error) {
		if err != nil {
			report = run.FailureReport(s.Opts, err)
		}
		reports = []*finding.Report{finding.Combine(append(reports, report))} // at once: each may be large
	}
	var moves []move
	for _, u := range push.updates {
		if u.Deletes() {
			continue
		}
		tip, here, err := s.Repo.Peel(ctx, u.LocalID)
		if err == nil && !here {
			err = githistory.Unreadable(u.LocalID, nil)
		}
		if err != nil {
			add(nil, err)
		} else if tip != "" {
			moves = append(moves, move{RefUpdate: u, tip: tip})
		}
	}
	branch, err := defaultBranch(ctx, s, push)
	if err != nil {
		add(nil, err)
		return finding.Combine(reports)
	}
	findKnown(ctx, s, moves, known)
	for _, m := range moves {
		if push.received && branch.Missing() && m.Ref == branch.Ref {
			add(nil, headless(branch))
			continue
		}
		if !push.received {
			s.FindStandings(ctx, m.tip)
		}
		add(update(ctx, s, m, push.remote, branch, known, moves))
	}
	if len(reports) == 0 {
		return run.Nothing(s.Opts)
	}
	return finding.Combine(reports)
}

func defaultBranch(ctx context.Context, s *session.Session, push handover) (githistory.Branch, error) {
	if push.received {
		return githistory.HeadBranch(ctx, s.Repo)
	}
	return githistory.DefaultBranch(ctx, s.Repo, push.remote)
}

// headless is the failure for a push that would create the branch that the server's HEAD names: its policy would hold for everybody
// from then on.
func headless(branch githistory.Branch) error {
	return &failure.Error{
		Message: fmt.Sprintf("HEAD names %s, which does not exist: whoever creates it would choose the policy of all branches", wording.Printable(branch.Ref)),
		Remedy:  "name the default branch, on the server: `git symbolic-ref HEAD refs/heads/NAME`",
	}
}

// findKnown finds the moves to what the other side already has: then a push of a thousand tags is one question, not a thousand
// judgements. If that fails, every move is judged, and says why it cannot be.
func findKnown(ctx context.Context, s *session.Session, moves []move, known []string) {
	if len(moves) == 0 {
		return
	}
	var tips []string
	for _, m := range moves {
		tips = append(tips, m.tip)
	}
	commits, err := s.Repo.Commits(ctx, tips, known)
	if err != nil {
		return
	}
	fresh := map[string]bool{}
	for _, c := range commits {
		fresh[c.ID] = true
	}
	for i := range moves {
		moves[i].known = !fresh[moves[i].tip]
	}
}

func update(ctx context.Context, s *session.Session, m move, remote string, branch githistory.Branch, known []string, moves []move) (*finding.Report, error) {
	update := history.Update{Ref: m.Ref, New: m.tip, Known: known}
	if !m.Creates() {
		var err error
		if update.Old, err = oldTip(ctx, s, m.RefUpdate, remote); err != nil {
			return nil, err
		}
	}
	s.Opts.Branch = branchName(m.Ref, remote)
	update.Target, update.Name = target(m, remote, branch, moves), branchName(m.Ref, remote)
	update.PolicyFromOldTip = branch == githistory.Branch{} || update.Old != "" && m.isOf(branch, remote)
	if remote == "" && branch == (githistory.Branch{}) && update.Old != "" {
		// A server without branches: what a tag names is nobody's configuration.
		if err := s.TrustNobody("there is no branch yet"); err != nil {
			return nil, err
		}
	} else if err := trustForRef(ctx, s, update, branch); err != nil {
		return nil, err
	}
	if m.known && m.Creates() {
		report := run.Nothing(s.Opts)
		report.Examined.Head = m.tip
		return report, nil
	}
	return s.CheckAdded(ctx, m.tip, gate.Push(ctx, s.Repo, update, s.Opts))
}

// target is the default branch as it will be after the push, for a move of another branch; else nothing. What is pushed without a ref's
// name is taken for a branch.
func target(m move, remote string, branch githistory.Branch, moves []move) history.Tip {
	if branch.ID == "" || m.Ref != "" && !strings.HasPrefix(m.Ref, "refs/heads/") || m.isOf(branch, remote) {
		return history.Tip{}
	}
	tip := history.Tip{ID: branch.ID, Name: history.ShortRef(branch.Ref)}
	for _, other := range moves {
		if other.isOf(branch, remote) {
			tip = history.Tip{ID: other.tip, Name: branchName(branch.Ref, remote)}
		}
	}
	return tip
}

// oldTip is the commit where a ref is now.
func oldTip(ctx context.Context, s *session.Session, u hookinput.RefUpdate, remote string) (string, error) {
	old, here, err := s.Repo.Peel(ctx, u.RemoteID)
	if err != nil || here {
		return old, err
	}
	current, err := s.Repo.CurrentBranch(ctx)
	if err != nil {
		return "", err
	}
	return "", &failure.Error{
		Message: fmt.Sprintf("%s has moved on: on the remote it is at %s, which is not here", history.ShortRef(u.Ref), u.RemoteID),
		Remedy:  catchUp(u, remote, current),
	}
}

// catchUp is what to type where the remote's branch has moved on.
func catchUp(u hookinput.RefUpdate, remote, current string) string {
	branch, ok := strings.CutPrefix(u.Ref, "refs/heads/")
	if !ok || !githistory.IsRemoteName(remote) || current == "" {
		return fmt.Sprintf("`git fetch %s %s`", wording.ShellWord(cmp.Or(remote, origin)), wording.ShellWord(u.Ref))
	}
	sync := fmt.Sprintf("`small-hook sync %s %s`", wording.ShellWord(remote), wording.ShellWord(branch))
	if local, ok := strings.CutPrefix(u.LocalRef, "refs/heads/"); ok && u.LocalRef != current {
		return fmt.Sprintf("`git switch %s`, then %s", wording.ShellWord(local), sync)
	}
	return sync
}

// trustForRef takes the policy from the default branch, or from the ref's own old tip if that is the default branch or there is none. If
// HEAD names a missing branch, nobody's policy counts.
func trustForRef(ctx context.Context, s *session.Session, u history.Update, branch githistory.Branch) error {
	switch {
	case branch.Missing():
		return s.TrustNobody("HEAD names " + branch.Ref + ", which does not exist")
	case !u.PolicyFromOldTip:
		return s.Trust(ctx, branch.ID, branch.Ref)
	case u.Old == "":
		return s.Trust(ctx, "", u.Ref)
	}
	return s.Trust(ctx, u.Old, u.Ref+" before the push")
}

// branchName is a branch's name without the prefix of heads, of the remote or of origin; other refs keep their full name.
func branchName(ref, remote string) string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/" + remote + "/", "refs/remotes/" + origin + "/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return name
		}
	}
	return ref
}

// SyncedPush judges a push of one ref to a remote as the pre-push hook does.
func SyncedPush(ctx context.Context, req session.Request, remote string, update hookinput.RefUpdate) *finding.Report {
	return req.Judge(ctx, "sync", func(s *session.Session) (*finding.Report, error) {
		return pushTo(ctx, s, handover{updates: []hookinput.RefUpdate{update}, remote: remote})
	})
}
