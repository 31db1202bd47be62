package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// config has the values of each setting in their order. A setting's name is section.subsection.key, with section and key in lower case. A key
// without an equals sign has an empty value.
type config map[string][]string

// last returns the last value of a setting, which counts if git wants a single value.
func (c config) last(name string) (value string, set bool) {
	values := c[name]
	if len(values) == 0 {
		return "", false
	}
	return values[len(values)-1], true
}

// plainLine matches a line of configuration that every program reads alike: a section, a section with a subsection, a key, or a key with a value;
// each may have a comment. Values with escapes, or partly in quotes, are left to git (git-config(1), SYNTAX).
var plainLine = expression.Of(`^[ \t]*(?:\[([A-Za-z][0-9A-Za-z-]*)(?: "([^"\\[:cntrl:]]+)")?\]|([A-Za-z][0-9A-Za-z-]*)(?:[ \t]*=(?:([^"\\;#[:cntrl:]]*)|[ \t]*"([^"\\[:cntrl:]]*)"))?)?[ \t]*(?:[#;][^[:cntrl:]]*)?$`)

// parse adds the settings of a file; a line that is not plain is an error. TestConfigAsGitReadsIt and FuzzConfig compare it with git.
func (c config) parse(text string) error {
	section := ""
	for i, line := range strings.Split(text, "\n") {
		m := plainLine().FindStringSubmatch(line)
		switch {
		case m == nil, m[3] != "" && section == "":
			return fmt.Errorf("bad config line %d, or one that only git can read", i+1)
		case m[1] != "":
			if section = strings.ToLower(m[1]) + "."; m[2] != "" {
				section += m[2] + "."
			}
		case m[3] != "":
			name := section + strings.ToLower(m[3])
			c[name] = append(c[name], strings.Trim(m[4], " ")+m[5])
		}
	}
	return nil
}

// InitBranch asks git for init.defaultBranch, because users set it in files of their own, which may include others. Without git it counts as unset.
func (r *Repo) InitBranch(ctx context.Context) (string, error) {
	git := gitcmd.Git{Dir: r.Top, Environ: gitcmd.Reading(r.env), Options: gitcmd.ReadingOptions("")}
	branch, err := githistory.InitBranch(ctx, git)
	if gitcmd.IsNotFound(err) {
		err = nil
	}
	return branch, asFailure("cannot read init.defaultBranch", err)
}

// FetchSpecs are as [githistory.Repo.FetchSpecs].
func (r *Repo) FetchSpecs(context.Context) (specs []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(r.config)) {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".fetch") {
			specs = append(specs, r.config[key]...)
		}
	}
	return specs, nil
}

// RemoteURL returns the URL of a remote in .git/config, the first if there are several; empty if there is no such remote. url.*.insteadOf is not applied.
func (r *Repo) RemoteURL(_ context.Context, remote string) (string, error) {
	if urls := r.config["remote."+remote+".url"]; len(urls) > 0 {
		return urls[0], nil
	}
	return "", nil
}
