package edit

import (
	"context"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// Rewrite is a rewrite of a log that WaiveRewrite waives as a whole.
type Rewrite struct {
	Path string
	// Where says where the log was rewritten: in the index, or in which commit.
	Where string
	// Before and After are the log's states.
	Before, After finding.LedgerState
	// Edits are the first messages about the edits, with text from the repository. More is the number of further messages.
	Edits []string
	More  int
}

// rewriteRules are the rules whose findings a waiver of a log's rewrite covers.
var rewriteRules = []string{
	"append-only/modified", "append-only/deleted", "append-only/reordered", "append-only/inserted", "append-only/timestamp-migrated",
	"append-only/task-reassigned", "divergence/lost-entry",
}

// maxEditsShown bounds the edits of a rewrite that are shown.
const maxEditsShown = 10

// WaiveRewrite finds the rewrites of a log, named relative to the request's directory, in the index or, if there are none, in HEAD's history. It
// writes stanzas that waive each of them as a whole.
func WaiveRewrite(ctx context.Context, req session.Request, name, reason, until string) (done []Rewrite, file string, err error) {
	at := ""
	if _, err = withGit(req).InRepository(ctx, "waive", func(s *session.Session) (err error) {
		at, err = pathFromTop(s, req.Dir, name)
		return err
	}); err != nil {
		return nil, "", err
	}
	at = path.Clean(at)
	edges, err := findRewrites(ctx, req, at)
	if err != nil {
		return nil, "", err
	}
	var edits []judge.EditToWaive
	_, err = req.InRepository(ctx, "waive", func(s *session.Session) error {
		if _, _, err := s.TrustHead(ctx, nil); err != nil {
			return err
		}
		for _, e := range edges {
			if e.Before, err = gate.LogState(ctx, s.Repo, e.parent, at, s.Opts); err != nil {
				return err
			}
			if e.After, err = gate.LogState(ctx, s.Repo, e.child, at, s.Opts); err != nil {
				return err
			}
			if e.Before.Head == e.After.Head {
				continue // the name is a pattern, too, and another log was rewritten
			}
			edits = append(edits, judge.EditToWaive{Path: at, From: e.Before.Head.String(), To: e.After.Head.String(), Reason: reason, Until: until})
			done = append(done, e.Rewrite)
		}
		return nil
	})
	if err == nil && len(edits) == 0 {
		err = notRewritten(at)
	}
	if err != nil {
		return nil, "", err
	}
	file, err = Waive(ctx, req, edits)
	return done, file, err
}

// edge is a rewrite, and the parent and the child between which the log was rewritten.
type edge struct {
	Rewrite
	parent, child string
}

// findRewrites finds the rewrites of one log in the index or, if there are none, in HEAD's history.
func findRewrites(ctx context.Context, req session.Request, at string) ([]*edge, error) {
	isRewrite := func(f *finding.Finding) bool {
		folder := path.Dir(f.Path) // a log of files is named by its folder, or by the folder and the last element of the stanza's pattern
		inFolder := folder == at || folder == path.Dir(at) && policy.Matches([]string{path.Base(at)}, path.Base(f.Path))
		return (f.Path == at || f.OldPath == at || inFolder) && slices.Contains(rewriteRules, f.Rule)
	}
	req.Find = isRewrite
	for _, judgement := range []func() *finding.Report{
		func() *finding.Report { return judge.PreCommit(ctx, req) },
		func() *finding.Report { return judge.Audit(ctx, req, "") },
	} {
		r := judgement()
		if r.Failure != nil {
			return nil, r.Failure
		}
		var out []*edge
		for i := range r.Findings {
			f := &r.Findings[i]
			if !isRewrite(f) {
				continue
			}
			e := edge{parent: f.Parent, child: f.Commit, Rewrite: Rewrite{Path: at, Where: "in " + history.Short(f.Commit)}}
			if f.Commit == "" {
				e.child, e.Where = history.Index, "in the index"
			}
			known := slices.IndexFunc(out, func(o *edge) bool { return o.parent == e.parent && o.child == e.child })
			if known < 0 {
				known, out = len(out), append(out, &e)
			}
			if o := out[known]; len(o.Edits) < maxEditsShown {
				message := f.Message
				if f.Path != at { // a file of a folder
					message = path.Base(f.Path) + ": " + message
				}
				o.Edits = append(o.Edits, message)
			} else {
				o.More++
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, notRewritten(at)
}

// notRewritten is the failure of a waiver for a log that nothing has rewritten.
func notRewritten(at string) error {
	remedy := "name a log by its path (for files in a folder: the folder, or one of them)"
	if at != "" && at != "." { // the root would stage all changes
		remedy += "; stage a change that is not committed yet: " + wording.Commands("git add -- "+wording.TopPath(at))
	}
	remedy += "; a deleted log is waived by the fingerprint of its finding: small-hook waive FINGERPRINT"
	return &failure.Error{Message: "neither the index nor HEAD's history rewrites the log " + wording.Quote(at), Remedy: remedy}
}
