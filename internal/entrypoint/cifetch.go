package entrypoint

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// wish is the cause of a failure that a fetch may mend.
type wish struct {
	spec  string
	cause error
}

// wishing is the failure in which an error is a wish.
func wishing(spec string, err error) *gate.Failure {
	out := &gate.Failure{Message: err.Error()}
	var f *gate.Failure
	if errors.As(err, &f) {
		out.Message, out.Remedy = f.Message, f.Remedy
	}
	out.Err = &wish{spec, err}
	return out
}

// Error is what is lacking.
func (w *wish) Error() string { return w.cause.Error() }

// Unwrap returns the cause.
func (w *wish) Unwrap() error { return w.cause }

// find takes the first of the points that is there. What can be fetched is
// wished for before the next one is looked at.
func (j *job) find(ctx context.Context, s *session, points []ci.Point) (id, words string, err error) {
	var first error
	for _, p := range points {
		if !j.counts(p) {
			continue
		}
		if p.Stale {
			if err := j.unasked(p, errStale); err != nil {
				return "", "", err
			}
		}
		id, err := s.repo.Resolve(ctx, p.Revision)
		if err == nil {
			j.noteStale(p)
			return id, p.Words, s.unambiguous(ctx, p.Revision, id)
		}
		if !errors.Is(err, githistory.ErrLacking) {
			return "", "", err
		}
		if err := j.unasked(p, err); err != nil {
			return "", "", err
		}
		if first == nil {
			first = nowhere(p, err)
		}
	}
	if slices.ContainsFunc(points, func(p ci.Point) bool { return p.Branch }) && j.stranger != "" {
		return "", "", j.estranged(first)
	}
	if first == nil {
		first = &gate.Failure{Message: "there is nothing to compare with", Remedy: "say it with the inputs base and head (--base and --head)"}
	}
	return "", "", first
}

// errStale is why a branch is fetched that is here.
var errStale = errors.New("what is here can be older than the remote's branch")

// noteStale says of a branch that could not be fetched again that it is judged as
// it is here.
func (j *job) noteStale(p ci.Point) {
	note := p.Words + " could not be fetched again; it is taken as it was fetched last"
	if p.Stale && j.asked[p.Fetch[0]] != nil && !slices.Contains(j.notes, note) {
		j.notes = append(j.notes, note)
	}
}

// unasked is the wish for what of a point was not asked for yet; nil where
// everything was.
func (j *job) unasked(p ci.Point, err error) error {
	for _, spec := range p.Fetch {
		if _, asked := j.asked[spec]; !asked {
			return wishing(spec, err)
		}
	}
	return nil
}

// nowhere is the failure for a point that is not there and was not to be had.
func nowhere(p ci.Point, err error) error {
	out := &gate.Failure{Message: p.Words + ": " + message(err), Err: err}
	var f *gate.Failure
	if errors.As(err, &f) {
		out.Remedy = f.Remedy
	}
	if len(p.Fetch) > 0 { // that was tried
		out.Remedy = "see whether the remote still has it and can be read: git ls-remote origin; or say what to compare with the inputs base and head (--base and --head)"
	}
	return out
}

// withGit is the way out where a tip that no branch has any more cannot be
// fetched.
const withGit = "fetch-depth: 0 does not bring it, since no branch has it any more; run this where git is installed, " +
	"as it is in the image"

// withoutGit reports whether something could not be fetched since there is no git.
func (j *job) withoutGit() bool {
	for _, err := range j.asked {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
			return true
		}
	}
	return false
}

// proposed is the failure for a head that is not here. In the target's own
// workflow no depth of the checkout brings a stranger's commit.
func (j *job) proposed(err error) error {
	var f *gate.Failure
	var asks *wish
	if !j.plan.Guarded || errors.As(err, &asks) || !errors.As(err, &f) || !errors.Is(err, githistory.ErrLacking) {
		return err
	}
	for _, p := range j.plan.Head {
		for _, spec := range p.Fetch {
			if strings.HasPrefix(spec, "refs/pull/") {
				out := *f
				out.Remedy, j.told = "in a step before this one: git fetch --no-tags origin "+typed(spec), true
				return &out
			}
		}
	}
	return err
}

// provide fetches what a judgement lacked. It reports whether it is worth
// judging again: something new was asked for. That it failed is kept, for the
// explanation.
func (j *job) provide(ctx context.Context, failure *gate.Failure) bool {
	var asks *wish
	spec := j.head
	switch {
	case errors.As(failure, &asks):
		spec = asks.spec
	case !errors.Is(failure, githistory.ErrLacking), !j.shallow, spec == "":
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

// fetch has git do it, whichever reader judges. Without git it cannot be done.
func (j *job) fetch(ctx context.Context, spec string) (err error) {
	repo, err := githistory.Open(ctx, j.req.Dir, githistory.Options{Environ: j.req.Environ})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	return repo.Fetch(ctx, "origin", spec, j.plan.Guarded)
}

// explain says of what is lacking why it could not be fetched, and which line
// of the job's description provides it.
func (j *job) explain(failure *gate.Failure) *gate.Failure {
	out := *failure
	out.Err = failure
	switch {
	case errors.Is(failure, githistory.ErrNotRepository):
		if system := j.plan.System; system.NoCheckout != "" {
			out.Message, out.Remedy = out.Message+": "+system.NoCheckout, system.Checkout
		}
		return &out
	case !errors.Is(failure, githistory.ErrLacking):
		return failure
	}
	var why error
	for _, err := range j.asked {
		if err != nil && (why == nil || err.Error() < why.Error()) {
			why = err
		}
	}
	if why != nil && !strings.Contains(out.Message, message(why)) {
		out.Message += "; and " + message(why)
	}
	if j.shallow && !j.told {
		out.Message, out.Remedy = "the checkout is shallow: "+out.Message, j.plan.System.Deep
	}
	return &out
}
