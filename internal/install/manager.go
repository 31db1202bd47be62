package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Manager is a program that writes git's hooks, such as husky. To add one, write its Manager value and add that to managers.
type Manager struct {
	Name string
	// wroteHook reports whether the manager wrote the hook with this text.
	wroteHook func(text string) bool
	// ownsDir reports whether the manager sets core.hooksPath to dir; nil if it never sets core.hooksPath.
	ownsDir func(dir string) bool
	// configFiles are the files or folders in which the manager looks for its configuration, relative to the work tree's top.
	configFiles []string
	// scriptsDir returns the directory in which people keep a script for each hook; nil if the commands are in a file of configFiles.
	scriptsDir func(repo Repository) string
	// dependsOnFileName reports whether the hook with this text, which the manager wrote, finds its script by its own file name; nil if no hook does.
	dependsOnFileName func(text string) bool
	// asideSuffix is what the manager appends to the name of a hook that it finds when it writes its own; "" if it renames no hook.
	// runsMovedAside is true if the manager's hook runs the renamed one first.
	asideSuffix    string
	runsMovedAside bool
	// disablingNote tells people when the manager puts our hooks out of use; nil if it never does.
	disablingNote func(repo Repository) string
	// unknownHooks are the git hooks that the manager does not know: our shims for them are in the same directory as the manager's hooks.
	unknownHooks []Name
	// fillManualSteps adds to m what a person has to do so that the manager calls the gate for hooks; nil if a person adds a line to each hook's file.
	fillManualSteps func(m *ManualSteps, found recognition, hooks []Name) error
}

// managers are the supported programs, in the order in which their configuration is looked for.
var managers = []*Manager{&husky, &lefthook, &preCommit, &prek}

// unknownManager stands for whoever writes the hooks in the directory that core.hooksPath names, if no known manager owns it.
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

// ownerOf returns the manager that sets core.hooksPath to the hooks directory of repo; nil if no manager does, or core.hooksPath has no effect.
func ownerOf(repo Repository) *Manager {
	for _, m := range managers {
		if repo.redirected() && m.ownsDir != nil && m.ownsDir(repo.HooksDir) {
			return m
		}
	}
	return nil
}

// existingConfigFiles returns the absolute paths of the manager's configuration files that exist; nil if there are none or repo is bare.
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

// recognition says which manager writes a repository's hooks.
type recognition struct {
	repo    Repository
	manager *Manager // nil if none was recognised
	why     string   // a sentence for people: the manager, and how it was recognised; "" if none was
	configs []string // the manager's configuration files that exist, as absolute paths
}

// findManager recognises the manager of a repository's hooks: by the directory in core.hooksPath, by the hooks that the manager wrote, or by its
// configuration, even if its hooks are not installed yet. found.manager is nil if there is none.
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

// managerOfDirectory recognises a manager by the directory that git takes hooks from, and says how; it returns nil and "" if it recognises none.
// It skips a hook that cannot be read: planHook or checkHook reports the error.
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

// configName returns the path, for people, of the manager's first configuration file in the repository, or usual if there is none yet.
func (r recognition) configName(usual string) string {
	if len(r.configs) == 0 {
		return usual
	}
	return shortPath(r.repo, r.configs[0])
}

// shortPath returns path relative to the work tree's top, with slashes, if path is inside the work tree; otherwise path itself.
func shortPath(repo Repository, path string) string {
	if rel, err := filepath.Rel(repo.Top, path); err == nil && filepath.IsLocal(rel) && !repo.Bare {
		return filepath.ToSlash(rel)
	}
	return path
}

// mention is the result of a search for a line that names the gate and a hook, in files other than our shims. Nobody checks that the line has
// any effect.
type mention struct {
	file     string   // the file with the line, for people; "" if no file has one
	manager  *Manager // whose files were searched, or nil
	searched string   // the searched files, for people; "" if a line was found
}

// sentence says, for people, which file names the gate and hook.
func (m mention) sentence(hook Name) string {
	return m.file + " names " + ProgramName + " " + string(hook)
}

// findMention searches file, the hook in place, for a line that names the gate and hook. If a manager wrote the hook or owns its directory, findMention
// searches the files that the manager reads instead.
func findMention(repo Repository, hook Name, file hookFile) (mention, error) {
	manager := writerOf(file.text)
	if manager == nil {
		manager = ownerOf(repo)
	}
	return findMentionInFilesOf(manager, repo, hook, file.path)
}

// findMentionInFilesOf searches the files that manager reads or, if manager is nil, the hook's file at path.
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
		content, err := wholefile.Start(path, maxConfig)
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

// namesHook reports whether a line other than a comment has the gate's name and, after that, the hook's: small-hook pre-push, for example, or
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

// findMovedAside reads the hook that a manager moved aside when it wrote file. isCalled is true if that hook is our shim and file runs it.
// movedAside is the zero value if no manager wrote file, or if the manager that did does not run what it moves aside.
func findMovedAside(hook Name, file hookFile) (movedAside hookFile, isCalled bool, err error) {
	m := writerOf(file.text)
	if m == nil || !m.runsMovedAside {
		return hookFile{}, false, nil
	}
	movedAside, err = readHook(file.path + m.asideSuffix)
	return movedAside, movedAside.runnable && originOf(hook, movedAside.text) == ours, err
}
