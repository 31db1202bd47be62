package embedded

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	raw "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/githistory"
)

// tracking gathers what the configuration says about a branch and its remote
// (git-config(1), branch.<name>.remote, branch.<name>.merge,
// remote.<name>.fetch).
type tracking struct {
	branch string
	remote string // the last word counts
	merge  string // the first does, as for git's @{upstream}
	fetch  map[string][]string
}

// configuredUpstream is the ref that a branch is configured to follow: what its
// remote's branch is fetched into, or a local branch. It is empty if there is
// none.
func (r *Repo) configuredUpstream(branch string) (string, error) {
	if err := r.tracksByVariable(); err != nil {
		return "", err
	}
	t := &tracking{branch: branch, fetch: map[string][]string{}}
	w := &configWalk{repo: r, take: t.take, ordered: true}
	for _, name := range r.configFiles() {
		if err := w.file(name, 0, false); err != nil {
			return "", err
		}
	}
	switch {
	case t.remote == "" || t.merge == "":
		return "", nil
	case t.remote == ".":
		return t.merge, nil
	}
	for _, spec := range t.fetch[t.remote] {
		if into := fetchedInto(spec, t.merge); into != "" {
			return into, nil
		}
	}
	return "", nil
}

// take takes one file of configuration in.
func (t *tracking) take(config *raw.Config, name string, conditional bool) error {
	use := func(section, key string, option *raw.Option) error {
		switch {
		case !plain(option.Value):
			return fmt.Errorf("%s.%s is %q in %s", section, key, option.Value, githistory.Printable(name))
		case conditional:
			return fmt.Errorf("%s sets %s.*.%s and is included", githistory.Printable(name), section, key)
		}
		return nil
	}
	for _, sub := range config.Section("branch").Subsections {
		if sub.Name != t.branch {
			continue
		}
		for _, option := range sub.Options {
			switch {
			case option.IsKey("remote"):
				t.remote = option.Value
			case option.IsKey("merge") && t.merge == "":
				t.merge = option.Value
			default:
				continue
			}
			if err := use("branch", option.Key, option); err != nil {
				return err
			}
		}
	}
	for _, sub := range config.Section("remote").Subsections {
		for _, option := range sub.Options {
			if !option.IsKey("fetch") {
				continue
			}
			if err := use("remote", option.Key, option); err != nil {
				return err
			}
			t.fetch[sub.Name] = append(t.fetch[sub.Name], option.Value)
		}
	}
	return nil
}

// fetchedInto is the ref into which a refspec fetches another (git-fetch(1),
// <refspec>); empty if it does not.
func fetchedInto(spec, ref string) string {
	if strings.HasPrefix(spec, "^") {
		return ""
	}
	from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	before, after, isPattern := strings.Cut(from, "*")
	if !isPattern {
		if from == ref {
			return to
		}
		return ""
	}
	rest, ok := strings.CutPrefix(ref, before)
	if !ok || !strings.HasSuffix(rest, after) || !strings.Contains(to, "*") {
		return ""
	}
	return strings.Replace(to, "*", strings.TrimSuffix(rest, after), 1)
}

// tracksByVariable fails if a variable of the caller says something about
// branches or what is fetched (git-config(1), ENVIRONMENT).
func (r *Repo) tracksByVariable() error {
	concerns := func(key string) bool {
		key = strings.ToLower(key)
		return strings.HasPrefix(key, "branch.") || strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".fetch")
	}
	given := strings.ToLower(r.env.get("GIT_CONFIG_PARAMETERS"))
	if strings.Contains(given, "'branch.") || strings.Contains(given, "'remote.") {
		return errors.New("git -c says something about branches or remotes")
	}
	n, err := strconv.Atoi(r.env.get("GIT_CONFIG_COUNT"))
	if err != nil {
		return nil //nolint:nilerr // what is no number sets nothing
	}
	for i := range n {
		if key := r.env.get("GIT_CONFIG_KEY_" + strconv.Itoa(i)); concerns(key) {
			return fmt.Errorf("a variable sets %s", githistory.Printable(key))
		}
	}
	return nil
}
