package judge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/hookinput"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// sourceStdin is the report's word for where a push's refs are read.
const sourceStdin = "standard input"

// sourceHead is the report's word for a push whose refs nobody names.
const sourceHead = "HEAD against what the remote is known to have"

// handover is what a hook knows about a push.
type handover struct {
	updates []hookinput.RefUpdate
	// remote is the name of the remote, or its URL; empty on the server.
	remote string
	// received is true on the server.
	received bool
	source   string
	// known are commits that the other side has, and branch is its default branch.
	known  []string
	branch githistory.Branch
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
	report := req.Judge(ctx, "pre-push", func(s *session.Session) (_ *finding.Report, err error) {
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

// pushTo judges a push to a remote, which has the commits of its remote-tracking branches.
func pushTo(ctx context.Context, s *session.Session, push handover) (_ *finding.Report, err error) {
	if githistory.IsRemoteName(push.remote) { // a URL or a path has no remote-tracking branches
		if push.known, err = s.Repo.Tips(ctx, "refs/remotes/"+push.remote+"/"); err != nil {
			return nil, err
		}
	}
	if push.branch, err = githistory.DefaultBranch(ctx, s.Repo, push.remote); err != nil {
		return nil, err
	}
	report := push.judge(ctx, s)
	if push.source == sourceHead {
		err = push.nameSync(ctx, s, report)
	}
	return report, err
}

// nameSync has the warning that the checked-out branch and its own remote branch have diverged say what to type: git refuses this push.
func (p handover) nameSync(ctx context.Context, s *session.Session, r *finding.Report) error {
	current, err := s.Repo.CurrentBranch(ctx)
	if err != nil || p.branch.Ref != "refs/remotes/"+p.remote+"/"+history.ShortRef(current) {
		return err
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Fix == run.SettledByMerge {
			f.Fix = fmt.Sprintf("take in what the remote has, and push again: `small-hook sync %s %s`", wording.ShellWord(p.remote), wording.ShellWord(history.ShortRef(current)))
		}
	}
	return nil
}

// guess finds out what is pushed if standard input is empty: from the variables of the pre-commit framework, which consumes the lines and
// passes on one pair of revisions, or only a branch if the push has a root commit; otherwise HEAD is judged against what the remote is
// known to have.
func guess(ctx context.Context, s *session.Session, push *handover) error {
	push.remote = cmp.Or(s.Req.Getenv("PRE_COMMIT_REMOTE_NAME"), push.remote, origin)
	from, to := s.Req.Getenv("PRE_COMMIT_FROM_REF"), s.Req.Getenv("PRE_COMMIT_TO_REF")
	push.source = "PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF"
	if to == "" {
		push.source, to = "PRE_COMMIT_LOCAL_BRANCH", s.Req.Getenv("PRE_COMMIT_LOCAL_BRANCH")
	}
	if to == "" && from != "" {
		return &failure.Error{
			Message: "PRE_COMMIT_FROM_REF is set, and neither PRE_COMMIT_TO_REF nor PRE_COMMIT_LOCAL_BRANCH says what is pushed",
			Remedy:  "`unset PRE_COMMIT_FROM_REF`, or set both as the pre-commit framework does",
		}
	}
	if to == "" {
		push.source, to = sourceHead, "HEAD"
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
		if len(updates) == 0 { // git runs this hook for at least one ref (githooks(5))
			return nil, &failure.Error{
				Message: "standard input names no ref: something before this command has consumed what git wrote",
				Remedy:  "hand it on: `refs=$(cat)`, then `printf '%s\\n' \"$refs\" | small-hook pre-receive`",
			}
		}
		push := handover{updates: updates, received: true}
		if push.known, err = s.Repo.Tips(ctx); err == nil {
			push.branch, err = githistory.HeadBranch(ctx, s.Repo)
		}
		if err != nil {
			return nil, err
		}
		return push.judge(ctx, s), nil
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

// judge judges each update by itself and combines the reports. An update that cannot be judged does not hide the findings of the others.
func (p handover) judge(ctx context.Context, s *session.Session) *finding.Report {
	report := run.EmptyReport(s.Opts)
	judged := false
	add := func(r *finding.Report, err error) {
		if err != nil {
			r = run.FailureReport(s.Opts, err)
		}
		if judged {
			r = finding.Combine([]*finding.Report{report, r}) // combine at once: each report may be large
		}
		report, judged = r, true
	}
	var moves []move
	for _, u := range p.updates {
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
	p.findKnown(ctx, s, moves)
	for _, m := range moves {
		if !p.received {
			s.SetStandings(ctx, m.tip)
		}
		add(p.judgeMove(ctx, s, m, moves))
	}
	return report
}

// findKnown marks the moves to commits that the other side already has: for a push of a thousand tags this is one query, not a thousand
// judgements. If it fails, every move is judged, and its report says why that is impossible.
func (p handover) findKnown(ctx context.Context, s *session.Session, moves []move) {
	if len(moves) == 0 {
		return
	}
	var tips []string
	for _, m := range moves {
		tips = append(tips, m.tip)
	}
	commits, err := s.Repo.Commits(ctx, tips, p.known)
	if err != nil {
		return
	}
	fresh := map[string]bool{}
	for _, c := range commits {
		fresh[c.ID] = true
	}
	for i, m := range moves {
		moves[i].known = !fresh[m.tip]
	}
}

// judgeMove judges one of a push's moves.
func (p handover) judgeMove(ctx context.Context, s *session.Session, m move, moves []move) (*finding.Report, error) {
	if p.received && p.branch.Missing() && m.Ref == p.branch.Ref {
		return nil, &failure.Error{
			Message: fmt.Sprintf("HEAD names %s, which does not exist: whoever creates it would choose the configuration of all branches", wording.Printable(p.branch.Ref)),
			Remedy:  "name the default branch, on the server: `git symbolic-ref HEAD refs/heads/NAME`",
		}
	}
	name := branchName(m.Ref, p.remote)
	update := history.Update{Ref: m.Ref, Name: name, New: m.tip, Known: p.known, Target: p.target(m, moves)}
	if !m.Creates() {
		var err error
		if update.Old, err = oldTip(ctx, s, m.RefUpdate, p.remote); err != nil {
			return nil, err
		}
	}
	s.Opts.Branch = name
	if p.isDefault(m) {
		s.SetBranches(history.Tip{ID: update.Old, Name: name}, history.Tip{ID: update.New, Name: name})
	} else {
		s.SetBranches(update.Target, update.Target)
	}
	unborn := p.branch == githistory.Branch{}
	update.PolicyFromOldTip = unborn || update.Old != "" && p.isDefault(m)
	if p.remote == "" && unborn && update.Old != "" {
		// On a server without branches, nobody's configuration counts, not that of a tag.
		if err := s.TrustDefaults("there is no branch yet"); err != nil {
			return nil, err
		}
	} else if err := trustForRef(ctx, s, update, p.branch); err != nil {
		return nil, err
	}
	if m.known && m.Creates() {
		report := run.EmptyReport(s.Opts)
		report.Examined.Head = m.tip
		return report, nil
	}
	return s.CheckProposed(ctx, m.tip, gate.Push(ctx, s.Repo, update, s.Opts))
}

// isDefault reports whether the ref that moves is the default branch, as the other side calls it.
func (p handover) isDefault(m move) bool {
	ref := m.Ref
	if !strings.HasPrefix(ref, "refs/") {
		ref = "refs/heads/" + ref // as a hook manager may name it
	}
	return strings.HasPrefix(p.branch.Ref, "refs/") && ref == "refs/heads/"+branchName(p.branch.Ref, p.remote)
}

// target is the default branch after the push, for a move of another branch; else the zero Tip. A push that names no ref counts as a
// branch.
func (p handover) target(m move, moves []move) history.Tip {
	if p.branch.ID == "" || m.Ref != "" && !strings.HasPrefix(m.Ref, "refs/heads/") || p.isDefault(m) {
		return history.Tip{}
	}
	tip := history.Tip{ID: p.branch.ID, Name: history.ShortRef(p.branch.Ref)}
	for _, other := range moves {
		if p.isDefault(other) {
			tip = history.Tip{ID: other.tip, Name: branchName(p.branch.Ref, p.remote)}
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
		Remedy:  catchUp(u, remote, current, s.Repo.Where().Shallow),
	}
}

// catchUp is the command to type if the remote's branch has moved on.
func catchUp(u hookinput.RefUpdate, remote, current string, shallow bool) string {
	branch, ok := strings.CutPrefix(u.Ref, "refs/heads/")
	if !ok || !githistory.IsRemoteName(remote) || current == "" {
		return fmt.Sprintf("`git fetch %s %s`", wording.ShellWord(cmp.Or(remote, origin)), wording.ShellWord(u.Ref))
	}
	sync := fmt.Sprintf("`small-hook sync %s %s`", wording.ShellWord(remote), wording.ShellWord(branch))
	if shallow { // sync needs the whole history
		sync = "`git fetch --unshallow`, then " + sync
	}
	if local, ok := strings.CutPrefix(u.LocalRef, "refs/heads/"); ok && u.LocalRef != current {
		return fmt.Sprintf("`git switch %s`, then %s", wording.ShellWord(local), sync)
	}
	return sync
}

// trustForRef takes the policy from the default branch, or from the ref's own old tip if the ref is the default branch or there is none. If
// HEAD names a missing branch, nobody's policy counts.
func trustForRef(ctx context.Context, s *session.Session, u history.Update, branch githistory.Branch) error {
	switch {
	case branch.Missing():
		return s.TrustDefaults("HEAD names " + branch.Ref + ", which does not exist")
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
