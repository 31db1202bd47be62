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

// sourceStdin and sourceHead say in the report how the refs of a push were found: git wrote them to standard input, or nothing named them, so that
// HEAD counts as pushed.
const (
	sourceStdin = "standard input"
	sourceHead  = "HEAD against what the remote is known to have"
)

// pushInput is what a hook, or sync, knows about a push.
type pushInput struct {
	updates []hookinput.RefUpdate
	// remote is the name of the remote, or its URL; empty on the server, and while it is not known.
	remote string
	// onServer is true in pre-receive.
	onServer bool
	// source says in the report how updates were found.
	source string
	// receiverTips are commits that the receiving side has. defaultBranch is the receiving side's default branch.
	receiverTips  []string
	defaultBranch githistory.Branch
}

// PrePush judges what git is about to push. For each ref it judges every commit that the remote lacks, and then compares the ref's old tip with its new
// tip. args are the hook's arguments: the remote's name (or URL), and the remote's URL. The policy is the default branch's; a push of the
// default branch is judged by the policy of the branch's old tip.
func PrePush(ctx context.Context, req session.Request, args []string, stdin io.Reader) *finding.Report {
	push := pushInput{source: sourceStdin}
	if len(args) > 0 {
		push.remote = args[0]
	}
	lines := sync.OnceValues(func() ([]hookinput.RefUpdate, error) { return hookinput.ReadPrePush(stdin) })
	report := req.Judge(ctx, "pre-push", func(s *session.Session) (_ *finding.Report, err error) {
		if push.updates, err = lines(); err != nil {
			return nil, err
		}
		if len(push.updates) == 0 {
			if err := guessRefs(ctx, s, &push); err != nil {
				return nil, err
			}
		}
		return judgePushTo(ctx, s, push)
	})
	report.Examined.Source = push.source
	return report
}

// judgePushTo judges a push to a remote. It assumes that the remote has the commits of its remote-tracking branches.
func judgePushTo(ctx context.Context, s *session.Session, push pushInput) (_ *finding.Report, err error) {
	if githistory.IsRemoteName(push.remote) { // a URL or a path has no remote-tracking branches
		if push.receiverTips, err = s.Repo.Tips(ctx, "refs/remotes/"+push.remote+"/"); err != nil {
			return nil, err
		}
	}
	if push.defaultBranch, err = githistory.DefaultBranch(ctx, s.Repo, push.remote); err != nil {
		return nil, err
	}
	report := push.judge(ctx, s)
	if push.source == sourceHead {
		err = push.suggestSync(ctx, s, report)
	}
	return report, err
}

// suggestSync replaces the fix [run.SettledByMerge] by `small-hook sync`, if the checked-out branch is the remote's default branch by name. No later merge
// follows there: the local and the remote branch have diverged, and git will refuse this push.
func (p pushInput) suggestSync(ctx context.Context, s *session.Session, r *finding.Report) error {
	current, err := s.Repo.CurrentBranch(ctx)
	if err != nil || p.defaultBranch.Ref != "refs/remotes/"+p.remote+"/"+history.ShortRef(current) {
		return err
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Fix == run.SettledByMerge {
			f.Fix = fmt.Sprintf("take in what the remote has, and push again: `small-hook sync %s %s`", wording.ShellWord(p.remote), wording.ShellWord(history.ShortRef(current)))
		}
	}
	return nil
}

// guessRefs finds out what is pushed if standard input is empty. The pre-commit framework consumes standard input, and sets variables. They name
// two revisions or, if the push has a root commit, only a branch. Without these variables, HEAD counts as pushed.
func guessRefs(ctx context.Context, s *session.Session, push *pushInput) error {
	push.remote = cmp.Or(s.Req.Getenv("PRE_COMMIT_REMOTE_NAME"), push.remote, origin)
	from, to := s.Req.Getenv("PRE_COMMIT_FROM_REF"), s.Req.Getenv("PRE_COMMIT_TO_REF")
	push.source = "PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF"
	switch {
	case to == "":
		push.source, to = "PRE_COMMIT_LOCAL_BRANCH", s.Req.Getenv("PRE_COMMIT_LOCAL_BRANCH")
	case from == "":
		push.source = "PRE_COMMIT_TO_REF"
	}
	if to == "" && from != "" {
		return &failure.Error{
			Message: "PRE_COMMIT_FROM_REF is set, and neither PRE_COMMIT_TO_REF nor PRE_COMMIT_LOCAL_BRANCH says what is pushed",
			Remedy:  "`unset PRE_COMMIT_FROM_REF`, or set PRE_COMMIT_TO_REF too",
		}
	}
	if to == "" {
		push.source, to = sourceHead, "HEAD"
		if head, err := s.Repo.Head(ctx); err != nil || head == "" {
			return err
		}
	}
	ref := s.Req.Getenv("PRE_COMMIT_REMOTE_BRANCH")
	if ref != "" && !strings.HasPrefix(ref, "refs/") {
		ref = "refs/heads/" + ref // a hook manager may give the short name
	}
	u := hookinput.RefUpdate{LocalRef: to, Ref: ref, RemoteID: "0"}
	var err error
	if u.LocalID, err = s.ResolveCommit(ctx, to); err != nil {
		return err
	}
	if from != "" && !history.IsZero(from) {
		if u.RemoteID, err = s.ResolveCommit(ctx, from); err != nil {
			return err
		}
	}
	push.updates = []hookinput.RefUpdate{u}
	return nil
}

