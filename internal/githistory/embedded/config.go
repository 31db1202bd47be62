package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	raw "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/wording"
)

// maxConfig bounds the size of a file of configuration, in bytes.
const maxConfig = 4 << 20

// decodeConfig reads one file of configuration as it is: no included files, and
// no opinion on values. A missing file is an empty one.
func decodeConfig(name string) (*raw.Config, error) {
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return raw.New(), nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("%s has %d bytes", wording.Printable(name), info.Size())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	config, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("bad config line in %s: %w", wording.Printable(name), err)
	}
	return config, nil
}

func parseConfig(data []byte) (*raw.Config, error) {
	config := raw.New()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	err := raw.NewDecoder(bytes.NewReader(data)).Decode(config)
	return config, err
}

// lookUp is the last value of a key without a subsection.
func lookUp(config *raw.Config, section, key string) (string, bool) {
	options := config.Section(section).Options
	return options.Get(key), options.Has(key)
}

// plain reports whether a value is one that the decoder understands as git
// does: it keeps the break of a line that goes on, and tabs, which git does not.
func plain(value string) bool {
	return strings.IndexFunc(value, func(c rune) bool { return c < ' ' }) < 0
}

// layout is what the configuration of a repository says about its shape.
type layout struct {
	// bare is 1 or 0 as core.bare says, -1 if it says nothing.
	bare int
	// workTree is core.worktree.
	workTree string
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
	own, err := checkFormat(shared)
	if err != nil {
		return l, err
	}
	if !linked || own {
		if err := l.take(shared); err != nil {
			return l, err
		}
	}
	if !own {
		return l, nil
	}
	config, err := decodeConfig(filepath.Join(gitDir, "config.worktree"))
	if err != nil {
		return l, cannot("cannot read the work tree's configuration", err)
	}
	return l, l.take(config)
}

func (l *layout) take(config *raw.Config) (err error) {
	if text, set := lookUp(config, "core", "bare"); set {
		if l.bare, err = parseBool(text); err != nil {
			return unserved("core.bare is %q", text)
		}
	}
	if text, set := lookUp(config, "core", "worktree"); set {
		if l.workTree = text; !plain(text) {
			return unserved("core.worktree is %q", text)
		}
	}
	return nil
}

// checkFormat refuses, by name, every version and extension that is not known to
// be harmless to a reader, and partial clones. own reports extensions.worktreeConfig.
func checkFormat(config *raw.Config) (own bool, err error) {
	if text, set := lookUp(config, "core", "repositoryformatversion"); set && text != "0" && text != "1" {
		return false, unserved("core.repositoryFormatVersion is %q", text)
	}
	extensions := config.Section("extensions")
	if len(extensions.Subsections) > 0 {
		return false, unserved("it has extensions.%s", wording.Printable(extensions.Subsections[0].Name))
	}
	for _, option := range extensions.Options {
		switch name := strings.ToLower(option.Key); name {
		case "noop", "preciousobjects":
		case "worktreeconfig":
			on, err := parseBool(option.Value)
			if err != nil {
				return false, unserved("extensions.worktreeConfig is %q", option.Value)
			}
			own = on == 1
		default:
			return false, unserved("extensions.%s is %q", name, option.Value)
		}
	}
	for _, remote := range config.Section("remote").Subsections {
		if remote.HasOption("promisor") {
			return false, unserved("it is a partial clone")
		}
	}
	return own, nil
}

// parseBool reads git's words for yes (1) and no (0). An empty value is an
// error, because it means yes or no depending on an equals sign that the
// decoder does not hand on.
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
