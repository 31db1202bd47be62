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

// listWatched lists the refs to judge: all that the witness has seen, those that the options name and, if these name none, the default branch.
func listWatched(ctx context.Context, s *session.Session, o Options, seen *witness.State, branch githistory.Branch) ([]witnesses.Witnessed, error) {
	var names []string
	for _, r := range seen.Refs {
		names = append(names, r.Name)
	}
	for _, asked := range o.Refs {
		name, err := findFullName(ctx, s, asked, names)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if len(o.Refs) == 0 && branch.ID != "" {
		names = append(names, branch.Ref)
	}
	if len(names) == 0 {
		return nil, &failure.Error{
			Message: "there is nothing to witness: no default branch with a commit was found",
			Remedy:  "clone the repository once it has commits, or name a branch with --ref; `git for-each-ref --format='%(refname)'` lists them",
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	existing, err := s.Repo.Refs(ctx, names...)
	if err != nil {
		return nil, err
	}
	var out []witnesses.Witnessed
	for _, name := range names {
		w := witnesses.Witnessed{Seen: witness.Ref{Name: name}, Here: func(commit string) (bool, error) { return hasCommit(ctx, s, commit) }}
		if before := seen.Ref(name); before != nil {
			w.Seen = *before
		}
		if ref, exists := existing[name]; exists {
			if w.Tip, err = findCommit(ctx, s, name, ref.ID); err != nil {
				return nil, err
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// findFullName finds the full name of the ref that a person names. It searches the remote's branches first, because they are published. A ref
// that no longer exists is found if the witness has seen it.
func findFullName(ctx context.Context, s *session.Session, asked string, seen []string) (string, error) {
	names := []string{"refs/heads/" + asked, "refs/tags/" + asked}
	if !s.Repo.Where().Bare {
		names = slices.Concat([]string{"refs/remotes/origin/" + asked, "refs/remotes/" + asked}, names)
	}
	if strings.HasPrefix(asked, "refs/") {
		names = []string{asked}
	}
	existing, err := s.Repo.Refs(ctx, names...)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if _, exists := existing[name]; exists {
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

// findCommit finds the commit that a ref points to, directly or by a tag. id is the ref's object.
func findCommit(ctx context.Context, s *session.Session, name, id string) (string, error) {
	commit, here, err := s.Repo.Peel(ctx, id)
	switch {
	case err != nil:
		return "", err
	case !here || commit == "":
		return "", &failure.Error{Message: wording.Printable(name) + " does not point to a commit of this clone", Remedy: "clone the repository anew"}
	}
	return commit, nil
}

// hasCommit reports whether a commit is in the clone.
func hasCommit(ctx context.Context, s *session.Session, id string) (bool, error) {
	commit, here, err := s.Repo.Peel(ctx, id)
	return here && commit == id, err
}

// repositoryName returns the given name, or else origin's address, or else the directory's name. It removes credentials.
func repositoryName(ctx context.Context, s *session.Session, given string) (name string, err error) {
	if name = given; name == "" {
		name, err = s.Repo.RemoteURL(ctx, "origin")
	}
	if name != "" || err != nil {
		return withoutCredentials(name), err
	}
	where := s.Repo.Where()
	return filepath.Base(cmp.Or(where.Top, where.GitDir)), nil
}

// withoutCredentials removes user, password and query from an address (git-fetch(1), GIT URLS).
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
	place := server[strings.LastIndex(server, "@")+1:] + "/" + path
	if end := strings.IndexAny(place, "?#"); end >= 0 {
		place = place[:end]
	}
	return scheme + "://" + place
}
