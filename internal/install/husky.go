package install

import (
	"path/filepath"
	"regexp"
)

// husky keeps a script for each hook in .husky and sets core.hooksPath.
var husky = Manager{
	Name: "husky",
	wrote: func(text string) bool {
		return regexp.MustCompile(`(?m)^# husky|^\s*\.\s.*/(h|husky\.sh)"`).MatchString(text)
	},
	// .husky/_ since version 9, .husky before.
	owns: func(dir string) bool {
		if filepath.Base(dir) == "_" {
			dir = filepath.Dir(dir)
		}
		return filepath.Base(dir) == ".husky"
	},
	configs: []string{".husky"},
	scripts: huskyScripts,
	byName: func(text string) bool {
		return regexp.MustCompile(`(?m)^\s*\. "(\$\(dirname (-- )?"\$0"\)|\$\{0%/\*\})/(h|husky\.sh)"`).MatchString(text)
	},
	undoes: func(repo Repository) string {
		if repo.redirected() {
			return "husky writes this folder anew, without our hooks, whenever packages are installed: run `" + ProgramName +
				" install --force` again then. `" + ProgramName + " doctor` shows whether they are there."
		}
		return "Once husky sets core.hooksPath, git no longer looks here: run `" + ProgramName + " doctor` then."
	},
	fill: func(m *Manual, at managed, hooks []Name) error {
		m.Additions = scriptLines(at.repo, huskyScripts(at.repo), hooks, ProgramName, "")
		m.Notes = []string{
			"husky lets a script read standard input once: in pre-push, nothing before the gate may read it.",
			"In a client without your PATH, husky reads ~/.config/husky/init.sh: add the folder of small-hook to PATH there.",
		}
		return nil
	},
}

// huskyScripts is the directory of the scripts that people edit.
func huskyScripts(repo Repository) string {
	switch {
	case !repo.redirected():
		return filepath.Join(repo.Top, ".husky")
	case filepath.Base(repo.HooksDir) == "_":
		return filepath.Dir(repo.HooksDir)
	default:
		return repo.HooksDir
	}
}
