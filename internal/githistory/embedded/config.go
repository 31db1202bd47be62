package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/wording"
)

// maxConfig bounds the size of a file of configuration, in bytes.
const maxConfig = 4 << 20

// decodeConfig reads one file of configuration as it is: no included files, and
// no opinion on values. A missing file is an empty one.
func decodeConfig(name string) (config, error) {
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are read", wording.Printable(name), info.Size(), maxConfig)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	set, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("bad config line in %s: %w", wording.Printable(name), err)
	}
	return set, nil
}

// plain reports whether a value is one that every git understands alike: some
// keep tabs, and some make spaces of them.
func plain(value string) bool {
	return strings.IndexFunc(value, func(c rune) bool { return c < ' ' }) < 0
}

// layout is what the configuration of a repository says about its shape.
type layout struct {
	// bare is 1 or 0 as core.bare says, -1 if it says nothing.
	bare int
	// workTree is core.worktree.
	workTree string
	// own says that the work tree has a configuration of its own.
	own bool
}

// readLayout reads the configuration that decides whether, and how, the
// repository can be read. linked says that the git directory is a linked work
// tree's own: then core.bare and core.worktree of the shared configuration are
// the main work tree's.
func readLayout(gitDir, commonDir string, linked bool) (layout, error) {
	l := layout{bare: -1}
	shared, err := decodeConfig(filepath.Join(commonDir, "config"))
	if err != nil {
		return l, cannot("cannot read the configuration", err)
	}
	if l.own, err = checkFormat(shared); err != nil {
		return l, err
	}
	if !linked || l.own {
		if err := l.take(shared); err != nil {
			return l, err
		}
	}
	if _, set := shared.last("core", "repositoryformatversion"); !set && (l.bare == 1 || l.workTree != "" || l.own) {
		return l, unserved("core.repositoryFormatVersion is missing, without which git passes over some settings")
	}
	if !l.own {
		return l, nil
	}
	trees, err := decodeConfig(filepath.Join(gitDir, "config.worktree"))
	if err != nil {
		return l, cannot("cannot read the work tree's configuration", err)
	}
	return l, l.take(trees)
}

func (l *layout) take(set config) (err error) {
	if text, ok := set.last("core", "bare"); ok {
		if l.bare, err = parseBool(text); err != nil {
			return unserved("core.bare is %q", text)
		}
	}
	if text, ok := set.last("core", "worktree"); ok {
		if l.workTree = text; text == "" || !plain(text) {
			return unserved("core.worktree is %q", text)
		}
	}
	return nil
}

// checkFormat refuses, by name, every version and extension that is not known to
// be harmless to a reader, and partial clones. own reports extensions.worktreeConfig.
func checkFormat(shared config) (own bool, err error) {
	if text, set := shared.last("core", "repositoryformatversion"); set && text != "0" && text != "1" {
		return false, unserved("core.repositoryFormatVersion is %q", text)
	}
	for _, s := range shared {
		switch {
		case s.section == "remote" && s.key == "promisor":
			return false, unserved("it is a partial clone")
		case s.section != "extensions":
		case s.subsection != "":
			return false, unserved("it has extensions.%s", wording.Printable(s.subsection))
		case s.key == "noop", s.key == "preciousobjects":
		case s.key == "worktreeconfig":
			on, err := parseBool(s.value)
			if err != nil {
				return false, unserved("extensions.worktreeConfig is %q", s.value)
			}
			own = on == 1
		default:
			return false, unserved("extensions.%s is %q", s.key, s.value)
		}
	}
	return own, nil
}

// parseBool reads git's words for yes (1) and no (0). An empty value is an
// error, because it means yes or no depending on an equals sign that is not
// kept.
func parseBool(text string) (int, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return 1, nil
	case "false", "no", "off":
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	return min(max(n, -n), 1), err
}
