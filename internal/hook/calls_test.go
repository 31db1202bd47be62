package hook

import (
	"strings"
	"testing"
)

func TestCallInText(t *testing.T) {
	const hook = PreCommit
	tests := map[string]struct {
		manager Manager
		text    string
		program string // "" if no call is heard
		fault   string // part of the reason why it is not heard; "" with no program means that no call is seen at all
	}{
		"plain":                     {HooksPath, "small-hook pre-commit\n", "small-hook", ""},
		"with arguments":            {HooksPath, "small-hook --strict pre-commit \"$@\"\n", "small-hook", ""},
		"exec and a path":           {HooksPath, "exec /opt/bin/small-hook pre-commit \"$@\"\nmore\n", "/opt/bin/small-hook", ""},
		"quoted path":               {HooksPath, "'/opt/it'\\''s here/small-hook' pre-commit\n", "/opt/it's here/small-hook", ""},
		"double quotes":             {HooksPath, "\"/opt/a b/small-hook\" pre-commit\n", "/opt/a b/small-hook", ""},
		"a variable":                {HooksPath, "\"$HOME/bin/small-hook\" pre-commit\n", "$HOME/bin/small-hook", ""},
		"stops":                     {HooksPath, "small-hook pre-commit || exit $?\nmore\n", "small-hook", ""},
		"asked":                     {HooksPath, "if ! small-hook pre-commit; then exit 1; fi\nmore\n", "small-hook", ""},
		"set -e":                    {HooksPath, "#!/bin/sh\nset -eu\nsmall-hook pre-commit\nmore\n", "small-hook", ""},
		"sh -e":                     {HooksPath, "#!/bin/sh -e\nsmall-hook pre-commit\nmore\n", "small-hook", ""},
		"last but comments":         {HooksPath, "small-hook pre-commit\n\n# the end\n", "small-hook", ""},
		"CRLF":                      {Husky, "small-hook pre-commit\r\n", "small-hook", ""},
		"Windows":                   {HooksPath, "C:/bin/small-hook.exe pre-commit\n", "C:/bin/small-hook.exe", ""},
		"goes on":                   {HooksPath, "small-hook pre-commit\nnpm test\n", "", "goes on"},
		"goes on, husky has sh -e":  {Husky, "small-hook pre-commit\nnpm test\n", "small-hook", ""},
		"thrown away":               {Husky, "small-hook pre-commit || true\n", "", "throws away"},
		"thrown away with a colon":  {HooksPath, "small-hook pre-commit 2>/dev/null || :\n", "", "throws away"},
		"thrown away with exit 0":   {HooksPath, "small-hook pre-commit || exit 0\n", "", "throws away"},
		"comment":                   {HooksPath, "# small-hook pre-commit\n", "", ""},
		"another hook":              {HooksPath, "small-hook pre-merge-commit\n", "", ""},
		"a longer name":             {HooksPath, "small-hook pre-commit-x\n", "", ""},
		"another program":           {HooksPath, "small-hooks pre-commit\n", "", ""},
		"in another command":        {HooksPath, "small-hook version; echo pre-commit\n", "", ""},
		"pre-commit":                {PreCommitTool, "      - id: small-gate-pre-commit\n        entry: small-hook pre-commit\n", "small-hook", ""},
		"pre-commit, quoted":        {PreCommitTool, "        entry: \"small-hook pre-commit\"\n", "small-hook", ""},
		"lefthook, JSON":            {Lefthook, `{"pre-commit": {"jobs": [{"run": "small-hook pre-commit {files}", "files": "echo x"}]}}`, "small-hook", ""},
		"lefthook, flow style":      {Lefthook, "pre-commit: {jobs: [{run: 'small-hook pre-commit {files}', files: echo x}]}\n", "small-hook", ""},
		"prek, one line":            {Prek, `hooks = [{ id = "a", entry = "small-hook pre-commit" }]`, "small-hook", ""},
		"prek, another hook's line": {Prek, `hooks = [{ id = "pre-commit", entry = "small-hook pre-push" }]`, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			site, found := callInText(hook, test.manager, test.text)
			if found != (test.program != "" || test.fault != "") || site.calls != (test.program != "") || site.program != test.program {
				t.Errorf("found %v: %+v", found, site)
			}
			if !strings.Contains(site.fault, test.fault) || test.fault != "" && site.remedy == "" {
				t.Errorf("fault %q, remedy %q", site.fault, site.remedy)
			}
		})
	}
	if site, found := callInText(hook, PreCommitTool, "  - id: small-gate-pre-commit-system\n"); !found || !site.calls || site.program != "small-hook" {
		t.Errorf("taken from PATH: %+v, %v", site, found)
	}
	for _, text := range []string{"  - id: small-gate-pre-commit\n", `hooks = [{ id = "small-hook-pre-commit" }]`} {
		if site, found := callInText(hook, PreCommitTool, text); !found || !site.calls || site.program != "" {
			t.Errorf("%q: %+v, %v", text, site, found)
		}
	}
}

