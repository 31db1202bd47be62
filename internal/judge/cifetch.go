package judge

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// resolveFirst tries points in order, and resolves the first one that the clone has; label is the name of the point for people. If a point is
// missing or may be out of date, and was not fetched yet, resolveFirst fetches it and returns errReopen.
func (j *job) resolveFirst(ctx context.Context, s *session.Session, points []ci.Point) (id, label string, err error) {
	var firstErr error
	for _, p := range points {
		if !j.usable(p) {
			continue
		}
		id, err := s.Repo.Resolve(ctx, p.Revision)
		lacking := errors.Is(err, history.ErrLacking)
		if lacking || p.Stale {
			if err := j.fetchNext(ctx, p.Fetch...); err != nil {
				return "", "", err
			}
		}
		switch {
		case err == nil:
			j.noteStale(p)
			return id, p.Words, s.CheckUnambiguous(ctx, p.Revision, id)
		case !lacking:
			return "", "", err
		case firstErr == nil:
			firstErr = unavailableError(p, err)
		}
	}
	if slices.ContainsFunc(points, func(p ci.Point) bool { return p.Branch }) && j.foreignOrigin != "" {
		return "", "", j.foreignOriginError(firstErr)
	}
	if firstErr == nil {
		firstErr = &failure.Error{Message: "there is nothing to compare with", Remedy: "say what to compare: `small-action --base origin/main --head HEAD`, or the inputs base and head"}
	}
	return "", "", firstErr
}

// noteStale adds a note if p is a branch that may be out of date and could not be fetched again.
func (j *job) noteStale(p ci.Point) {
	note := p.Words + " could not be fetched again and is taken as it was fetched last"
	if p.Stale && j.fetchErrors[p.Fetch[0]] != nil && !slices.Contains(j.notes, note) {
		j.notes = append(j.notes, note)
	}
}

// unavailableError returns the failure for a point that is not in the clone and could not be fetched.
func unavailableError(p ci.Point, err error) error {
	f := *failure.Of(err)
	f.Message, f.Err = p.Words+": "+f.Message, err
	if len(p.Fetch) > 0 {
		f.Remedy = "see whether the remote still has it: `git ls-remote origin`; or set the inputs base and head (--base and --head) to the commits to compare"
	}
	return &f
}

// remedyGit and remedyCredentials say how a job can fetch a tip that no branch has any more: with git, or with credentials.
const (
	remedyGit         = "run this where git is installed, for example in small-gate's container image; a deeper checkout (fetch-depth: 0) does not bring the tip, since no branch has it any more"
	remedyCredentials = "give the step the credentials to fetch from the server: in a GitHub action, give the job the permission contents: read, and leave the input token as it is by default; elsewhere keep the credentials of the checkout"
)

// gitIsMissing reports whether a fetch failed because git is not installed.
func (j *job) gitIsMissing() bool {
	for _, err := range j.fetchErrors {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
			return true
		}
	}
	return false
}

// missingHeadError replaces the remedy of err, the error about a missing head, if the job that judges a stranger's change has the rights of the target's workflow: a
// deeper checkout would not bring the head of a fork, but a git command fetches it.
func (j *job) missingHeadError(err error) error {
	if !j.plan.Guarded || !errors.Is(err, history.ErrLacking) {
		return err
	}
	for _, p := range j.plan.Head {
		for _, spec := range p.Fetch {
			if strings.HasPrefix(spec, "refs/") {
				f := *failure.Of(err)
				f.Remedy, j.keepRemedy = "in a step before this one: `git fetch --no-tags origin "+wording.ShellWord(spec)+"`", true
				return &f
			}
		}
	}
	return err
}

// Token is a credential that a job may send to the event's server, and to no other, to fetch what a checkout without credentials cannot.
type Token struct{ Server, Value string }

// errReopen is not a failure: fetchNext has tried to fetch, and the repository must be opened again to see whether anything arrived.
var errReopen = errors.New("the repository has to be opened again")

// fetchNext fetches the first id or refspec in specs that has not been tried yet, with the installed git even if go-git reads the repository. It tries
// the checkout's settings and then, unless the server says that it lacks the object, the token. It returns errReopen after a try, even if that failed,
// or nil if nothing is left to try. It records the result in fetchErrors, for explainFailure.
func (j *job) fetchNext(ctx context.Context, specs ...string) error {
	i := slices.IndexFunc(specs, func(spec string) bool { _, tried := j.fetchErrors[spec]; return !tried })
	if i < 0 {
		return nil
	}
	spec := specs[i]
	err := j.fetchWith(ctx, spec, j.req.Environ)
	if err != nil && !errors.Is(err, githistory.ErrGone) && j.token.Server != "" && j.token.Value != "" {
		err = j.fetchWith(ctx, spec, githistory.WithToken(j.req.Environ, j.token.Server, j.token.Value))
	}
	j.fetchErrors[spec] = err
	switch {
	case err != nil:
	case j.shallow:
		j.fetchCommands = append(j.fetchCommands, "git fetch --unshallow origin "+wording.ShellWord(spec))
	default:
		j.fetchCommands = append(j.fetchCommands, "git fetch origin "+wording.ShellWord(spec))
	}
	return errReopen
}

func (j *job) fetchWith(ctx context.Context, spec string, environ []string) (err error) {
	repo, err := githistory.Open(ctx, j.req.Dir, githistory.Options{Environ: environ})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	return repo.Fetch(ctx, origin, spec, j.plan.Guarded)
}
