package githistory

import (
	"context"
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
	if !isRemoteName(remote) || strings.HasPrefix(remote, "-") || refspec == "" || strings.HasPrefix(refspec, "-") {
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
	if _, err := fetcher.Output(ctx, nil, append(args, remote, refspec)...); err != nil {
		return r.failure(fmt.Sprintf("cannot fetch %s from %s", wording.Printable(refspec), wording.Printable(remote)), err)
	}
	return nil
}

// Guarded is an environment in which git runs none of the programs that a
// repository's configuration may name to fetch something, also not for an object
// that a partial clone left out: what remains is HTTP, with the headers that are
// configured.
func Guarded(environ []string) []string {
	guarded := append(slices.Clone(environ), "GIT_ALLOW_PROTOCOL=http:https", "GIT_ASKPASS=", "SSH_ASKPASS=")
	n, err := strconv.Atoi(gitcmd.Environ(environ).Get("GIT_CONFIG_COUNT"))
	if err != nil || n < 0 {
		n = 0 // git itself takes no configuration from such a number
	}
	for _, setting := range nothingRun {
		key, value, _ := strings.Cut(setting, "=")
		guarded = append(guarded, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	return append(guarded, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// nothingRun is the configuration that switches programs off.
var nothingRun = []string{
	"credential.helper=", // an empty one forgets those before it
	"core.askPass=",
	"core.alternateRefsCommand=:",
	"fetch.recurseSubmodules=false",
}
