package witnessing

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/rules/witnesses"
	"github.com/small-gate/small-gate/internal/gate/witness"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// watched are the refs to look at: all that the witness has seen, those asked for and, if there are none, the default branch.
func watched(ctx context.Context, s *session.Session, o LookOptions, seen *witness.State, standard githistory.Branch) ([]witnesses.Witnessed, error) {
	var names []string
	for _, r := range seen.Refs {
		names = append(names, r.Name)
	}
	for _, asked := range o.Refs {
		name, err := fullName(ctx, s, asked, names)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if len(o.Refs) == 0 && standard.ID != "" {
		names = append(names, standard.Ref)
	}
	if len(names) == 0 {
		return nil, &failure.Error{
			Message: "there is nothing to witness: no default branch with a commit was found",
			Remedy:  "clone the repository once it has commits, or name a branch with --ref; `git for-each-ref --format='%(refname)'` lists them",
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	now, err := s.Repo.Refs(ctx, names...)
	if err != nil {
		return nil, err
	}
	var out []witnesses.Witnessed
	for _, name := range names {
		w := witnesses.Witnessed{Seen: witness.Ref{Name: name}, Here: func(commit string) (bool, error) { return isHere(ctx, s, commit) }}
		if before := seen.Ref(name); before != nil {
			w.Seen = *before
		}
		if ref, there := now[name]; there {
			if w.Tip, err = commitOf(ctx, s, name, ref.ID); err != nil {
				return nil, err
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// fullName finds the ref that a person names: first among the remote's branches, as they are what is published. A ref that was seen, and is
// gone, keeps its name.
func fullName(ctx context.Context, s *session.Session, asked string, seen []string) (string, error) {
	names := []string{"refs/heads/" + asked, "refs/tags/" + asked}
	if !s.Repo.Where().Bare {
		names = slices.Concat([]string{"refs/remotes/origin/" + asked, "refs/remotes/" + asked}, names)
	}
	if strings.HasPrefix(asked, "refs/") {
		names = []string{asked}
	}
	there, err := s.Repo.Refs(ctx, names...)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if _, is := there[name]; is {
			return name, nil
		}
	}
	for _, name := range names {
		if slices.Contains(seen, name) {
			return name, nil
		}
	}
	return "", &failure.Error{
		Message: fmt.Sprintf("there is no branch or tag %s, and the witness has not seen one", wording.Quote(asked)),
		Remedy:  "fetch it, `git fetch origin`, or name another with --ref; `git for-each-ref --format='%(refname)'` lists them",
	}
}

// commitOf follows a ref to its commit.
func commitOf(ctx context.Context, s *session.Session, name, id string) (string, error) {
	commit, here, err := s.Repo.Peel(ctx, id)
	switch {
	case err != nil:
		return "", err
	case !here || commit == "":
		return "", &failure.Error{Message: wording.Printable(name) + " leads to no commit of this clone", Remedy: "clone the repository anew"}
	}
	return commit, nil
}

// isHere reports whether a commit is in the clone.
func isHere(ctx context.Context, s *session.Session, id string) (bool, error) {
	commit, here, err := s.Repo.Peel(ctx, id)
	return here && commit == id, err
}

// nameOf is the given name or origin's address, without credentials, or else the directory's name.
func nameOf(ctx context.Context, s *session.Session, given string) (name string, err error) {
	if name = given; name == "" {
		name, err = s.Repo.RemoteURL(ctx, "origin")
	}
	if name != "" || err != nil {
		return withoutCredentials(name), err
	}
	where := s.Repo.Where()
	return filepath.Base(cmp.Or(where.Top, where.GitDir)), nil
}

// withoutCredentials is an address (git-fetch(1), GIT URLS) without user, password and query.
func withoutCredentials(address string) string {
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		if colon := strings.IndexByte(address, ':'); colon < 0 || strings.ContainsAny(address[:colon], `/\`) {
			return address // a directory
		}
		server := address // [user[:password]@]host:path, up to the path's first slash
		if slash := strings.IndexAny(address, `/\`); slash >= 0 {
			server = address[:slash]
		}
		return address[strings.LastIndex(server, "@")+1:]
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return u.String()
	}
	server, path, _ := strings.Cut(rest, "/") // an address that net/url cannot parse may still hold a password
	return scheme + "://" + server[strings.LastIndex(server, "@")+1:] + "/" + path
}
