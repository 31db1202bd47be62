package install

import (
	"fmt"
	"path"
	"strings"
)

// lefthook reads lefthook.yml and writes the hooks.
var lefthook = Manager{
	Name: "lefthook",
	wrote: func(text string) bool {
		return strings.Contains(text, "call_lefthook") || strings.Contains(text, "lefthook run")
	},
	configs: lefthookFiles(),
	aside:   ".old",
	undoes: func(Repository) string {
		return "When lefthook installs its hooks, it moves others aside and does not run them. It does so by itself once its configuration " +
			"has changed: run `" + ProgramName + " install --force` again then. `" + ProgramName + " doctor` shows whether ours are there."
	},
	fill: func(m *Manual, at managed, hooks []Name) error {
		m.Additions = []Addition{lefthookAddition(at.configName("lefthook.yml"), hooks)}
		m.Commands = []string{"lefthook install"}
		m.Notes = []string{
			"files and {files} are needed: without them lefthook leaves the gate out where it finds no changed files, as in a push of another branch.",
			"use_stdin is needed: without it lefthook does not tell the gate which refs are pushed.",
			"Where its hook does not find lefthook itself, it lets everything through: keep lefthook where lefthook install was run.",
		}
		return nil
	},
}

// lefthookFiles lists the names under which lefthook looks for its configuration, the common ones first.
func lefthookFiles() []string {
	var names []string
	for _, kind := range []string{"yml", "yaml", "toml", "json", "jsonc"} {
		for _, stem := range []string{"lefthook", ".lefthook", ".config/lefthook"} {
			names = append(names, stem+"."+kind, stem+"-local."+kind)
		}
	}
	return names
}

// lefthookAddition is one command for each hook, in a form that every version of lefthook reads. Lefthook skips a command if nothing is
// staged, or if the checked-out commit is already on the remote, unless the command names files itself: then it skips it only if they do
// not exist. The gate ignores the file named here.
func lefthookAddition(file string, hooks []Name) Addition {
	const block = "%[1]s:\n  commands:\n    small-gate:\n      files: echo %[4]s\n      run: %[2]s %[1]s %[3]s\n"
	const table = "[%[1]s.commands.small-gate]\nfiles = \"echo %[4]s\"\nrun = \"%[2]s %[1]s %[3]s\"\n"
	out := Addition{File: file, Place: "at the top level; if a hook's name is there already, add what is below it"}
	form, stdin := block, "      use_stdin: true\n"
	switch path.Ext(file) {
	case ".toml":
		out.Place, form, stdin = "at the end", table, "use_stdin = true\n"
	case ".yml", ".yaml":
	default:
		out.Place += ". Shown as YAML: write it as JSON"
	}
	for _, hook := range hooks {
		arguments := "{files}"
		switch {
		case hook == PrepareCommitMsg:
			arguments = "{1} {files}" // the message's file; the rest is ignored
		case hook.readsInput():
			arguments = "{0} {files}"
		}
		out.Text += fmt.Sprintf(form, hook, ProgramName, arguments, file)
		if hook.readsInput() {
			out.Text += stdin
		}
	}
	return out
}
