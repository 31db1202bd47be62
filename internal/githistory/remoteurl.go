package githistory

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/wording"
)

// RemoteURL is where a remote leads to as it is configured, before git's
// url.*.insteadOf changes it; of several the first, from which git fetches. It is
// empty if there is no such remote.
func (r *Repo) RemoteURL(ctx context.Context, remote string) (string, error) {
	if !IsRemoteName(remote) {
		return "", nil
	}
	out, err := r.git.Output(ctx, nil, "config", "-z", "--get-all", "remote."+remote+".url")
	if err != nil && !gitcmd.ExitedWith(err, 1) { // 1: not set
		return "", r.failure("cannot read where "+wording.Printable(remote)+" leads to", err)
	}
	url, _, _ := strings.Cut(string(out), "\x00")
	return url, nil
}
