package githistory

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/wording"
)

// Fetch has git fetch from a remote what refspec names, and in a shallow clone
// the history that it hides (git fetch --unshallow). A clone that is not shallow
// is never made so: no depth is given. It goes by the credentials that git is
// configured to use. Objects and remote-tracking refs are all that is written: no
// tags, no work tree, no submodules, no FETCH_HEAD, and no hook is run.
//
// guarded is for a clone in which nothing that is configured may be run: then no
// credential helper, no ssh and no other program is, and only what git itself
// does remains, over HTTP and from directories. A repository of another user is
// always guarded.
//
// A Repo, and any other reader, has to be opened anew to see what was fetched.
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
	if guarded || r.foreign != "" {
		// With the program named here, a directory is safe to fetch from too.
		fetcher.Environ = append(Guarded(fetcher.Environ), "GIT_ALLOW_PROTOCOL=file:http:https")
		args = append(args, "--upload-pack=git-upload-pack")
	}
	_, err := fetcher.Output(ctx, nil, append(args, remote, refspec)...)
	var failed *gitcmd.Error
	if errors.As(err, &failed) && slices.ContainsFunc(refusals, func(said string) bool { return strings.Contains(failed.Stderr, said) }) {
		err = errors.Join(err, ErrGone)
	}
	return r.failure(fmt.Sprintf("cannot fetch %s from %s", wording.Printable(refspec), wording.Printable(remote)), err)
}

// ErrGone is in the chain of the error of a fetch that the server has answered: it does not have the commit, or hands it to nobody.
var ErrGone = errors.New("the server does not hand it out")

// refusals are how upload-pack says so; the second is what git says of a server with the protocol before version 2.
var refusals = []string{"not our ref", "Server does not allow request for unadvertised object"}

// WithToken is an environment in which git shows one server, by its address, a token of GitHub's kind instead of the credentials that are
// configured for it.
func WithToken(environ []string, server, token string) []string {
	key := "http." + strings.TrimSuffix(server, "/") + "/.extraHeader="
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	return configured(environ, key, key+"AUTHORIZATION: basic "+basic) // an empty header forgets those before it
}

// Guarded is an environment in which git runs none of the programs that a
// repository's configuration may name to fetch something, also not for an object
// that a partial clone left out: what remains is HTTP, with the headers that are
// configured.
func Guarded(environ []string) []string {
	return append(configured(environ, nothingRun...), "GIT_ALLOW_PROTOCOL=http:https", "GIT_ASKPASS=", "SSH_ASKPASS=")
}

// configured is an environment with more configuration of git, each as key=value.
func configured(environ []string, settings ...string) []string {
	out := slices.Clone(environ)
	n, err := strconv.Atoi(gitcmd.Environ(environ).Get("GIT_CONFIG_COUNT"))
	if err != nil || n < 0 {
		n = 0 // git itself takes no configuration from such a number
	}
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// nothingRun is the configuration that switches programs off.
var nothingRun = []string{
	"credential.helper=", // an empty one forgets those before it
	"core.askPass=",
	"core.alternateRefsCommand=:",
	"fetch.recurseSubmodules=false",
}
