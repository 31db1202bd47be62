package githistory

import (
	"context"
	"net/url"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Address returns the host and the path of a remote's URL, without user, port and ".git": github.com/acme/widgets. It returns an empty text for
// a local path, and for the URL of a remote helper (ext::COMMAND), because it may hold a secret.
func Address(remote string) string {
	if !strings.Contains(remote, "://") { // user@host:path, or a local path if a slash comes before the colon (git-fetch(1), GIT URLS)
		host, path, found := strings.Cut(remote, ":")
		if !found || strings.Contains(host, "/") || len(host) < 2 || strings.HasPrefix(path, ":") {
			return ""
		}
		remote = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(remote)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return u.Hostname() + "/" + strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
}

// RemoteURL returns the configured URL of a remote, before git applies url.*.insteadOf; empty if there is no such remote. If there are several
// URLs, it returns the first, from which git fetches.
func (r *Repo) RemoteURL(ctx context.Context, remote string) (string, error) {
	if !IsRemoteName(remote) {
		return "", nil
	}
	out, err := r.git.Output(ctx, nil, "config", "-z", "--get-all", "remote."+remote+".url")
	if err != nil && !gitcmd.ExitedWith(err, 1) { // status 1 means that it is not set
		return "", r.toFailure("cannot read the URL of "+wording.Printable(remote), err)
	}
	first, _, _ := strings.Cut(string(out), "\x00")
	return first, nil
}

// FetchSpecs returns what is fetched from the remotes, as refspecs (git-fetch(1)).
func (r *Repo) FetchSpecs(ctx context.Context) ([]string, error) {
	out, err := r.git.Output(ctx, nil, "config", "-z", "--get-regexp", `^remote\..*\.fetch$`)
	if err != nil && !gitcmd.ExitedWith(err, 1) { // status 1 means that there is none
		return nil, r.toFailure("cannot read what is fetched from the remotes", err)
	}
	var specs []string
	for item := range strings.SplitSeq(string(out), "\x00") {
		if _, spec, ok := strings.Cut(item, "\n"); ok { // the name comes first
			specs = append(specs, spec)
		}
	}
	return specs, nil
}
