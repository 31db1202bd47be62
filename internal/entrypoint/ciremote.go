package entrypoint

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
)

// origin is the remote that CI systems make.
const origin = "origin"

// inspectOrigin finds out whether there is an origin, and whether it is a repository whose branches do not count: a checkout of a fork has
// the fork's, and whoever opens a pull request would choose what it is compared with.
func (j *job) inspectOrigin(ctx context.Context, s *session) error {
	address, err := s.repo.RemoteURL(ctx, origin)
	if err != nil {
		return err
	}
	j.remote, j.fork = address != "", ""
	name, host := repositoryOf(address)
	switch {
	case j.plan.Repository == "":
		return nil
	case j.plan.Project != "" && !strings.EqualFold(j.plan.Project, j.plan.Repository):
		name = j.plan.Project
	case !host, endsIn(name, j.plan.Repository):
		return nil
	}
	j.fork = name
	j.fact("passed over", "the branches of %s, which is %s and not %s", origin, name, j.plan.Repository)
	return nil
}

// counts reports whether a point can be the target's. With a remote, a local branch is only what somebody made here.
func (j *job) counts(p ci.Point) bool {
	local := strings.HasPrefix(p.Revision, "refs/heads/")
	return !p.Branch || j.fork == "" && (!local || !j.remote)
}

// forkRemoteError says of what was not found, for the reason err if any, that origin is another repository.
func (j *job) forkRemoteError(err error) error {
	out := &failure.Error{
		Message: origin + " is " + githistory.Printable(j.fork) + " and not " + githistory.Printable(j.plan.Repository) + ", whose branches count",
		Remedy:  j.plan.OriginRemedy(),
		Err:     err,
	}
	if err != nil {
		out.Message += "; " + failure.Of(err).Message
	}
	return out
}

// resolveBase is the base, unless it was found by a branch's name and already has the head of an open change while the base that the event
// names does not: then it is that one.
func (j *job) resolveBase(ctx context.Context, s *session, base, words, head string) (string, string, error) {
	named := slices.DeleteFunc(slices.Clone(j.plan.Base), func(p ci.Point) bool { return p.Branch })
	if !j.plan.Open || len(named) == 0 || slices.ContainsFunc(named, func(p ci.Point) bool { return p.Revision == base }) {
		return base, words, nil
	}
	if has, err := s.repo.IsAncestor(ctx, head, base); err != nil || !has {
		return base, words, err
	}
	id, namedWords, err := j.find(ctx, s, named[len(named)-1:])
	if err != nil {
		return "", "", err
	}
	if has, err := s.repo.IsAncestor(ctx, head, id); err != nil || has {
		return base, words, err
	}
	j.fact("passed over", "%s (%s, which already has all of the head)", base, words)
	return id, namedWords, nil
}

// repositoryOf is the path of an address that names a host (git-fetch(1), GIT URLS), without .git. host is false for a directory, which has
// no name to go by.
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
