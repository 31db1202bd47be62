package hook

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// Manual is what a person has to do where a manager rules the hooks.
type Manual struct {
	// Manager is who rules.
	Manager Manager
	// Why says how it was recognised.
	Why string
	// Additions are the lines to add, file by file.
	Additions []Addition
	// Commands are to be typed afterwards, in this order.
	Commands []string
	// Notes say what else to know.
	Notes []string
}

// Addition is text to add to one file.
type Addition struct {
	// File is the file's path: relative to the work tree's top where it is inside, else absolute.
	File string
	// Place says where in the file, for people.
	Place string
	// Text is the lines to add, with their indentation and line ends.
	Text string
}

// manualFor returns what to add for each of hooks, in the manager's own terms. Files of a work tree are shared with other machines, so
// the program goes by its name there, and by its path elsewhere.
func manualFor(repo Repository, by ruler, hooks []Name, program string) *Manual {
	manual := &Manual{Manager: by.manager, Why: by.why}
	switch by.manager {
	case Husky:
		manual.Additions = scriptLines(repo, huskyScripts(repo), hooks, ProgramName, "")
		manual.Notes = []string{
			"husky shows a script the standard input of git once: in pre-push, let nothing before the gate read it.",
			"In a client without your PATH, husky reads ~/.config/husky/init.sh: add the folder of small-hook to PATH there.",
		}
	case Lefthook:
		manual.Additions = []Addition{lefthookAddition(by.configName(repo, "lefthook.yml"), hooks)}
		manual.Commands = []string{"lefthook install"}
		manual.Notes = []string{"use_stdin is needed: without it lefthook keeps from the gate which refs are pushed."}
	case PreCommitTool, Prek:
		manual.preCommit(repo, by, hooks)
	default:
		command := quoteShell(filepath.ToSlash(program))
		if !repo.Bare && inside(repo.Top, repo.HooksDir) {
			command = ProgramName
		}
		manual.Additions = scriptLines(repo, repo.HooksDir, hooks, command, " || exit $?")
		manual.Notes = []string{"Each of these files must be executable and begin with a line such as #!/bin/sh."}
	}
	return manual
}

// preCommit fills in what pre-commit and prek want to be told. Their configuration is the same, in YAML or TOML.
func (m *Manual) preCommit(repo Repository, by ruler, hooks []Name) {
	file := by.configName(repo, ".pre-commit-config.yaml")
	if filepath.Ext(file) == ".toml" {
		m.Additions = []Addition{{File: file, Place: "at the end", Text: prekLines(hooks)}}
	} else {
		m.Additions = []Addition{{File: file, Place: "below repos", Text: preCommitLines(hooks)}}
	}
	command := string(by.manager) + " install"
	for _, hook := range hooks {
		command += " --hook-type " + string(hook)
	}
	m.Commands = []string{command}
	if by.manager == PreCommitTool {
		m.Notes = []string{"The names under stages are those of pre-commit 3.2.0 and newer."}
	}
	m.Notes = append(m.Notes, "It tells a pre-push hook about the first ref of a push only: what else is pushed is for CI to judge.")
}

// configName is the manager's configuration file as it is called here, or the usual name if it has none yet.
func (r ruler) configName(repo Repository, usual string) string {
	if len(r.config) == 0 {
		return usual
	}
	return shortPath(repo, r.config[0])
}

// shortPath is path relative to the work tree's top if it is inside.
func shortPath(repo Repository, path string) string {
	if rel, err := filepath.Rel(repo.Top, path); err == nil && filepath.IsLocal(rel) && !repo.Bare {
		return filepath.ToSlash(rel)
	}
	return path
}

// scriptLines is one shell line for each hook's script in dir.
func scriptLines(repo Repository, dir string, hooks []Name, command, end string) []Addition {
	var additions []Addition
	for _, hook := range hooks {
		place := "on a line of its own"
		if hook.readsInput() {
			place = "before anything that reads standard input"
		}
		additions = append(additions, Addition{
			File:  shortPath(repo, filepath.Join(dir, string(hook))),
			Place: place,
			Text:  fmt.Sprintf("%s %s \"$@\"%s\n", command, hook, end),
		})
	}
	return additions
}

// lefthookAddition is one command for each hook, in the form that every version of lefthook reads.
func lefthookAddition(file string, hooks []Name) Addition {
	place := "at the top level; where a hook's name is there already, what stands below it goes below that"
	switch path.Ext(file) {
	case ".toml":
		return Addition{File: file, Place: "at the end", Text: lefthookTOML(hooks)}
	case ".yml", ".yaml":
		return Addition{File: file, Place: place, Text: lefthookYAML(hooks)}
	default:
		return Addition{File: file, Place: place + ". Shown as YAML: write it as JSON", Text: lefthookYAML(hooks)}
	}
}

// lefthookTOML is lefthook's addition in TOML.
func lefthookTOML(hooks []Name) string {
	var text strings.Builder
	for _, hook := range hooks {
		arguments, input := "", ""
		if hook.readsInput() {
			arguments, input = " {0}", "use_stdin = true\n"
		}
		fmt.Fprintf(&text, "[%[1]s.commands.small-gate]\nrun = \"%[2]s %[1]s%[3]s\"\n%[4]s", hook, ProgramName, arguments, input)
	}
	return text.String()
}

// lefthookYAML is lefthook's addition in YAML.
func lefthookYAML(hooks []Name) string {
	var text strings.Builder
	for _, hook := range hooks {
		arguments, input := "", ""
		if hook.readsInput() {
			arguments, input = " {0}", "      use_stdin: true\n"
		}
		fmt.Fprintf(&text, "%s:\n  commands:\n    small-gate:\n      run: %s %s%s\n%s", hook, ProgramName, hook, arguments, input)
	}
	return text.String()
}

// preCommitLines is one local repository with a hook for each hook.
func preCommitLines(hooks []Name) string {
	var text strings.Builder
	text.WriteString("  - repo: local\n    hooks:\n")
	for _, hook := range hooks {
		fmt.Fprintf(&text, "      - id: small-gate-%[1]s\n        name: small-gate (%[1]s)\n        entry: %[2]s %[1]s\n"+
			"        language: system\n        stages: [%[1]s]\n        always_run: true\n        pass_filenames: false\n", hook, ProgramName)
	}
	return text.String()
}

// prekLines is the same in prek's TOML.
func prekLines(hooks []Name) string {
	var text strings.Builder
	text.WriteString("[[repos]]\nrepo = \"local\"\nhooks = [\n")
	for _, hook := range hooks {
		fmt.Fprintf(&text, "  { id = \"small-gate-%[1]s\", name = \"small-gate (%[1]s)\", entry = \"%[2]s %[1]s\", "+
			"language = \"system\", stages = [\"%[1]s\"], always_run = true, pass_filenames = false },\n", hook, ProgramName)
	}
	text.WriteString("]\n")
	return text.String()
}
