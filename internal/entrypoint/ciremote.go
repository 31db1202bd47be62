package entrypoint

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// origin is the remote that CI systems make.
const origin = "origin"

// look finds out whether there is a remote, and whether it is a repository whose
// branches do not count: a checkout of a fork has the fork's, and whoever opens a
// pull request would choose what it is compared with.
func (j *job) look(ctx context.Context, s *session) error {
	address, err := s.repo.RemoteURL(ctx, origin)
	if err != nil {
		return err
	}
	j.remote, j.stranger = address != "", ""
	name, host := repositoryOf(address)
	switch {
	case j.plan.Repository == "":
		return nil
	case j.plan.Project != "" && !strings.EqualFold(j.plan.Project, j.plan.Repository):
		name = j.plan.Project
	case !host, endsIn(name, j.plan.Repository):
		return nil
	}
	j.stranger = name
	j.fact("passed over", "the branches of %s, which is %s and not %s", origin, name, j.plan.Repository)
	return nil
}

// counts reports whether a point can be the target's. With a remote, a local
// branch is only what somebody made here.
func (j *job) counts(p ci.Point) bool {
	local := strings.HasPrefix(p.Revision, "refs/heads/")
	return !p.Branch || j.stranger == "" && (!local || !j.remote)
}

// estranged completes the failure of what was not found, where the remote is
// another repository.
func (j *job) estranged(err error) error {
	if j.stranger == "" {
		return err
	}
	out := &gate.Failure{
		Message: origin + " is " + githistory.Printable(j.stranger) + " and not " + githistory.Printable(j.plan.Repository) + ", whose branches count",
		Remedy:  j.plan.OriginRemedy(),
		Err:     err,
	}
	if err != nil {
		out.Message += "; " + message(err)
	}
	return out
}

// believed is the base, unless it was found by the name of a branch and has the
// head of an open change already, while the base that the event names does not:
// then it is that one.
func (j *job) believed(ctx context.Context, s *session, base, words, head string) (string, string, error) {
	said := slices.DeleteFunc(slices.Clone(j.plan.Base), func(p ci.Point) bool { return p.Branch })
	if !j.plan.Open || len(said) == 0 || slices.ContainsFunc(said, func(p ci.Point) bool { return p.Revision == base }) {
		return base, words, nil
	}
	if has, err := s.repo.IsAncestor(ctx, head, base); err != nil || !has {
		return base, words, err
	}
	id, saidWords, err := j.find(ctx, s, said[len(said)-1:])
	if err != nil {
		return "", "", err
	}
	if has, err := s.repo.IsAncestor(ctx, head, id); err != nil || has {
		return base, words, err
	}
	j.fact("passed over", "%s (%s, which has all of the head already)", base, words)
	return id, saidWords, nil
}

// repositoryOf is the path of an address that names a host (git-fetch(1), GIT
// URLS), without .git. host is false for a directory, which has no name to go by.
func repositoryOf(address string) (path string, host bool) {
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case isURL && strings.EqualFold(scheme, "file"):
		return "", false
	case isURL:
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return "", false
		}
		path = u.Path
	default:
		server, rest, ok := strings.Cut(address, ":")
		if !ok || len(server) < 2 || strings.ContainsAny(server, `/\`) {
			return "", false // a directory, on Windows with a drive
		}
		path = rest
	}
	return strings.TrimSuffix(strings.Trim(path, "/"), ".git"), true
}

// endsIn reports whether a path ends in the full name of a repository.
func endsIn(path, fullName string) bool {
	path, fullName = strings.ToLower("/"+path), strings.ToLower("/"+strings.Trim(fullName, "/"))
	return strings.HasSuffix(path, fullName)
}
