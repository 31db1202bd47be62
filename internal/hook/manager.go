package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Manager is a program that fills the directory that git takes hooks from. Everything that sets one apart is here: to add one, write its
// value and put it into managers.
type Manager struct {
	// Name is what the program is called.
	Name string
	// wrote reports whether a hook with this text was written by it.
	wrote func(text string) bool
	// owns reports whether it sets core.hooksPath to this directory; nil if it never sets that.
	owns func(dir string) bool
	// configs are the files by which it may be configured, relative to the work tree's top.
	configs []string
	// scripts is the directory in which each hook has a file of its own; nil if the configuration says what runs.
	scripts func(repo Repository) string
	// aside ends the name to which it moves a hook that it finds; runsAside says that it runs that one first.
	aside     string
	runsAside bool
	// undoes says what becomes of our hooks among its own; nil if they stay.
	undoes func(repo Repository) string
	// fill says in a manual what a person has to add.
	fill func(m *Manual, at managed, hooks []Name) error
}

// managers are the programs that are recognised, in the order in which their configuration is looked for.
var managers = []*Manager{&husky, &lefthook, &preCommit, &prek}

// teamDirectory is a core.hooksPath of no known manager.
var teamDirectory = Manager{Name: "core.hooksPath"}

// writerOf returns the manager that wrote a hook with this text, or nil.
func writerOf(text string) *Manager {
	for _, m := range managers {
		if m.wrote(text) {
			return m
		}
	}
	return nil
}

// ownerOf returns the manager whose directory core.hooksPath names, or nil.
func ownerOf(repo Repository) *Manager {
	for _, m := range managers {
		if repo.redirected() && m.owns != nil && m.owns(repo.HooksDir) {
			return m
		}
	}
	return nil
}

// configOf returns which of a manager's configuration files are there, as absolute paths.
func (m *Manager) configOf(repo Repository) ([]string, error) {
	if repo.Bare {
		return nil, nil
	}
	var there []string
	for _, name := range m.configs {
		path := filepath.Join(repo.Top, filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			there = append(there, path)
		} else if !missing(err) {
			return nil, fileError("look at", path, err)
		}
	}
	return there, nil
}

// managed is how the hooks of a repository are managed. Its Manager is nil if they are not.
type managed struct {
	*Manager
	repo Repository
	// why says how the manager was recognised.
	why string
	// config lists its configuration files that are there, as absolute paths.
	config []string
}

// findManager recognises what manages the hooks of a repository: by the hooks that it wrote, by where core.hooksPath leads, or by its
// configuration, even if its hooks are not installed yet.
func findManager(repo Repository, hooks []Name) (managed, error) {
	at := managedDirectory(repo, hooks)
	if at.Manager != nil {
		var err error
		at.config, err = at.configOf(repo)
		return at, err
	}
	for _, m := range managers {
		config, err := m.configOf(repo)
		if err != nil {
			return managed{}, err
		}
		if len(config) > 0 {
			return managed{m, repo, m.Name + " manages the hooks: there is " + show(shortPath(repo, config[0])), config}, nil
		}
	}
	return managed{repo: repo}, nil
}

// managedDirectory recognises a manager by the directory that git takes hooks from. A hook that cannot be read gives nothing away here;
// whoever plans or examines it reads it again and says so.
func managedDirectory(repo Repository, hooks []Name) managed {
	if m := ownerOf(repo); m != nil {
		return managed{m, repo, m.Name + " manages the hooks: core.hooksPath is " + show(repo.HooksPath.Value) + " (" + show(repo.HooksPath.Origin) + ")", nil}
	}
	for _, hook := range hooks {
		file, err := readHook(filepath.Join(repo.HooksDir, string(hook)))
		if err != nil {
			continue
		}
		if m := writerOf(file.text); m != nil && recognise(hook, file.text) == foreign {
			return managed{m, repo, m.Name + " manages the hooks: it wrote " + show(file.path), nil}
		}
	}
	if repo.redirected() {
		return managed{&teamDirectory, repo, "Hooks are taken from " + show(repo.HooksPath.Value) + " (core.hooksPath, " + show(repo.HooksPath.Origin) + ")", nil}
	}
	return managed{repo: repo}
}

// configName is the manager's configuration file as it is called here, or the usual name if it has none yet.
func (m managed) configName(usual string) string {
	if len(m.config) == 0 {
		return usual
	}
	return shortPath(m.repo, m.config[0])
}

// shortPath is path relative to the work tree's top if it is inside.
func shortPath(repo Repository, path string) string {
	if rel, err := filepath.Rel(repo.Top, path); err == nil && filepath.IsLocal(rel) && !repo.Bare {
		return filepath.ToSlash(rel)
	}
	return path
}

// mention is a line outside of our own hooks that names the gate and a hook. What becomes of it is not followed.
type mention struct {
	// in is the file that has the line, by is the manager that goes by that file, or nil. None has it if in is "".
	in string
	by *Manager
	// read are the files that were looked at, for people.
	read string
}

// how says where the gate is named.
func (m mention) how(hook Name) string { return m.in + " names " + ProgramName + " " + string(hook) }

// findMention looks for the gate in the hook's file, or in what the manager that wrote it goes by.
func findMention(repo Repository, hook Name, file hookFile) (mention, error) {
	found := mention{by: writerOf(file.text)}
	if found.by == nil {
		found.by = ownerOf(repo)
	}
	paths := []string{file.path}
	switch {
	case found.by == nil:
	case found.by.scripts != nil:
		paths = []string{filepath.Join(found.by.scripts(repo), string(hook))}
	default:
		var err error
		if paths, err = found.by.configOf(repo); err != nil {
			return found, err
		}
	}
	var names []string
	for _, path := range paths {
		name := show(shortPath(repo, path))
		names = append(names, name)
		content, err := os.ReadFile(path)
		switch {
		case missing(err):
		case err != nil:
			return found, fileError("read", path, err)
		case namesHook(string(content), hook):
			found.in = name
			return found, nil
		}
	}
	if found.read = strings.Join(names, ", "); found.read == "" {
		found.read = "the configuration of " + found.by.Name
	}
	return found, nil
}

// namesHook reports whether a line that is no comment has the gate's name and behind it the hook's: small-hook pre-push, or
// small-gate-pre-push, as this repository's own hooks for pre-commit are called.
func namesHook(text string, hook Name) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			return false
		}
		for _, gate := range []string{ProgramName, "small-gate"} {
			if _, rest, found := strings.Cut(line, gate); found && strings.Contains(rest, string(hook)) {
				return true
			}
		}
		return false
	})
}

// findAside returns the shim of ours that a manager moved aside when it wrote the hook in file, and whether it runs that one.
func findAside(hook Name, file hookFile) (aside hookFile, runs bool, err error) {
	m := writerOf(file.text)
	if m == nil || !m.runsAside {
		return hookFile{}, false, nil
	}
	aside, err = readHook(file.path + m.aside)
	return aside, aside.runnable && recognise(hook, aside.text) == ours, err
}
