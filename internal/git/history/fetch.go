package githistory

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Fetch has git fetch a refspec from a remote, and in a shallow clone the hidden history as well (git fetch --unshallow). It gives no
// depth, so a complete clone never becomes shallow. It uses the credentials in git's configuration. It writes only objects and
// remote-tracking refs: no tags, no work tree, no submodules, no FETCH_HEAD, and it runs no hook.
//
// If guarded is true, git runs no program that the clone's configuration names: no credential helper, no ssh. It can then fetch only over HTTP
// and from directories. A repository that git regards as unsafe is always guarded.
//
// A Repo, or any other reader, must be reopened to see what was fetched.
func (r *Repo) Fetch(ctx context.Context, remote, refspec string, guarded bool) error {
	if !IsRemoteName(remote) || strings.HasPrefix(remote, "-") || refspec == "" || strings.HasPrefix(refspec, "-") {
		return &failure.Error{Message: fmt.Sprintf("cannot fetch %q from %q", wording.Printable(refspec), wording.Printable(remote))}
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
	}
	if r.Shallow {
		args = append(args, "--unshallow")
	}
	fetcher := r.git
	if guarded || r.untrustedDir != "" {
		// Fetching from a directory is safe too, because the server program is fixed here.
		fetcher.Environ = append(Guarded(fetcher.Environ), "GIT_ALLOW_PROTOCOL=file:http:https")
		args = append(args, "--upload-pack=git-upload-pack")
	}
	_, err := fetcher.Output(ctx, nil, append(args, remote, refspec)...)
	var failed *gitcmd.Error
	if errors.As(err, &failed) && slices.ContainsFunc(refusalTexts, func(text string) bool { return strings.Contains(failed.Stderr, text) }) {
		err = errors.Join(err, ErrGone)
	}
	return r.toFailure(fmt.Sprintf("cannot fetch %s from %s", wording.Printable(refspec), wording.Printable(remote)), err)
}

// ErrGone is wrapped by the error of a fetch if the server answered that it lacks the commit, or does not serve it.
var ErrGone = errors.New("the server does not serve this commit")

// refusalTexts are the texts with which a server refuses a commit. git prints the second one if the server's protocol is older than version 2.
var refusalTexts = []string{"not our ref", "Server does not allow request for unadvertised object"}

// WithToken returns an environment in which git sends a token, in the form that GitHub expects, to one server instead of the configured
// credentials. server is the server's URL.
func WithToken(environ []string, server, token string) []string {
	key := "http." + strings.TrimSuffix(server, "/") + "/.extraHeader"
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	return withSettings(environ, setting{key, ""}, setting{key, "AUTHORIZATION: basic " + basic}) // an empty header clears earlier ones
}

// Guarded returns an environment in which git, when it fetches, runs no program that a repository's configuration names, not even to fetch an
// object that a partial clone left out. git can then fetch only over HTTP, with the configured headers.
func Guarded(environ []string) []string {
	return append(withSettings(environ, noProgramSettings...), "GIT_ALLOW_PROTOCOL=http:https", "GIT_ASKPASS=", "SSH_ASKPASS=")
}

// setting is one setting of git's configuration.
type setting struct{ name, value string }

// withSettings adds settings to an environment.
func withSettings(environ []string, settings ...setting) []string {
	out := slices.Clone(environ)
	n, err := strconv.Atoi(program.Environ(environ).Get("GIT_CONFIG_COUNT"))
	if err != nil || n < 0 {
		n = 0 // git refuses to run with an invalid number
	}
	for _, s := range settings {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.value))
		n++
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// noProgramSettings are the settings that keep git from running configured programs.
var noProgramSettings = []setting{
	{"credential.helper", ""}, // an empty one clears earlier ones
	{"core.askPass", ""},
	{"core.alternateRefsCommand", ":"},
	{"fetch.recurseSubmodules", "false"},
}
