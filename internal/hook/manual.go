package hook

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
func manualFor(repo Repository, by ruler, hooks []Name, program string) (*Manual, error) {
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
		manual.Notes = []string{
			"files and {files} are needed: without them lefthook leaves the gate out wherever it finds no changed files, as in a push of another branch.",
			"use_stdin is needed: without it lefthook keeps from the gate which refs are pushed.",
			"Where its hook does not find lefthook itself, it lets everything through: keep lefthook where lefthook install was run.",
		}
	case PreCommitTool, Prek:
		if err := manual.preCommit(repo, by, hooks); err != nil {
			return nil, err
		}
	default:
		command := quoteShell(filepath.ToSlash(program))
		if !repo.Bare && inside(repo.Top, repo.HooksDir) {
			command = ProgramName
		}
		manual.Additions = scriptLines(repo, repo.HooksDir, hooks, command, " || exit $?")
		manual.Notes = []string{"Each of these files must be executable and begin with a line such as #!/bin/sh."}
	}
	return manual, nil
}

// preCommit fills in what pre-commit and prek want to be told. Their configuration is the same, in YAML or TOML.
func (m *Manual) preCommit(repo Repository, by ruler, hooks []Name) error {
	file := by.configName(repo, ".pre-commit-config.yaml")
	if filepath.Ext(file) == ".toml" {
		m.Additions = []Addition{{File: file, Place: "at the end", Text: prekLines(hooks)}}
	} else {
		indent, err := by.indentOfRepos()
		if err != nil {
			return err
		}
		m.Additions = []Addition{{File: file, Place: "at the end of the list below repos", Text: preCommitLines(hooks, indent)}}
	}
	command := string(by.manager) + " install"
	for _, hook := range hooks {
		command += " --hook-type " + string(hook)
	}
	m.Commands = []string{command}
	if by.manager == PreCommitTool {
		m.Notes = []string{"The names under stages are those of pre-commit 3.2.0 and newer. An older one says commit, merge-commit and push."}
	} else {
		m.Notes = []string{"It runs no pre-push hook where a push brings no new commit: one that takes a branch back is for CI to judge."}
	}
	m.Notes = append(m.Notes, "It tells a pre-push hook about the first ref of a push only: what else is pushed is for CI to judge.")
	return nil
}

// repoItem matches an element of the list of repositories in pre-commit's configuration.
var repoItem = regexp.MustCompile(`(?m)^( *)-\s+repo:`)

// indentOfRepos is the indentation of the list of repositories in the manager's configuration: all elements of a list must have the same.
func (r ruler) indentOfRepos() (string, error) {
	const usual = "  "
	if len(r.config) == 0 {
		return usual, nil
	}
	text, err := os.ReadFile(r.config[0])
	if err != nil {
		return "", fileError("read", r.config[0], err)
	}
	if item := repoItem.FindSubmatch(text); item != nil {
		return string(item[1]), nil
	}
	return usual, nil
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
		return Addition{File: file, Place: "at the end", Text: lefthookTOML(file, hooks)}
	case ".yml", ".yaml":
		return Addition{File: file, Place: place, Text: lefthookYAML(file, hooks)}
	default:
		return Addition{File: file, Place: place + ". Shown as YAML: write it as JSON", Text: lefthookYAML(file, hooks)}
	}
}

// lefthookArguments is what lefthook is to hand to the gate: git's own arguments where it needs them, and a file. Lefthook leaves a command
// out where nothing is staged, or where what is checked out is on the remote already, unless the command names its files itself: then it
// leaves it out only if there is none. The gate takes no notice of the file.
func lefthookArguments(hook Name) string {
	if hook.readsInput() {
		return "{0} {files}"
	}
	return "{files}"
}

// lefthookTOML is lefthook's addition in TOML.
func lefthookTOML(file string, hooks []Name) string {
	var text strings.Builder
	for _, hook := range hooks {
		fmt.Fprintf(&text, "[%[1]s.commands.small-gate]\nfiles = \"echo %[4]s\"\nrun = \"%[2]s %[1]s %[3]s\"\n", hook, ProgramName, lefthookArguments(hook), file)
		if hook.readsInput() {
			text.WriteString("use_stdin = true\n")
		}
	}
	return text.String()
}

// lefthookYAML is lefthook's addition in YAML.
func lefthookYAML(file string, hooks []Name) string {
	var text strings.Builder
	for _, hook := range hooks {
		fmt.Fprintf(&text, "%[1]s:\n  commands:\n    small-gate:\n      files: echo %[4]s\n      run: %[2]s %[1]s %[3]s\n", hook, ProgramName, lefthookArguments(hook), file)
		if hook.readsInput() {
			text.WriteString("      use_stdin: true\n")
		}
	}
	return text.String()
}

// preCommitLines is one local repository with a hook for each hook, each line indented by at least indent.
func preCommitLines(hooks []Name, indent string) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, indent+format+"\n", args...) }
	line("- repo: local")
	line("  hooks:")
	for _, hook := range hooks {
		line("    - id: small-gate-%s", hook)
		line("      name: small-gate (%s)", hook)
		line("      entry: %s %s", ProgramName, hook)
		line("      language: system")
		line("      stages: [%s]", hook)
		line("      always_run: true")
		line("      pass_filenames: false")
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
