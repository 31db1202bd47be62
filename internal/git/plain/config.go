package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// config has the values of settings, in order, by git's name for each: section.subsection.key, with section and key in lower case. A key
// without an equals sign has an empty value.
type config map[string][]string

// last is the value that counts of those of a setting.
func (c config) last(name string) (value string, set bool) {
	values := c[name]
	if len(values) == 0 {
		return "", false
	}
	return values[len(values)-1], true
}

// includes reports whether the configuration includes other files.
func (c config) includes() bool {
	for name := range c {
		if strings.HasPrefix(name, "include.") || strings.HasPrefix(name, "includeif.") {
			return true
		}
	}
	return false
}

// read adds one file of configuration as it is, without included files or checks of values. A missing file is empty.
func (c config) read(name string) error {
	data, err := readSmall(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.parse(string(data)); err != nil {
		return fmt.Errorf("bad config line in %s: %w", wording.Printable(name), err)
	}
	return nil
}

// plainLine is a line of configuration that every program reads alike: a section, perhaps with a subsection, a key, or a key with a value,
// and a comment. Values with escapes, or partly in quotes, are left to git (git-config(1), SYNTAX).
var plainLine = expression.Of(`^[ \t]*(?:\[([A-Za-z][0-9A-Za-z-]*)(?: "([^"\\[:cntrl:]]+)")?\]|([A-Za-z][0-9A-Za-z-]*)(?:[ \t]*=(?:([^"\\;#[:cntrl:]]*)|[ \t]*"([^"\\[:cntrl:]]*)"))?)?[ \t]*(?:[#;][^[:cntrl:]]*)?$`)

// parse adds the text of a file, if it is plain. TestConfigAsGitReadsIt and FuzzConfig compare it with git.
func (c config) parse(text string) error {
	n, section := 0, ""
	for line := range strings.SplitSeq(text, "\n") {
		n++
		m := plainLine().FindStringSubmatch(line)
		switch {
		case m == nil, m[3] != "" && section == "":
			return fmt.Errorf("line %d is one that git has to read", n)
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

// everyConfig has the settings of all of git's configuration files, in git's order (git-config(1), FILES). If a user's file includes
// others, which may set key, it is refused.
func (r *Repo) everyConfig(key string) (config, error) {
	all := config{}
	for _, file := range append(r.userFiles(), filepath.Join(r.CommonDir, "config")) {
		err := all.read(file)
		if errors.Is(err, os.ErrPermission) {
			continue // as git does
		}
		if err == nil && all.includes() {
			err = unserved("%s includes other files, which may set %s", wording.Printable(file), wording.Printable(key))
		}
		if err != nil {
			return all, cannot("cannot read the configuration", err)
		}
	}
	return all, nil
}

// userFiles are the configuration files outside the repository.
func (r *Repo) userFiles() (files []string) {
	if off := strings.ToLower(r.env.Get("GIT_CONFIG_NOSYSTEM")); slices.Contains([]string{"", "0", "false", "no", "off"}, off) {
		system, named := r.env.Lookup("GIT_CONFIG_SYSTEM")
		if !named {
			system = "/etc/gitconfig"
		}
		files = append(files, system)
	}
	if named, set := r.env.Lookup("GIT_CONFIG_GLOBAL"); set {
		return append(files, named)
	}
	home := r.env.Get("HOME")
	base := cmp.Or(r.env.Get("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	for _, name := range []string{filepath.Join(base, "git", "config"), filepath.Join(home, ".gitconfig")} {
		if filepath.IsAbs(name) { // not if there is no HOME
			files = append(files, name)
		}
	}
	return files
}

// InitBranch is init.defaultBranch; the last file that sets it counts.
func (r *Repo) InitBranch(context.Context) (string, error) {
	all, err := r.everyConfig("init.defaultBranch")
	branch, _ := all.last("init.defaultbranch")
	return branch, err
}

// RemoteURL is a remote's URL in the repository's own configuration, before git applies url.*.insteadOf; of several the first, from which
// git fetches. It is empty if there is no such remote.
func (r *Repo) RemoteURL(_ context.Context, remote string) (string, error) {
	if urls := r.config["remote."+remote+".url"]; len(urls) > 0 {
		return urls[0], nil
	}
	return "", nil
}
