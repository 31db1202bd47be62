package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/githistory"
)

// maxAlternates is how deep directories of objects may name others; git's own
// limit.
const maxAlternates = 5

// objectDirs lists the directories that hold the repository's objects: its own,
// or the one that git names (in a hook on the receiving side that is the
// quarantine of the push), those that git names besides, and those that each of
// them names in turn (gitrepository-layout(5), objects/info/alternates).
func objectDirs(s site, env environ) ([]string, error) {
	own := filepath.Join(s.CommonDir, "objects")
	if named := env.get("GIT_OBJECT_DIRECTORY"); named != "" {
		own = within(s.base, named)
	}
	var dirs []string
	seen := map[string]bool{}
	var add func(dir string, depth int) error
	add = func(dir string, depth int) error {
		real, err := filepath.EvalSymlinks(dir)
		if errors.Is(err, os.ErrNotExist) && depth > 0 {
			return nil // as git does; an object that is missed for it is an error
		}
		if err != nil {
			return err
		}
		if seen[real] || depth > maxAlternates {
			return nil
		}
		seen[real] = true
		dirs = append(dirs, real)
		data, err := readSmall(filepath.Join(real, "info", "alternates"))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			line, err := unquoted(line)
			if err != nil {
				return err
			}
			if err := add(within(real, line), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(own, 0); err != nil {
		return nil, cannot("the objects cannot be found", err)
	}
	for _, named := range splitAlternates(env.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")) {
		dir, err := unquoted(named)
		if err == nil {
			err = add(within(s.base, dir), 1)
		}
		if err != nil {
			return nil, cannot("GIT_ALTERNATE_OBJECT_DIRECTORIES cannot be followed", err)
		}
	}
	return dirs, nil
}

// splitAlternates takes a list of directories apart. One that begins with a
// quotation mark is quoted and may hold the separator.
func splitAlternates(list string) []string {
	var dirs []string
	for list != "" {
		end := strings.IndexByte(list, os.PathListSeparator)
		if list[0] == '"' {
			if quoted, err := strconv.QuotedPrefix(list); err == nil {
				end = len(quoted)
			}
		}
		if end < 0 || end >= len(list) {
			return append(dirs, list)
		}
		if end > 0 {
			dirs = append(dirs, list[:end])
		}
		list = list[end+1:]
	}
	return dirs
}

// unquoted undoes the quoting of C, which git uses for unusual paths.
func unquoted(path string) (string, error) {
	if !strings.HasPrefix(path, `"`) {
		return path, nil
	}
	text, err := strconv.Unquote(path)
	if err != nil {
		return "", errors.New("the path " + githistory.Printable(path) + " is not quoted as git quotes")
	}
	return text, nil
}
