package install

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var update = flag.Bool("update", false, "write the shims in hooks/ anew")

// shells lists the shells of this machine that can read a POSIX script; the plain sh is always among them.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{"sh": {"/bin/sh"}}
	for _, name := range []string{"dash", "bash", "busybox", "mksh", "ksh", "zsh", "yash"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		switch name {
		case "busybox":
			found[name] = []string{path, "sh"}
		case "bash":
			found[name] = []string{path, "--posix"}
		case "zsh":
			found[name] = []string{path, "--emulate", "sh"}
		default:
			found[name] = []string{path}
		}
	}
	return found
}

func TestShimIsAShortPOSIXScript(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	put(t, filepath.Join(repo, ".git", "hooks", "pre-push"), "#!/bin/sh\n", 0o755)
	install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
	for _, hook := range allHooks() {
		path := filepath.Join(repo, ".git", "hooks", string(hook))
		text := get(t, path)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v, %v", hook, info.Mode(), err)
		}
		if !strings.HasPrefix(text, "#!/bin/sh\n# small-gate hook: "+string(hook)+" sha256:") {
			t.Errorf("%s does not begin as it should:\n%s", hook, text)
		}
		if strings.Contains(text, "\r") || !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") > 40 {
			t.Errorf("%s: %d lines", hook, strings.Count(text, "\n"))
		}
		if originOf(hook, text) != ours || programIn(text) != program.path {
			t.Errorf("%s is not recognised, or calls %q", hook, programIn(text))
		}
		for _, other := range allHooks() {
			if other != hook && originOf(other, text) == ours {
				t.Errorf("%s is taken for %s", hook, other)
			}
		}
		for name, shell := range shells(t) {
			if output, status := run(t, repo, "", nil, shell[0], append(shell[1:], "-n", path)...); status != 0 {
				t.Errorf("%s cannot read %s: %s", name, hook, output)
			}
		}
	}
}

// printsItself reports whether a shell has a built-in printf, whose output has no length limit.
func printsItself(t *testing.T, shell []string) bool {
	t.Helper()
	output, _ := run(t, "", "", nil, shell[0], append(slices.Clone(shell[1:]), "-c", "command -v printf")...)
	return !strings.Contains(output, "/")
}

// Git's input must reach both hooks byte for byte, in every shell.
func TestInputReachesBothHooks(t *testing.T) {
	gittest.Long(t)
	line := "refs/heads/a%sb\\n " + strings.Repeat("1", 40) + " refs/heads/x' \" $x `y` " + strings.Repeat("0", 40) + "\n"
	inputs := map[string]string{
		"nothing": "", "one line": line, "three lines": line + line + line, "no line break at the end": line + "x",
		"blank lines at the end": line + "\n\n\n", "only a line break": "\n", "a dot at the end": "x.", "spaces": "  a  b\t\n -n\n",
		"not UTF-8": "refs/heads/\xff\xfe\x81 \xe3\x81\n", "lead byte at the end": "\x81", "many": strings.Repeat(line, 2000),
	}
	program := newStub(t)
	for _, keeps := range []string{"reads", "does not read"} {
		repo := newRepo(t)
		kept := logger(program, "0")
		if keeps != "reads" {
			kept = "#!/bin/sh\necho kept >>" + wording.ShellQuote(program.log) + "\n"
		}
		path := filepath.Join(repo, ".git", "hooks", "pre-push")
		put(t, path, kept, 0o755)
		install(t, InstallOptions{Dir: repo, Program: program.path})
		for name, shell := range shells(t) {
			for kind, input := range inputs {
				t.Run(strings.Join([]string{keeps, name, kind}, ", "), func(t *testing.T) {
					output, status := run(t, repo, input, nil, shell[0], append(slices.Clone(shell[1:]), path, "origin", "a url")...)
					if kind == "many" && !printsItself(t, shell) {
						// Such a shell cannot pass on more than fits into an argument: it must say so and stop.
						if status != 2 || !strings.Contains(output, "cannot read what git sends to it") || program.said(t) != "" {
							t.Errorf("status %d, printed %q", status, output)
						}
						return
					}
					if status != 0 || output != "" {
						t.Errorf("status %d, printed %q", status, output)
					}
					want := "kept [origin] [a url]\n" + input
					if keeps != "reads" {
						want = "kept\n"
					}
					want += "gate [pre-push] [origin] [a url]\n" + input
					if got := program.said(t); got != want {
						t.Errorf("got %d bytes, want %d: %.300q", len(got), len(want), got)
					}
				})
			}
		}
	}
}

func TestStatusIsTheProgramsOwn(t *testing.T) {
	gittest.Long(t)
	for _, hook := range allHooks() {
		for _, keeps := range []bool{false, true} {
			repo, program := newRepo(t), newStub(t)
			path := filepath.Join(repo, ".git", "hooks", string(hook))
			if keeps {
				put(t, path, logger(program, "0"), 0o755)
			}
			install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
			for status, want := range map[string]int{"0": 0, "1": 1, "2": 2, "130": 130} {
				program.fails(t, status)
				for name, shell := range shells(t) {
					if _, got := run(t, repo, "x\n", nil, shell[0], append(slices.Clone(shell[1:]), path)...); got != want {
						t.Errorf("%s in %s, kept hook %v: status %d, want %d", hook, name, keeps, got, want)
					}
				}
			}
		}
	}
}

