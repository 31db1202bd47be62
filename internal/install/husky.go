package install

import (
	"path/filepath"
	"regexp"
)

// husky sets core.hooksPath, and runs the script for each hook that people keep in .husky.
var husky = Manager{
	Name: "husky",
	wroteHook: func(text string) bool {
		return regexp.MustCompile(`(?m)^# husky|^\s*\.\s.*/(h|husky\.sh)"`).MatchString(text)
	},
	// husky sets core.hooksPath to .husky/_ since version 9, to .husky before.
	ownsDir: func(dir string) bool {
		if filepath.Base(dir) == "_" {
			dir = filepath.Dir(dir)
		}
		return filepath.Base(dir) == ".husky"
	},
	configFiles:  []string{".husky"},
	scriptsDir:   huskyScripts,
	unknownHooks: []Name{PreReceive},
	dependsOnFileName: func(text string) bool {
		return regexp.MustCompile(`(?m)^\s*\. "(\$\(dirname (-- )?"\$0"\)|\$\{0%/\*\})/(h|husky\.sh)"`).MatchString(text)
	},
	disablingNote: func(repo Repository) string {
		if repo.redirected() {
			return "husky writes its hooks folder anew, without small-gate's hooks, whenever packages are installed. Then run `" + ProgramName +
				" install --force` again. `" + ProgramName + " doctor` shows whether small-gate's hooks are there."
		}
		return "When husky sets core.hooksPath, git no longer runs small-gate's hooks: run `" + ProgramName + " doctor` then."
	},
	fillManualSteps: func(m *ManualSteps, found recognition, hooks []Name) error {
		m.Additions = scriptLines(found.repo, huskyScripts(found.repo), hooks, ProgramName, "")
		m.Notes = []string{
			"husky lets a script read standard input once: in pre-push, nothing but the gate may read it.",
			"For clients that lack your PATH, add the folder of small-hook to PATH in ~/.config/husky/init.sh, which husky reads.",
		}
		return nil
	},
}

// huskyScripts returns the directory of the scripts that people edit.
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
