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

	"github.com/small-gate/small-gate/internal/githistory"
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
		return nil, fmt.Errorf("%s has %d bytes", githistory.Printable(name), info.Size())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	config, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("bad config line in %s: %w", githistory.Printable(name), err)
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
	for i := len(options) - 1; i >= 0; i-- {
		if options[i].IsKey(key) {
			return options[i].Value, true
		}
	}
	return "", false
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
	// promisor reports a partial clone: objects may be missing by design.
	promisor bool
}

// ignorable are the extensions that do not change what a reader sees. The value
// tells whether git knows them in version 0 too; it refuses the others there.
var ignorable = map[string]bool{
	"noop":              true,
	"preciousobjects":   true,
	"partialclone":      true,
	"worktreeconfig":    true,
	"noop-v1":           false,
	"relativeworktrees": false,
}

// readLayout reads the configuration that decides whether, and how, the
// repository can be read. linked says that the git directory is a linked work
// tree's own: then core.bare and core.worktree of the shared configuration are
// the main work tree's.
func readLayout(gitDir, commonDir string, linked bool) (layout, error) {
	l := layout{bare: -1}
	config, err := decodeConfig(filepath.Join(commonDir, "config"))
	if err != nil {
		return l, cannot("the configuration cannot be read", err)
	}
	version, err := formatVersion(config)
	if err != nil {
		return l, err
	}
	own, err := checkExtensions(config, version)
	if err != nil {
		return l, err
	}
	files := []*raw.Config{config}
	if own {
		config, err := decodeConfig(filepath.Join(gitDir, "config.worktree"))
		if err != nil {
			return l, cannot("the work tree's configuration cannot be read", err)
		}
		files = append(files, config)
	}
	for _, config := range files {
		l.promisor = l.promisor || promises(config)
		if linked && !own {
			continue
		}
		if text, set := lookUp(config, "core", "bare"); set {
			if l.bare, err = parseBool(text); err != nil {
				return l, unserved("core.bare is %q", text)
			}
		}
		if text, set := lookUp(config, "core", "worktree"); set {
			if l.workTree = text; !plain(text) {
				return l, unserved("core.worktree is %q", text)
			}
		}
	}
	return l, nil
}

// formatVersion is core.repositoryFormatVersion; 0 if it is not set.
func formatVersion(config *raw.Config) (int, error) {
	text, set := lookUp(config, "core", "repositoryformatversion")
	if !set {
		return 0, nil
	}
	version, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || version < 0 || version > 1 {
		return 0, unserved("core.repositoryFormatVersion is %q", text)
	}
	return version, nil
}

// checkExtensions refuses, by name, every extension that is not known to be
// harmless to a reader. own reports extensions.worktreeConfig.
func checkExtensions(config *raw.Config, version int) (own bool, err error) {
	extensions := config.Section("extensions")
	if len(extensions.Subsections) > 0 {
		return false, unserved("it has extensions.%s", extensions.Subsections[0].Name)
	}
	for _, option := range extensions.Options {
		name := strings.ToLower(option.Key)
		v0, known := ignorable[name]
		switch {
		case name == "objectformat" && version == 1 && strings.EqualFold(option.Value, "sha1"):
		case name == "refstorage" && version == 1 && option.Value == "files":
		case !known, version == 0 && !v0:
			return false, unserved("extensions.%s is %q in a repository of version %d", name, option.Value, version)
		case name == "worktreeconfig":
			on, err := parseBool(option.Value)
			if err != nil {
				return false, unserved("extensions.worktreeConfig is %q", option.Value)
			}
			own = on == 1
		}
	}
	return own, nil
}

// promises reports whether a remote has promised to deliver missing objects.
func promises(config *raw.Config) bool {
	if _, set := lookUp(config, "extensions", "partialclone"); set {
		return true
	}
	for _, remote := range config.Section("remote").Subsections {
		for _, option := range remote.Options {
			if option.IsKey("promisor") {
				return true
			}
		}
	}
	return false
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
	if err != nil {
		return 0, err
	}
	if n != 0 {
		n = 1
	}
	return n, nil
}