func TestLefthookMustPassTheInputOn(t *testing.T) {
	tests := map[string]struct {
		text string
		want bool
	}{
		"commands":                {"pre-push:\n  commands:\n    gate:\n      run: small-hook pre-push\n      use_stdin: true\n", true},
		"before run":              {"pre-push:\n  commands:\n    gate:\n      use_stdin: true\n      run: small-hook pre-push\n", true},
		"jobs":                    {"pre-push:\n  jobs:\n    - name: gate\n      use_stdin: true\n      run: small-hook pre-push\n", true},
		"jobs, run first":         {"pre-push:\n  jobs:\n    - run: small-hook pre-push\n      use_stdin: true\n", true},
		"blank line between":      {"pre-push:\n  jobs:\n    - run: small-hook pre-push\n\n      use_stdin: true\n", true},
		"flow style":              {"pre-push: {jobs: [{run: small-hook pre-push, use_stdin: true}]}\n", true},
		"JSON":                    {`{"pre-push": {"jobs": [{"run": "small-hook pre-push", "use_stdin": true}]}}`, true},
		"TOML":                    {"[pre-push.commands.gate]\nuse_stdin = true\nrun = \"small-hook pre-push\"\n", true},
		"missing":                 {"pre-push:\n  commands:\n    gate:\n      run: small-hook pre-push\n", false},
		"false":                   {"pre-push:\n  commands:\n    gate:\n      run: small-hook pre-push\n      use_stdin: false\n", false},
		"the next job's":          {"pre-push:\n  jobs:\n    - run: small-hook pre-push\n    - run: lfs\n      use_stdin: true\n", false},
		"the job's before":        {"pre-push:\n  jobs:\n    - run: lfs\n      use_stdin: true\n    - run: small-hook pre-push\n", false},
		"the next command's":      {"pre-push:\n  commands:\n    gate:\n      run: small-hook pre-push\n    lfs:\n      use_stdin: true\n", false},
		"another line's, flow":    {"a: {use_stdin: true}\npre-push: {jobs: [{run: small-hook pre-push}]}\n", false},
		"the next heading's":      {"[pre-push.commands.gate]\nrun = \"small-hook pre-push\"\n[pre-push.commands.lfs]\nuse_stdin = true\n", false},
		"the heading's before it": {"[pre-push.commands.lfs]\nuse_stdin = true\n[pre-push.commands.gate]\nrun = \"small-hook pre-push\"\n", false},
	}
	for name, test := range tests {
		site, found := callInText(PrePush, Lefthook, test.text)
		if told := site.remedy == "Add use_stdin: true to that command."; !found || told == test.want {
			t.Errorf("%s: found %v, %+v", name, found, site)
		}
	}
}

// Unless a command lists its files itself, lefthook does not run it where it finds nothing that has changed.
func TestLefthookMustNotLeaveTheGateOut(t *testing.T) {
	const all = "pre-push:\n  commands:\n    gate:\n      files: echo lefthook.yml\n      run: small-hook pre-push {0} {files}\n      use_stdin: true\n"
	tests := map[string]struct {
		hook Name
		text string
		want bool
	}{
		"all that is needed":        {PrePush, all, true},
		"without files":             {PrePush, strings.Replace(all, "      files: echo lefthook.yml\n", "", 1), false},
		"without its place":         {PrePush, strings.Replace(all, " {files}", "", 1), false},
		"the command's before":      {PrePush, "pre-push:\n  commands:\n    lint:\n      files: echo x\n    gate:\n      run: small-hook pre-push {files}\n      use_stdin: true\n", false},
		"a list that is not its":    {PrePush, strings.Replace(all, "files: echo", "push_files: echo", 1), false},
		"pre-commit":                {PreCommit, "pre-commit:\n  jobs:\n    - run: small-hook pre-commit {files}\n      files: echo lefthook.yml\n", true},
		"pre-commit, without":       {PreCommit, "pre-commit:\n  jobs:\n    - run: small-hook pre-commit\n", false},
		"TOML":                      {PreCommit, "[pre-commit.commands.gate]\nfiles = \"echo lefthook.toml\"\nrun = \"small-hook pre-commit {files}\"\n", true},
		"merges are never left out": {PreMergeCommit, "pre-merge-commit:\n  jobs:\n    - run: small-hook pre-merge-commit\n", true},
	}
	for name, test := range tests {
		site, found := callInText(test.hook, Lefthook, test.text)
		if !found || site.calls != test.want || !test.want && !strings.Contains(site.fault, "leaves that command out") {
			t.Errorf("%s: found %v, %+v", name, found, site)
		}
	}
}
