package plain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// config has the settings of configuration files, read one after the other. A key without an equals sign has an empty value.
type config struct{ *format.Config }

func newConfig() config { return config{format.New()} }

// options are the lines of a section, or of a subsection if one is named.
func (c config) options(section, subsection string) format.Options {
	if !c.HasSection(section) { // otherwise go-git would create it
		return nil
	}
	s := c.Section(section)
	switch {
	case subsection == "":
		return s.Options
	case s.HasSubsection(subsection):
		return s.Subsection(subsection).Options
	}
	return nil
}

// includes reports whether the configuration includes other files.
func (c config) includes() bool { return c.HasSection("include") || c.HasSection("includeIf") }

// read adds one file of configuration as it is, without included files or checks of values. A missing file is empty.
func (c config) read(name string) error {
	data, err := readSmall(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.parse(data); err != nil {
		return fmt.Errorf("bad config line in %s: %w", wording.Printable(name), err)
	}
	return nil
}

// plainLine is a line of configuration that every program reads alike: a section, perhaps with a subsection, a key, or a key with a value,
// and a comment. Values with escapes, or partly in quotes, are left to git (git-config(1), SYNTAX).
var plainLine = expression.Of(`^[ \t]*(\[[A-Za-z][0-9A-Za-z-]*( "[^"\\[:cntrl:]]+")?\]|[A-Za-z][0-9A-Za-z-]*([ \t]*=([^"\\;#[:cntrl:]]*|[ \t]*"[^"\\[:cntrl:]]*"))?)?[ \t]*([#;][^[:cntrl:]]*)?$`)

// parse adds the text of a file, if it is plain. TestConfigAsGitReadsIt and FuzzConfig compare it with git.
func (c config) parse(data []byte) error {
	n := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if n++; !plainLine().Match(line) {
			return fmt.Errorf("line %d is one that git has to read", n)
		}
	}
	return format.NewDecoder(bytes.NewReader(data)).Decode(c.Config)
}

// everyConfig has the settings of all of git's configuration files, in git's order (git-config(1), FILES). If a user's file includes
// others, which may set key, it is refused.
func (r *Repo) everyConfig(key string) (config, error) {
	all := newConfig()
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
	home, base := r.env.Get("HOME"), r.env.Get("XDG_CONFIG_HOME")
	if base == "" && home != "" {
		base = filepath.Join(home, ".config")
	}
	if base != "" {
		files = append(files, filepath.Join(base, "git", "config"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// InitBranch is init.defaultBranch; the last file that sets it counts.
func (r *Repo) InitBranch(context.Context) (string, error) {
	all, err := r.everyConfig("init.defaultBranch")
	return all.options("init", "").Get("defaultBranch"), err
}

// RemoteURL is a remote's URL in the repository's own configuration, before git applies url.*.insteadOf; of several the first, from which
// git fetches. It is empty if there is no such remote.
func (r *Repo) RemoteURL(_ context.Context, remote string) (string, error) {
	if urls := r.config.options("remote", remote).GetAll("url"); len(urls) > 0 {
		return urls[0], nil
	}
	return "", nil
}
