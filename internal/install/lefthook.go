package install

import (
	"fmt"
	"path"
	"strings"
)

// lefthook reads lefthook.yml and writes git's hooks.
var lefthook = Manager{
	Name: "lefthook",
	wroteHook: func(text string) bool {
		return strings.Contains(text, "call_lefthook") || strings.Contains(text, "lefthook run")
	},
	configFiles: lefthookFiles(),
	asideSuffix: ".old",
	disablingNote: func(Repository) string {
		return "When lefthook installs its hooks, also by itself after a change to its configuration, it moves other hooks aside and does not run " +
			"them. Then run `" + ProgramName + " install --force` again. `" + ProgramName + " doctor` shows whether small-gate's hooks are there."
	},
	fillManualSteps: func(m *ManualSteps, found recognition, hooks []Name) error {
		m.Additions = []Addition{lefthookAddition(found.configName("lefthook.yml"), hooks)}
		m.Commands = []string{"lefthook install"}
		m.Notes = []string{
			"The key `files` and the argument {files} are needed: without them lefthook skips the gate when it finds no changed files, as in a push of another branch.",
			"The key `use_stdin` is needed: without it lefthook does not tell the gate which refs are pushed.",
			"If a hook of lefthook cannot find the program lefthook, it lets everything through. After `lefthook install`, leave that program where it is.",
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

// lefthookAddition returns one lefthook command for each hook, in a form that every version of lefthook reads. Lefthook skips a command if
// nothing is staged, or if the checked-out commit is already on the remote, but never a command with an existing file among its arguments. So
// each command gets an argument that the gate ignores: file, lefthook's configuration file.
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
		out.Place += "; translate the YAML below to JSON"
	}
	for _, hook := range hooks {
		arguments := "{files}"
		switch {
		case hook == PrepareCommitMsg:
			arguments = "{1} {files}" // {1} is the message's file; the gate ignores the rest
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
