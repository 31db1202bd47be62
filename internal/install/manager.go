package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Manager is a program that writes git's hooks, such as husky. To add one, write its Manager value and add that to managers.
type Manager struct {
	Name string
	// wroteHook reports whether the manager wrote a hook with this text.
	wroteHook func(text string) bool
	// ownsDir reports whether the manager sets core.hooksPath to dir; nil if it never sets core.hooksPath.
	ownsDir func(dir string) bool
	// configFiles are its possible configuration files, relative to the work tree's top.
	configFiles []string
	// scriptsDir returns the directory with a script for each hook; nil if the configuration lists the commands.
	scriptsDir func(repo Repository) string
	// dependsOnFileName reports whether a hook that the manager wrote finds its script by its own file name; nil if none does.
	dependsOnFileName func(text string) bool
	// asideSuffix is what the manager appends to the name of an existing hook; runsAside reports whether it runs that hook first.
	asideSuffix    string
	runsMovedAside bool
	// disablingNote says when the manager takes our hooks out of use; nil if it never does.
	disablingNote func(repo Repository) string
	// unknownHooks are hooks that the manager does not know: our shims for them stay beside its hooks.
	unknownHooks []Name
	// fillManualSteps fills m with what a person has to add; nil if each hook's file gets a line.
	fillManualSteps func(m *ManualSteps, found recognition, hooks []Name) error
}

// managers are the supported programs, in the order in which their configuration is looked for.
var managers = []*Manager{&husky, &lefthook, &preCommit, &prek}

// unknownManager stands for a core.hooksPath that no known manager owns.
var unknownManager = Manager{Name: "core.hooksPath"}

// writerOf returns the manager that wrote a hook's text, or nil.
func writerOf(text string) *Manager {
	for _, m := range managers {
		if m.wroteHook(text) {
			return m
		}
	}
	return nil
}

// ownerOf returns the manager whose directory core.hooksPath names, or nil.
func ownerOf(repo Repository) *Manager {
	for _, m := range managers {
		if repo.redirected() && m.ownsDir != nil && m.ownsDir(repo.HooksDir) {
			return m
		}
	}
	return nil
}

// existingConfigFiles returns the absolute paths of the manager's configuration files that exist.
func (m *Manager) existingConfigFiles(repo Repository) ([]string, error) {
	if repo.Bare {
		return nil, nil
	}
	var existing []string
	for _, name := range m.configFiles {
		path := filepath.Join(repo.Top, filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			existing = append(existing, path)
		} else if !doesNotExist(err) {
			return nil, fileError("inspect", path, err)
		}
	}
	return existing, nil
}

// recognition says which manager a repository's hooks have.
type recognition struct {
	repo    Repository
	manager *Manager // or nil
	why     string   // how the manager was recognised, for people
	configs []string // its existing configuration files, as absolute paths
}

// findManager recognises the manager of a repository's hooks: by the hooks that it wrote, by the directory in core.hooksPath, or by its
// configuration, even if its hooks are not installed yet.
func findManager(repo Repository, hooks []Name) (found recognition, err error) {
	found.repo = repo
	if found.manager, found.why = managerOfDirectory(repo, hooks); found.manager != nil {
		found.configs, err = found.manager.existingConfigFiles(repo)
		return found, err
	}
	for _, m := range managers {
		if found.configs, err = m.existingConfigFiles(repo); err != nil {
			return found, err
		}
		if len(found.configs) > 0 {
			found.manager, found.why = m, m.Name+" manages the hooks: there is "+wording.Printable(shortPath(repo, found.configs[0]))
			return found, nil
		}
	}
	return found, nil
}

// managerOfDirectory recognises a manager by the directory that git takes hooks from. It skips a hook that cannot be read; planning or
// checking it reports the error.
func managerOfDirectory(repo Repository, hooks []Name) (manager *Manager, why string) {
	if m := ownerOf(repo); m != nil {
		return m, m.Name + " manages the hooks: core.hooksPath is " + wording.Printable(repo.HooksPath.Value) + " (" + wording.Printable(repo.HooksPath.Origin) + ")"
	}
	for _, hook := range hooks {
		file, err := readHook(filepath.Join(repo.HooksDir, string(hook)))
		if err != nil {
			continue
		}
		if m := writerOf(file.text); m != nil && originOf(hook, file.text) == foreign {
			return m, m.Name + " manages the hooks: it wrote " + wording.Printable(file.path)
		}
	}
	if repo.redirected() {
		return &unknownManager, "Hooks are taken from " + wording.Printable(repo.HooksPath.Value) + " (core.hooksPath, " + wording.Printable(repo.HooksPath.Origin) + ")"
	}
	return nil, ""
}

// configName returns the manager's configuration file here, or the usual name if there is none yet.
func (r recognition) configName(usual string) string {
	if len(r.configs) == 0 {
		return usual
	}
	return shortPath(r.repo, r.configs[0])
}

// shortPath returns path, relative to the work tree's top if it is inside.
func shortPath(repo Repository, path string) string {
	if rel, err := filepath.Rel(repo.Top, path); err == nil && filepath.IsLocal(rel) && !repo.Bare {
		return filepath.ToSlash(rel)
	}
	return path
}

// mention is a line outside our own hooks that names the gate and a hook. Nobody checks that the line has any effect.
type mention struct {
	file     string   // the file with the line, or "" if there is none
	manager  *Manager // whose files were searched, or nil
	searched string   // the searched files, for people
}

func (m mention) sentence(hook Name) string {
	return m.file + " names " + ProgramName + " " + string(hook)
}

// findMention searches the hook's file, or the files that its manager reads.
func findMention(repo Repository, hook Name, file hookFile) (mention, error) {
	manager := writerOf(file.text)
	if manager == nil {
		manager = ownerOf(repo)
	}
	return findMentionInFilesOf(manager, repo, hook, file.path)
}

// findMentionInFilesOf searches the files that the manager reads or, if manager is nil, the hook's file at path.
func findMentionInFilesOf(manager *Manager, repo Repository, hook Name, path string) (mention, error) {
	found := mention{manager: manager}
	paths := []string{path}
	switch {
	case found.manager == nil:
	case found.manager.scriptsDir != nil:
		paths = []string{filepath.Join(found.manager.scriptsDir(repo), string(hook))}
	default:
		var err error
		if paths, err = found.manager.existingConfigFiles(repo); err != nil {
			return found, err
		}
	}
	var names []string
	for _, path := range paths {
		name := wording.Printable(shortPath(repo, path))
		names = append(names, name)
		content, err := os.ReadFile(path)
		switch {
		case doesNotExist(err):
		case err != nil:
			return found, fileError("read", path, err)
		case namesHook(string(content), hook):
			found.file = name
			return found, nil
		}
	}
	if found.searched = strings.Join(names, ", "); found.searched == "" {
		found.searched = "the configuration of " + found.manager.Name
	}
	return found, nil
}

// namesHook reports whether a line other than a comment has the gate's name and later the hook's: small-hook pre-push, or
// small-gate-pre-push, an id in .pre-commit-hooks.yaml.
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

// findMovedAside reads the hook that the manager moved aside when it wrote file. runs reports whether that is our shim and file runs it.
func findMovedAside(hook Name, file hookFile) (aside hookFile, runs bool, err error) {
	m := writerOf(file.text)
	if m == nil || !m.runsMovedAside {
		return hookFile{}, false, nil
	}
	aside, err = readHook(file.path + m.asideSuffix)
	return aside, aside.runnable && originOf(hook, aside.text) == ours, err
}
