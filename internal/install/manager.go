package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Manager is a program that fills the directory that git takes hooks from. All differences between managers are here: to add one, write its
// value and add it to managers.
type Manager struct {
	// Name is the program's name.
	Name string
	// wrote reports whether the program wrote a hook with this text.
	wrote func(text string) bool
	// owns reports whether it sets core.hooksPath to this directory; nil if it never sets that.
	owns func(dir string) bool
	// configs are its possible configuration files, relative to the work tree's top.
	configs []string
	// scripts is the directory with a script for each hook; nil if the configuration says what runs.
	scripts func(repo Repository) string
	// byName reports whether a hook of its own uses its file name to find the script beside it; nil if none does.
	byName func(text string) bool
	// aside is the suffix with which it renames an existing hook; runsAside says that it runs that one first.
	aside     string
	runsAside bool
	// undoes says what becomes of our hooks among its own; nil if they stay.
	undoes func(repo Repository) string
	// lacks are the hooks that it does not know: ours stay beside its own.
	lacks []Name
	// fill writes into a manual what a person has to add.
	fill func(m *Manual, at managed, hooks []Name) error
}

// managers are the supported programs, in the order in which their configuration is looked for.
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

// configOf returns a manager's existing configuration files, as absolute paths.
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

// managed says how the hooks of a repository are managed.
type managed struct {
	// by is the manager, or nil.
	by   *Manager
	repo Repository
	// why says how the manager was recognised.
	why string
	// config lists the existing configuration files, as absolute paths.
	config []string
}

// findManager recognises the manager of a repository's hooks: by the hooks that it wrote, by the directory in core.hooksPath, or by its
// configuration, even if its hooks are not installed yet.
func findManager(repo Repository, hooks []Name) (at managed, err error) {
	at.repo = repo
	if at.by, at.why = managerOfDirectory(repo, hooks); at.by != nil {
		at.config, err = at.by.configOf(repo)
		return at, err
	}
	for _, m := range managers {
		if at.config, err = m.configOf(repo); err != nil {
			return at, err
		}
		if len(at.config) > 0 {
			at.by, at.why = m, m.Name+" manages the hooks: there is "+show(shortPath(repo, at.config[0]))
			return at, nil
		}
	}
	return at, nil
}

// managerOfDirectory recognises a manager by the directory that git takes hooks from. It skips a hook that cannot be read; planning or
// checking it reports the error.
func managerOfDirectory(repo Repository, hooks []Name) (by *Manager, why string) {
	if m := ownerOf(repo); m != nil {
		return m, m.Name + " manages the hooks: core.hooksPath is " + show(repo.HooksPath.Value) + " (" + show(repo.HooksPath.Origin) + ")"
	}
	for _, hook := range hooks {
		file, err := readHook(filepath.Join(repo.HooksDir, string(hook)))
		if err != nil {
			continue
		}
		if m := writerOf(file.text); m != nil && recognise(hook, file.text) == foreign {
			return m, m.Name + " manages the hooks: it wrote " + show(file.path)
		}
	}
	if repo.redirected() {
		return &teamDirectory, "Hooks are taken from " + show(repo.HooksPath.Value) + " (core.hooksPath, " + show(repo.HooksPath.Origin) + ")"
	}
	return nil, ""
}

// configName is the manager's configuration file here, or the usual name if there is none yet.
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

// mention is a line outside our own hooks that names the gate and a hook. Whether it has any effect is not checked.
type mention struct {
	// in is the file with the line, "" if no file has it; by is the manager that reads that file, or nil.
	in string
	by *Manager
	// read are the files that were read, for people.
	read string
}

// how says where the gate is named.
func (m mention) how(hook Name) string { return m.in + " names " + ProgramName + " " + string(hook) }

// findMention looks for the gate in the hook's file, or in the files read by the manager that wrote it.
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

// namesHook reports whether a line other than a comment has the gate's name followed by the hook's: small-hook pre-push, or
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

// findAside returns our shim if a manager moved it aside when it wrote the hook in file, and whether the manager runs it.
func findAside(hook Name, file hookFile) (aside hookFile, runs bool, err error) {
	m := writerOf(file.text)
	if m == nil || !m.runsAside {
		return hookFile{}, false, nil
	}
	aside, err = readHook(file.path + m.aside)
	return aside, aside.runnable && recognise(hook, aside.text) == ours, err
}
