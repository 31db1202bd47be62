package main

import (
	_ "embed" // the page's text
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"
)

// performancePage is the page that -page writes.
const performancePage = "docs/performance.md"

//go:embed performance.tmpl
var performanceText string

// other is a program that runs during a commit.
type other struct {
	Name, Does, Version string
	// find is a shell command that prints its path; empty for the gate and for none.
	find string
	// version prints its version, and install sets up its hooks, as shell commands in which $it is the program.
	version, install string
	// file is its configuration, one of managerFiles; empty if it needs none.
	file, hooks string
	// Medians has one for each kind of commit.
	Medians []sample
}

// others are the programs, each with its smallest job.
var others = []other{
	{Name: "no hooks", Does: "nothing"},
	{Name: "small-gate", Does: "judges the log", install: "$it install"},
	{Name: "gitleaks", Does: "looks for credentials in what is staged", find: ".ci/tool gitleaks", version: "go version -m $it | grep -w mod",
		install: `printf '#!/bin/sh\nexec %s git --pre-commit --staged --no-banner --log-level error\n' "$it" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`},
	{Name: "lefthook", Does: "runs `true`", find: "ls $(scripts/clients-setup)/node_modules/lefthook-*/bin/lefthook", version: "$it version", install: "$it install", file: "lefthook.yml"},
	{Name: "prek", Does: "runs `true`", find: "ls $(scripts/clients-setup)/node_modules/@j178/prek-*/prek", version: "$it --version", install: "$it install", file: ".pre-commit-config.yaml"},
	{Name: "pre-commit", Does: "runs `true`", find: "ls $(scripts/clients-setup)/pre-commit-*/bin/pre-commit | tail -1", version: "$it --version", install: "$it install", file: ".pre-commit-config.yaml"},
}

// managerFiles are the configurations of the hook managers.
var managerFiles = map[string]string{
	"lefthook.yml":            "pre-commit:\n  commands:\n    nothing:\n      run: \"true\"\n",
	".pre-commit-config.yaml": "repos:\n  - repo: local\n    hooks:\n      - {id: nothing, name: nothing, language: system, entry: \"true\", always_run: true, pass_filenames: false}\n",
}

// setUp finds a program and makes a folder with its hooks.
func (b *bench) setUp(o *other) error {
	dir := filepath.Join(b.dir, "hooks-of-"+o.Name)
	o.hooks = filepath.Join(dir, ".git", "hooks")
	if _, err := b.git(b.dir, "init", "-q", "--template=", dir); err != nil {
		return err
	}
	if err := os.Mkdir(o.hooks, 0o700); err != nil || o.install == "" {
		return err
	}
	if o.file != "" {
		if err := os.WriteFile(filepath.Join(dir, o.file), []byte(managerFiles[o.file]), 0o600); err != nil {
			return err
		}
	}
	it := b.binary
	if o.find != "" {
		found, err := b.output(".", "sh", "-c", o.find)
		if err != nil {
			return err
		}
		it = strings.TrimSpace(found)
	}
	said, err := b.output(dir, "sh", "-c", "it=$1; "+o.version, "sh", it)
	if err != nil {
		return err
	}
	o.Version = regexp.MustCompile(`v?\d+\.\d+\.\d+`).FindString(said)
	_, err = b.output(dir, "sh", "-c", "it=$1; "+o.install, "sh", it)
	return err
}

// page measures one commit with each program and writes performancePage. It names the programs that are missing.
func (b *bench) page() error {
	var measured []*other
	var left []string
	for i := range others {
		o := &others[i]
		if err := b.setUp(o); err != nil && o.find != "" {
			b.progress.Printf("left out: %s: %v", o.Name, err)
			left = append(left, o.Name)
			continue
		} else if err != nil {
			return err
		}
		measured = append(measured, o)
	}
	code, err := b.idle(0, 0)
	if err != nil {
		return err
	}
	entry, err := b.appended(1_206)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		w      *world
		change func(w *world, n int) error
	}{{code, changeCode}, {entry, appendEntry}} {
		if err := b.measureOthers(kind.w, measured, kind.change); err != nil {
			return err
		}
	}
	text, err := b.performance(measured, left)
	if err != nil {
		return err
	}
	return os.WriteFile(performancePage, []byte(text), 0o644)
}

// measureOthers measures one kind of commit with all programs in turn, with one uncounted round first.
func (b *bench) measureOthers(w *world, all []*other, change func(w *world, n int) error) error {
	for name, text := range managerFiles {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	samples := make([][]sample, len(all))
	n := 0
	for run := -1; run < b.runs; run++ {
		for i, o := range all {
			n++
			if err := change(w, n); err != nil {
				return err
			}
			if _, err := b.git(w.dir, "config", "core.hooksPath", o.hooks); err != nil {
				return err
			}
			s, err := b.run(command{args: []string{"git", "commit", "-q", "-a", "-m", "measured"}, dir: w.dir})
			if err != nil {
				return fmt.Errorf("%s: %w", o.Name, err)
			}
			if run >= 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	for i, o := range all {
		o.Medians = append(o.Medians, median(samples[i]))
	}
	return nil
}

// performance is the page.
func (b *bench) performance(measured []*other, left []string) (string, error) {
	lines := [][]string{{"with", "code", "entry", "code, ms", "entry, ms", "elapsed: code, ms", "entry, ms", "version", "what it does"}}
	for _, o := range measured {
		code, entry := o.Medians[0], o.Medians[1]
		lines = append(lines, []string{o.Name, times(code.cpu, measured[0].Medians[0].cpu), times(entry.cpu, measured[0].Medians[1].cpu),
			millis(code.cpu), millis(entry.cpu), millis(code.wall), millis(entry.wall), o.Version, o.Does})
	}
	git, err := b.git(b.dir, "version")
	if err != nil {
		return "", err
	}
	commit, err := b.git(".", "describe", "--always", "--tags", "--abbrev=12")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = template.Must(template.New("page").Parse(performanceText)).Execute(&out, map[string]any{
		"Table": markdown(lines), "Left": strings.Join(left, ", "), "Git": strings.TrimSpace(git), "Commit": strings.TrimSpace(commit), "Runs": b.runs,
		"System": runtime.GOOS + "/" + runtime.GOARCH, "Cores": runtime.NumCPU(),
		"Processor": lineOf("/proc/cpuinfo", `(?m)^model name\s*: (.*)$`), "OS": lineOf("/etc/os-release", `(?m)^PRETTY_NAME="(.*)"$`),
	})
	return out.String(), err
}

// lineOf is a pattern's match in one of the system's files; "not known" without one.
func lineOf(file, pattern string) string {
	data, err := os.ReadFile(file)
	if m := regexp.MustCompile(pattern).FindSubmatch(data); err == nil && m != nil {
		return string(m[1])
	}
	return "not known"
}
