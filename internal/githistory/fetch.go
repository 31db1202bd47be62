package githistory

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
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
		return &gate.Failure{Message: fmt.Sprintf("cannot fetch %q from %q", Printable(refspec), Printable(remote))}
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
	}
	if r.Shallow {
		args = append(args, "--unshallow")
	}
	fetcher := &Repo{git: r.git, dir: r.dir, config: slices.Clone(r.config), environ: slices.Clone(r.environ)}
	if guarded || r.foreign != "" {
		fetcher.config = append(fetcher.config, nothingRun...)
		fetcher.environ = append(fetcher.environ,
			"GIT_ALLOW_PROTOCOL=file:http:https", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_PROXY_COMMAND=",
		)
		args = append(args, "--upload-pack=git-upload-pack")
	}
	if _, err := fetcher.output(ctx, nil, append(args, remote, refspec)...); err != nil {
		return r.failure(fmt.Sprintf("cannot fetch %s from %s", Printable(refspec), Printable(remote)), err)
	}
	return nil
}

// nothingRun switches off the programs that a repository's configuration may
// name and that git would run to fetch.
var nothingRun = []string{
	"-c", "credential.helper=", // an empty one forgets those before it
	"-c", "core.askPass=",
	"-c", "core.gitProxy=none",
	"-c", "core.sshCommand=" + os.DevNull,
	"-c", "core.alternateRefsCommand=:",
	"-c", "fetch.recurseSubmodules=false",
}