// A graphical client may start git with almost no PATH.
func TestWorksWithoutTheUsersPath(t *testing.T) {
	gittest.Long(t)
	gitPath, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"PATH=/no/such/place", "PATH="} {
		repo, program := newRepo(t), newStub(t)
		put(t, filepath.Join(repo, ".git", "hooks", "pre-push"), strings.ReplaceAll(logger(program, "0"), "cat;", "/bin/cat;"), 0o755)
		install(t, InstallOptions{Dir: repo, Program: program.path})
		if output, status := run(t, repo, "", []string{path}, gitPath, "commit", "-q", "--allow-empty", "-m", "x"); status != 0 {
			t.Errorf("%s: %s", path, output)
		}
		output, status := run(t, repo, "a line\n", []string{path}, filepath.Join(repo, ".git", "hooks", "pre-push"), "origin", "url")
		if status != 0 || output != "" {
			t.Errorf("%s: status %d, %s", path, status, output)
		}
		want := "gate [pre-commit]\nkept [origin] [url]\na line\ngate [pre-push] [origin] [url]\na line\n"
		if diff := cmp.Diff(want, program.said(t)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProgramThatIsGone(t *testing.T) {
	gittest.Long(t)
	breakage := map[string]func(t *testing.T, path string){
		"removed":          func(t *testing.T, path string) { mustRemove(t, path) },
		"empty":            func(t *testing.T, path string) { put(t, path, "", 0o755) },
		"not executable":   func(t *testing.T, path string) { put(t, path, "#!/bin/sh\n", 0o644) },
		"now a directory":  func(t *testing.T, path string) { mustRemove(t, path); put(t, filepath.Join(path, "x"), "", 0o755) },
		"its folder moved": func(t *testing.T, path string) { mustRename(t, filepath.Dir(path), filepath.Dir(path)+" moved") },
	}
	for name, spoil := range breakage {
		t.Run(name, func(t *testing.T) {
			repo, program, second := newRepo(t), newStub(t), newStub(t)
			install(t, InstallOptions{Dir: repo, Program: program.path})
			spoil(t, program.path)

			output := gitStops(t, repo, "commit", "--allow-empty", "-m", "x")
			for _, part := range []string{program.path, "nothing was judged", "go install ", "small-hook install", withoutGo} {
				if !strings.Contains(output, part) {
					t.Errorf("the message lacks %q:\n%s", part, output)
				}
			}
			for shellName, shell := range shells(t) {
				hook := filepath.Join(repo, ".git", "hooks", "pre-push")
				if _, status := run(t, repo, "x\n", nil, shell[0], append(slices.Clone(shell[1:]), hook)...); status != 2 {
					t.Errorf("%s: status %d, want 2", shellName, status)
				}
			}

			// An empty file, or one in the work tree, must not be taken for the program.
			empty := filepath.Join(realTemp(t), ProgramName)
			put(t, empty, "", 0o755)
			put(t, filepath.Join(repo, ProgramName), "#!/bin/sh\nexit 0\n", 0o755)
			for _, path := range []string{filepath.Dir(empty), ".", ""} {
				full := "PATH=" + path + string(os.PathListSeparator) + os.Getenv("PATH")
				if output, status := run(t, repo, "", []string{full}, "git", "commit", "-q", "--allow-empty", "-m", "x"); status == 0 {
					t.Errorf("PATH with %q let the commit through\n%s", path, output)
				}
			}

			// If the program is on PATH, the hook works, and says that the program has moved.
			full := "PATH=" + filepath.Dir(second.path) + string(os.PathListSeparator) + os.Getenv("PATH")
			output, status := run(t, repo, "", []string{full}, "git", "commit", "-q", "--allow-empty", "-m", "x")
			if status != 0 || !strings.Contains(output, program.path+" is missing or cannot be run: using ") || !strings.Contains(output, "small-hook install") {
				t.Errorf("status %d: %s", status, output)
			}
			if got := second.said(t); got != "gate [pre-commit]\n" {
				t.Errorf("the program on PATH was given %q", got)
			}
		})
	}
}

// Set by accident, the doctor's variable blocks: it cannot be used to get past the gate.
func TestDoctorVariableLetsNothingThrough(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	put(t, filepath.Join(repo, ".git", "hooks", "pre-push"), logger(program, "0"), 0o755)
	install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
	for _, hook := range allHooks() {
		for _, value := range []string{"1", "0", "a b %s \\n"} {
			output, status := run(t, repo, "x\n", []string{DoctorVariable + "=" + value}, filepath.Join(repo, ".git", "hooks", string(hook)))
			if want := "small-gate doctor " + string(hook) + " " + program.path + " " + value + "\n"; status != 2 || output != want {
				t.Errorf("%s: status %d, %q, want %q", hook, status, output, want)
			}
		}
	}
	if got := program.said(t); got != "" {
		t.Errorf("a hook ran: %q", got)
	}
}

func TestQuoteShell(t *testing.T) {
	for _, text := range []string{"", "a", "a b", "it's", "''", `"$HOME" \ * %s ~`, "é\xff", "-n"} {
		for name, shell := range shells(t) {
			output, _ := run(t, "", "", nil, shell[0], append(slices.Clone(shell[1:]), "-c", "printf %s "+wording.ShellQuote(text))...)
			if output != text {
				t.Errorf("%s: %q became %q", name, text, output)
			}
		}
		rendered := shim{hook: PreCommit, program: "/" + text}.render()
		if got := programIn(rendered); got != "/"+text {
			t.Errorf("%q was read back as %q", "/"+text, got)
		}
		if originOf(PreCommit, rendered) != ours {
			t.Errorf("a shim with %q is not recognised", text)
		}
	}
}

// A hook that uses its own name, as husky's do, must be told its old one.
func TestKeptHookThatGoesByItsName(t *testing.T) {
	gittest.Long(t)
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			repo, program := newRepo(t), newStub(t)
			hooks := filepath.Join(repo, ".git", "hooks")
			put(t, filepath.Join(hooks, "h"), "{ basename \"$0\"; printf ' [%s]' \"$@\"; cat; } >>"+wording.ShellQuote(program.log)+"\nexit 0\n", 0o644)
			put(t, filepath.Join(hooks, "pre-push"), "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"", 0o755)
			install(t, InstallOptions{Dir: repo, Program: program.path, Force: true})
			output, status := run(t, repo, "x\n", nil, shell[0], append(slices.Clone(shell[1:]), filepath.Join(hooks, "pre-push"), "a", "b c")...)
			if status != 0 || output != "" {
				t.Errorf("status %d: %s", status, output)
			}
			if diff := cmp.Diff("pre-push\n [a] [b c]x\ngate [pre-push] [a] [b c]\nx\n", program.said(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoteOnHookThatMayGoByItsName(t *testing.T) {
	gittest.Long(t)
	for text, noted := range map[string]bool{
		"#!/bin/sh\nexec tool \"$(basename \"$0\")\"\n":  true,
		"#!/bin/sh\ncase ${0##*/} in x) ;; esac\n":       true,
		"#!/usr/bin/env ruby\nFile.basename(__FILE__)\n": true,
		"#!/bin/sh\nnpm test\n":                          false,
	} {
		repo, program := newRepo(t), newStub(t)
		put(t, filepath.Join(repo, ".git", "hooks", "pre-commit"), text, 0o755)
		got := install(t, InstallOptions{Dir: repo, Program: program.path}).Text()
		if strings.Contains(got, "its own file name") != noted {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// The shims in hooks/ are made from the same text, without a program's path. Run the tests with -update after changing it.
func TestShippedShims(t *testing.T) {
	gittest.Long(t)
	folder := filepath.Join("..", "..", "hooks")
	for _, hook := range allHooks() {
		path, want := filepath.Join(folder, string(hook)), shim{hook: hook}.render()
		if *update {
			put(t, path, want, 0o755)
		}
		if diff := cmp.Diff(want, get(t, path)); diff != "" {
			t.Errorf("hooks/%s is stale: run go test ./internal/install -update\n%s", hook, diff)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o111 != 0o111 {
			t.Errorf("hooks/%s: mode %v, %v", hook, info.Mode(), err)
		}
	}

	absolute, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	repo, program := newRepo(t), newStub(t)
	git(t, repo, "config", "core.hooksPath", absolute)
	if output := gitStops(t, repo, "commit", "--allow-empty", "-m", "x"); !strings.Contains(output, "No small-hook is on PATH") {
		t.Error(output)
	}
	t.Setenv("PATH", filepath.Dir(program.path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, repo, "push", "-q", newBare(t), "main")
	if got := program.said(t); !strings.HasPrefix(got, "gate [pre-commit]\ngate [pre-push] [") || !strings.Contains(got, "]\nrefs/heads/main ") {
		t.Errorf("git ran %q", got)
	}
	before := tree(t, absolute)
	if result := install(t, InstallOptions{Dir: repo, Program: program.path}); result.Outcome != Unchanged || !strings.Contains(result.Text(), "installed already") || strings.Contains(result.Text(), "The hooks call") {
		t.Errorf("install: %s", result.Text())
	}
	if diagnosis := diagnose(t, repo); !diagnosis.Fires() {
		t.Error(diagnosis.Text())
	}
	if result := uninstall(t, repo); result.Outcome != NeedsManualSteps {
		t.Errorf("uninstall: %s", result.Text())
	}
	if diff := cmp.Diff(before, tree(t, absolute)); diff != "" {
		t.Error(diff)
	}
}