// PreReceive judges a push on the server, before any ref moves. The policy is the default branch's; a push of the default branch is judged by the
// policy of the branch's old tip.
func PreReceive(ctx context.Context, req session.Request, stdin io.Reader) *finding.Report {
	lines := sync.OnceValues(func() ([]hookinput.RefUpdate, error) { return hookinput.ReadPreReceive(stdin) })
	report := req.Judge(ctx, "pre-receive", func(s *session.Session) (*finding.Report, error) {
		updates, err := lines()
		if err != nil {
			return nil, err
		}
		if len(updates) == 0 { // git runs this hook for at least one ref (githooks(5))
			return nil, &failure.Error{
				Message: "standard input names no ref: an earlier command has consumed what git wrote",
				Remedy:  "pass it on: `refs=$(cat)`, then `printf '%s\\n' \"$refs\" | small-hook pre-receive`",
			}
		}
		push := pushInput{updates: updates, onServer: true}
		if push.receiverTips, err = s.Repo.Tips(ctx); err == nil {
			push.defaultBranch, err = githistory.HeadBranch(ctx, s.Repo)
		}
		if err != nil {
			return nil, err
		}
		return push.judge(ctx, s), nil
	})
	report.Examined.Source = sourceStdin
	return report
}

// refMove is an update of a ref to a commit, or to an annotated tag of a commit.
type refMove struct {
	hookinput.RefUpdate
	// tip is the commit to which the ref moves.
	tip string
	// receiverHas is true if the receiving side already has the tip.
	receiverHas bool
}

// judge judges each update by itself and combines the reports. If an update cannot be judged, judge still judges the others.
func (p pushInput) judge(ctx context.Context, s *session.Session) *finding.Report {
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
	var moves []refMove
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
			moves = append(moves, refMove{RefUpdate: u, tip: tip})
		}
	}
	p.markKnownTips(ctx, s, moves)
	for _, m := range moves {
		if !p.onServer {
			s.SetStandingsOf(ctx, m.tip, cmp.Or(m.LocalRef, "HEAD"))
		}
		add(p.judgeMove(ctx, s, m, moves))
	}
	return report
}

// markKnownTips sets receiverHas of the moves: for a push of a thousand tags this is one query, not a thousand judgements. If the query fails, every
// move is judged, and the reports of these judgements say what is wrong.
func (p pushInput) markKnownTips(ctx context.Context, s *session.Session, moves []refMove) {
	if len(moves) == 0 {
		return
	}
	var tips []string
	for _, m := range moves {
		tips = append(tips, m.tip)
	}
	commits, err := s.Repo.Commits(ctx, tips, p.receiverTips)
	if err != nil {
		return
	}
	isNew := map[string]bool{}
	for _, c := range commits {
		isNew[c.ID] = true
	}
	for i, m := range moves {
		moves[i].receiverHas = !isNew[m.tip]
	}
}

