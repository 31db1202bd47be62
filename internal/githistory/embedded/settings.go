package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// InitBranch is init.defaultBranch; the last file that sets it counts.
func (r *Repo) InitBranch(context.Context) (branch string, err error) {
	err = r.eachConfig("init.defaultBranch", func(c config) error {
		text, set := c.last("init", "defaultbranch")
		if !plain(text) {
			return unserved("init.defaultBranch is %q", text)
		}
		if set {
			branch = text
		}
		return nil
	})
	return branch, err
}

// Neighbours refuses a repository that may have some: one with other work trees,
// or in which the branch that is checked out has an upstream.
func (r *Repo) Neighbours(ctx context.Context) ([]githistory.Neighbour, error) {
	trees, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	switch {
	case len(trees) > 0:
		return nil, unserved("it has several work trees")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, cannot("cannot list the work trees", err)
	}
	head, err := r.CurrentBranch(ctx)
	branch, isBranch := strings.CutPrefix(head, "refs/heads/")
	if err != nil || !isBranch || r.head == "" {
		return nil, err
	}
	return nil, r.eachConfig("branch."+wording.Printable(branch)+".merge", func(c config) error {
		if len(c.all("branch", branch, "merge")) > 0 {
			return unserved("the branch %s has an upstream", wording.Printable(branch))
		}
		return nil
	})
}

// eachConfig hands on the files of configuration that git reads, in its order
// (git-config(1), FILES). A file that includes others, and a variable that sets the
// key, are refused.
func (r *Repo) eachConfig(key string, take func(config) error) error {
	for _, v := range r.env {
		if strings.HasPrefix(v, "GIT_CONFIG_") && strings.Contains(strings.ToLower(v), strings.ToLower(key)) {
			return unserved("a variable sets %s", key)
		}
	}
	for _, file := range r.configFiles() {
		set, err := decodeConfig(file)
		if errors.Is(err, os.ErrPermission) {
			continue // as git does
		}
		if err == nil && includes(set) {
			err = unserved("%s includes other files, which may set %s", wording.Printable(file), key)
		}
		if err == nil {
			err = take(set)
		}
		if err != nil {
			return cannot("cannot read the configuration", err)
		}
	}
	return nil
}

func includes(c config) bool {
	return slices.ContainsFunc(c, func(s setting) bool { return s.section == "include" || s.section == "includeif" })
}

func on(text string) bool {
	yes, err := parseBool(text)
	return err == nil && yes == 1
}

func (r *Repo) configFiles() []string {
	system := "/etc/gitconfig"
	if named, set := r.env.Lookup("GIT_CONFIG_SYSTEM"); set {
		system = named
	}
	if on(r.env.Get("GIT_CONFIG_NOSYSTEM")) {
		system = ""
	}
	files := []string{system}
	home, base := r.env.Get("HOME"), r.env.Get("XDG_CONFIG_HOME")
	if named, set := r.env.Lookup("GIT_CONFIG_GLOBAL"); set {
		files, home, base = append(files, named), "", ""
	} else if base == "" && home != "" {
		base = filepath.Join(home, ".config")
	}
	if base != "" {
		files = append(files, filepath.Join(base, "git", "config"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return append(files, filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, "config.worktree"))
}

// RemoteURL is where a remote leads to as the repository's own configuration has
// it, before git's url.*.insteadOf changes it; of several the first, from which
// git fetches. It is empty if there is no such remote.
func (r *Repo) RemoteURL(_ context.Context, remote string) (string, error) {
	set, err := decodeConfig(filepath.Join(r.CommonDir, "config"))
	if err != nil {
		return "", cannot("cannot read where "+wording.Printable(remote)+" leads to", err)
	}
	urls := set.all("remote", remote, "url")
	switch {
	case len(urls) == 0 && includes(set):
		return "", unserved("its configuration includes other files, which may say where %s leads to", wording.Printable(remote))
	case len(urls) == 0:
		return "", nil
	case !plain(urls[0]):
		return "", unserved("remote.%s.url is %q", wording.Printable(remote), urls[0])
	}
	return urls[0], nil
}
