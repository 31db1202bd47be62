package entrypoint

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// find takes the first of the points that the clone has. One that can be fetched is fetched before the next one is looked at.
func (j *job) find(ctx context.Context, s *session.Session, points []ci.Point) (id, words string, err error) {
	var first error
	for _, p := range points {
		if !j.counts(p) {
			continue
		}
		if p.Stale {
			if err := j.ask(p, errStale); err != nil {
				return "", "", err
			}
		}
		id, err := s.Repo.Resolve(ctx, p.Revision)
		if err == nil {
			j.noteStale(p)
			return id, p.Words, s.Unambiguous(ctx, p.Revision, id)
		}
		if !errors.Is(err, githistory.ErrLacking) {
			return "", "", err
		}
		if err := j.ask(p, err); err != nil {
			return "", "", err
		}
		if first == nil {
			first = unavailable(p, err)
		}
	}
	if slices.ContainsFunc(points, func(p ci.Point) bool { return p.Branch }) && j.fork != "" {
		return "", "", j.forkRemoteError(first)
	}
	if first == nil {
		first = &failure.Error{Message: "there is nothing to compare with", Remedy: "say what to compare: `small-action --base origin/main --head HEAD`, or the inputs base and head"}
	}
	return "", "", first
}

// errStale is why a branch that is in the clone is fetched.
var errStale = errors.New("the clone's branch can be older than the remote's")

// noteStale notes that a branch could not be fetched again.
func (j *job) noteStale(p ci.Point) {
	note := p.Words + " could not be fetched again and is taken as it was fetched last"
	if p.Stale && j.asked[p.Fetch[0]] != nil && !slices.Contains(j.notes, note) {
		j.notes = append(j.notes, note)
	}
}

// ask returns err if there is something left to fetch for a point: then it is fetched, and all is judged again.
func (j *job) ask(p ci.Point, err error) error {
	for _, spec := range p.Fetch {
		if _, asked := j.asked[spec]; !asked {
			j.wants = spec
			return err
		}
	}
	return nil
}

// unavailable is the failure for a point that is not in the clone and could not be fetched.
func unavailable(p ci.Point, err error) error {
	f := *failure.Of(err)
	f.Message, f.Err = p.Words+": "+f.Message, err
	if len(p.Fetch) > 0 {
		f.Remedy = "see whether the remote still has it: `git ls-remote origin`; or say what to compare with the inputs base and head (--base and --head)"
	}
	return &f
}

// withGit and withCredentials are the ways out if a tip that no branch has any more cannot be fetched.
const (
	withGit         = "run this where git is installed, as it is in the image: fetch-depth: 0 does not bring the tip, since no branch has it any more"
	withCredentials = "let the step ask the server: in an action with `permissions: {contents: read}` and its input token, which is the job's own by default; elsewhere with the credentials left by the checkout"
)

// withoutGit reports whether something could not be fetched because there is no git.
func (j *job) withoutGit() bool {
	for _, err := range j.asked {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
			return true
		}
	}
	return false
}

// missingHead is the failure for a head that is not here. In the target's own workflow, no depth of the checkout fetches a stranger's
// commit.
func (j *job) missingHead(err error) error {
	if !j.plan.Guarded || j.wants != "" || !errors.Is(err, githistory.ErrLacking) {
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

// fetchMissing fetches what a judgement lacked, and reports whether it is worth judging again. An error is kept for explain.
func (j *job) fetchMissing(ctx context.Context, f *failure.Error) bool {
	spec := j.wants
	if spec == "" && j.shallow && errors.Is(f, githistory.ErrLacking) {
		spec = j.head
	}
	if spec == "" {
		return false
	}
	if _, asked := j.asked[spec]; asked {
		return false
	}
	how := "git fetch origin " + spec
	if j.shallow {
		how = "git fetch --unshallow origin " + spec
	}
	err := j.fetch(ctx, spec)
	if j.asked[spec] = err; err == nil {
		j.fetched = append(j.fetched, how)
	}
	return true
}

// Token is what a job may show the server of its event, to fetch what a checkout left without credentials cannot.
type Token struct{ Server, Value string }

// fetch has git do it, whichever reader judges: as the checkout has set it up, and if that fails with the token.
func (j *job) fetch(ctx context.Context, spec string) error {
	err := j.fetchAs(ctx, spec, j.req.Environ)
	if err == nil || errors.Is(err, githistory.ErrGone) || j.token.Server == "" || j.token.Value == "" {
		return err
	}
	return j.fetchAs(ctx, spec, githistory.WithToken(j.req.Environ, j.token.Server, j.token.Value))
}

func (j *job) fetchAs(ctx context.Context, spec string, environ []string) (err error) {
	repo, err := githistory.Open(ctx, j.req.Dir, githistory.Options{Environ: environ})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	return repo.Fetch(ctx, origin, spec, j.plan.Guarded)
}
