package embedded

import (
	"context"
	"fmt"

	raw "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/githistory"
)

// RemoteURL is where a remote leads to as files of configuration have it, before
// git's url.*.insteadOf changes it; of several the first, from which git fetches.
// It is empty if there is no such remote.
func (r *Repo) RemoteURL(ctx context.Context, remote string) (string, error) {
	if err := alive(ctx, "looking up a remote"); err != nil {
		return "", err
	}
	url := ""
	take := func(config *raw.Config, name string, conditional bool) error {
		for _, sub := range config.Section("remote").Subsections {
			for _, option := range sub.Options {
				switch {
				case sub.Name != remote || !option.IsKey("url") || url != "":
				case conditional || !plain(option.Value):
					return fmt.Errorf("%s says where %s leads to in a way that is not understood here", githistory.Printable(name), githistory.Printable(remote))
				default:
					url = option.Value
				}
			}
		}
		return nil
	}
	w := &configWalk{repo: r, take: take}
	for _, name := range r.configFiles() {
		if err := w.file(name, 0, false); err != nil {
			return "", cannot("cannot read where "+githistory.Printable(remote)+" leads to", err)
		}
	}
	return url, nil
}
