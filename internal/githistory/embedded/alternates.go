package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxAlternates is how deep directories of objects may name others; git's own
// limit.
const maxAlternates = 5

// objectDirs lists the directories that hold the repository's objects: its own,
// or the one that git names (in a hook on the receiving side that is the
// quarantine of the push), those that git names besides, and those that each of
// them names in turn (gitrepository-layout(5), objects/info/alternates).
func objectDirs(s site, env gitcmd.Environ) ([]string, error) {
	own := filepath.Join(s.CommonDir, "objects")
	if named := env.Get("GIT_OBJECT_DIRECTORY"); named != "" {
		own = githistory.Within(s.base, named)
	}
	d := &directories{seen: map[string]bool{}}
	err := d.add(own, 0)
	if named := env.Get("GIT_ALTERNATE_OBJECT_DIRECTORIES"); err == nil && named != "" {
		err = d.addAll(s.base, strings.Split(named, string(os.PathListSeparator)), 1)
	}
	return d.list, cannot("cannot find the objects", err)
}

// directories gathers directories of objects, each once.
type directories struct {
	list []string
	seen map[string]bool
}

func (d *directories) add(dir string, depth int) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) && depth > 0 {
		return nil // as git does; an object that is missed for it is an error
	}
	if err != nil || d.seen[real] || depth > maxAlternates {
		return err
	}
	d.seen[real], d.list = true, append(d.list, real)
	data, err := readSmall(filepath.Join(real, "info", "alternates"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.addAll(real, strings.Split(string(data), "\n"), depth+1)
}

// addAll takes in what a list names, as it is meant in base.
func (d *directories) addAll(base string, list []string, depth int) error {
	for _, name := range list {
		name = strings.TrimSuffix(name, "\r")
		switch {
		case name == "" || name[0] == '#':
			continue
		case name[0] == '"': // git quotes unusual paths as C does
			return unserved("the path %s of a directory of objects is quoted", wording.Printable(name))
		}
		if err := d.add(githistory.Within(base, name), depth); err != nil {
			return err
		}
	}
	return nil
}
