package judge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// MergeCheck predicts whether the revision theirs would merge cleanly into the revision ours: it compares the two commits with each other and with their
// merge base, and judges the files of the merge that git would make. The policy is that of ours; if the default branch has theirs, the waivers,
// baselines and since commits of theirs count, too.
func MergeCheck(ctx context.Context, req session.Request, ours, theirs string) *finding.Report {
	return req.Judge(ctx, "merge-check", func(s *session.Session) (*finding.Report, error) {
		target, head, err := resolveBaseAndHead(ctx, s, ours, theirs)
		if err == nil {
			err = s.AddMergedAccepted(ctx, target, head)
		}
		if err != nil {
			return nil, err
		}
		r, err := judgeMerge(ctx, s, target, head, ours, theirs)
		if err != nil {
			return nil, err
		}
		return s.CheckProposed(ctx, head, r)
	})
}

// judgeMerge judges the merge of head into target. ours and theirs are the names that the user gave target and head, for messages.
func judgeMerge(ctx context.Context, s *session.Session, target, head, ours, theirs string) (r *finding.Report, err error) {
	bases, err := s.Repo.MergeBases(ctx, target, head)
	switch {
	case err != nil:
		return nil, err
	case len(bases) == 0 || bases[0] == head: // git refuses the merge, or there is nothing to merge
		return gate.MergeCheck(ctx, s.Repo, target, head, ours, theirs, "", s.Opts), nil
	case bases[0] == target: // a fast-forward
		return gate.MergeCheck(ctx, s.Repo, target, head, ours, theirs, head, s.Opts), nil
	}
	dir, err := os.MkdirTemp("", "small-gate-")
	if err != nil {
		return nil, &failure.Error{Message: "cannot try the merge: " + err.Error(), Remedy: "make room for temporary files, or set TMPDIR", Err: err}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	withMerge, merge, note, err := tryMerge(ctx, s.Req, dir, target, head)
	if err != nil {
		return nil, err
	}
	var h history.History = s.Repo
	if withMerge != nil {
		h = withMerge
		defer func() { err = errors.Join(err, withMerge.Close()) }()
	}
	r = gate.MergeCheck(ctx, h, target, head, ours, theirs, merge, s.Opts)
	if note != "" {
		r.Examined.Notes = append(r.Examined.Notes, note)
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; merge != "" && f.Commit == merge {
			f.Commit = "" // the repository does not keep this commit
		}
	}
	return r, nil
}

// tryMerge makes git merge two commits and write the new objects into dir. It then opens the repository together with these objects. If git makes no merge,
// withMerge is nil, and note says why.
func tryMerge(ctx context.Context, req session.Request, dir, ours, theirs string) (withMerge *githistory.Repo, merge, note string, err error) {
	const unjudged = "; the files of the merge are not judged"
	repo, err := githistory.Open(ctx, req.Dir, githistory.Options{Environ: req.Environ})
	if err != nil {
		return nil, "", "git cannot try the merge: " + failure.Of(err).Message + unjudged, nil
	}
	merge, conflicts, err := repo.TryMerge(ctx, dir, ours, theirs)
	if err = errors.Join(err, repo.Close()); err != nil {
		if errors.Is(err, githistory.ErrNoMergeTree) {
			return nil, "", "this git cannot try a merge; git 2.38 and newer can" + unjudged, nil
		}
		return nil, "", "", err
	}
	if merge == "" {
		return nil, "", fmt.Sprintf("git would stop at %s: %s%s", wording.Count(len(conflicts), "conflict"), wording.Clip(strings.Join(conflicts, ", ")), unjudged), nil
	}
	withMerge, err = githistory.Open(ctx, req.Dir, githistory.Options{Environ: repo.WithObjects(dir)})
	return withMerge, merge, "", err
}