// judgeMove judges m. moves are all moves of the push; m is in them.
func (p pushInput) judgeMove(ctx context.Context, s *session.Session, m refMove, moves []refMove) (*finding.Report, error) {
	if p.onServer && p.defaultBranch.Missing() && m.Ref == p.defaultBranch.Ref {
		return nil, &failure.Error{
			Message: fmt.Sprintf("HEAD names %s, which does not exist: whoever creates it would choose the configuration of all branches", wording.Printable(p.defaultBranch.Ref)),
			Remedy:  "name the default branch, on the server: `git symbolic-ref HEAD refs/heads/NAME`",
		}
	}
	name := branchName(m.Ref, p.remote)
	update := history.Update{Ref: m.Ref, Name: name, New: m.tip, Known: p.receiverTips, Target: p.mergeTarget(m, moves)}
	if !m.Creates() {
		var err error
		if update.Old, err = findOldTip(ctx, s, m.RefUpdate, p.remote); err != nil {
			return nil, err
		}
	}
	s.Opts.Branch = name
	if p.isDefault(m) {
		s.SetBranches(history.Tip{ID: update.Old, Name: name}, history.Tip{ID: update.New, Name: name})
	} else {
		s.SetBranches(update.Target, update.Target)
	}
	noDefaultBranch := p.defaultBranch == githistory.Branch{}
	update.PolicyFromOldTip = noDefaultBranch || update.Old != "" && p.isDefault(m)
	if p.onServer && noDefaultBranch && update.Old != "" {
		// A server without branches can have tags. If one of them moves, its own configuration does not count either.
		if err := s.TrustDefaults("there is no branch yet"); err != nil {
			return nil, err
		}
	} else if err := trustForRef(ctx, s, update, p.defaultBranch); err != nil {
		return nil, err
	}
	if m.receiverHas && m.Creates() {
		report := run.EmptyReport(s.Opts)
		report.Examined.Head = m.tip
		return report, nil
	}
	return s.CheckProposed(ctx, m.tip, gate.Push(ctx, s.Repo, update, s.Opts))
}

// isDefault reports whether the ref that moves is the default branch of the receiving side.
func (p pushInput) isDefault(m refMove) bool {
	return strings.HasPrefix(p.defaultBranch.Ref, "refs/") && m.Ref == "refs/heads/"+branchName(p.defaultBranch.Ref, p.remote)
}

// mergeTarget returns the default branch's tip after the push if m moves a branch that is not the default branch; else the zero Tip. A move without a
// ref counts as a move of a branch.
func (p pushInput) mergeTarget(m refMove, moves []refMove) history.Tip {
	if p.defaultBranch.ID == "" || m.Ref != "" && !strings.HasPrefix(m.Ref, "refs/heads/") || p.isDefault(m) {
		return history.Tip{}
	}
	tip := history.Tip{ID: p.defaultBranch.ID, Name: history.ShortRef(p.defaultBranch.Ref)}
	for _, other := range moves {
		if p.isDefault(other) {
			tip = history.Tip{ID: other.tip, Name: branchName(p.defaultBranch.Ref, p.remote)}
		}
	}
	return tip
}

// findOldTip finds the commit of u's ref before the push. It fails if the clone does not have that commit.
func findOldTip(ctx context.Context, s *session.Session, u hookinput.RefUpdate, remote string) (string, error) {
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
		Remedy:  catchUpCommands(u, remote, current, s.Repo.Where().Shallow),
	}
}

// catchUpCommands returns the commands to type if the remote's ref has moved since the last fetch.
func catchUpCommands(u hookinput.RefUpdate, remote, current string, shallow bool) string {
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

// trustForRef takes the policy from the default branch. If u.PolicyFromOldTip is set, it takes the policy from the old tip of u's ref, and for a new ref
// the built-in policy. It also takes the built-in policy if HEAD names a default branch that does not exist.
func trustForRef(ctx context.Context, s *session.Session, u history.Update, defaultBranch githistory.Branch) error {
	switch {
	case defaultBranch.Missing():
		return s.TrustDefaults("HEAD names " + defaultBranch.Ref + ", which does not exist")
	case !u.PolicyFromOldTip:
		return s.Trust(ctx, defaultBranch.ID, defaultBranch.Ref)
	case u.Old == "":
		return s.Trust(ctx, "", u.Ref)
	}
	return s.Trust(ctx, u.Old, u.Ref+" before the push")
}

// branchName removes refs/heads/, refs/remotes/REMOTE/ or refs/remotes/origin/ from a ref's name. Other refs keep their full name.
func branchName(ref, remote string) string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/" + remote + "/", "refs/remotes/" + origin + "/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return name
		}
	}
	return ref
}

// PushOfSync judges the push that sync is about to make, as the pre-push hook does.
func PushOfSync(ctx context.Context, req session.Request, remote string, update hookinput.RefUpdate) *finding.Report {
	return req.Judge(ctx, "sync", func(s *session.Session) (*finding.Report, error) {
		return judgePushTo(ctx, s, pushInput{updates: []hookinput.RefUpdate{update}, remote: remote})
	})
}
