package install

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// The outcome of setting up a driver says whether files were changed, as that of hooks does.
func TestDriverOutcome(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	options := InstallOptions{Dir: repo, Program: program.path}
	for name, driver := range map[string]struct {
		install   func() (Result, error)
		uninstall func() (Result, error)
	}{
		"merge": {
			func() (Result, error) { return InstallMergeDriver(t.Context(), options) },
			func() (Result, error) { return UninstallMergeDriver(t.Context(), repo) },
		},
		"diff": {
			func() (Result, error) { return InstallTextconv(t.Context(), options) },
			func() (Result, error) { return UninstallTextconv(t.Context(), repo) },
		},
	} {
		steps := []struct {
			do   func() (Result, error)
			want Outcome
		}{{driver.install, Changed}, {driver.install, Unchanged}, {driver.uninstall, Changed}, {driver.uninstall, Unchanged}}
		for i, step := range steps {
			if result, err := step.do(); err != nil || result.Outcome != step.want {
				t.Errorf("%s, step %d: outcome %d, want %d, %v", name, i, result.Outcome, step.want, err)
			}
		}
	}
	put(t, filepath.Join(repo, ".git", "config.lock"), "", 0o644)
	remedy := "`rm -f " + wording.ShellWord(filepath.Join(repo, ".git", "config.lock")) + "`"
	if result, err := InstallMergeDriver(t.Context(), options); err == nil || result.Outcome != Failed || !strings.Contains(err.Error(), remedy) {
		t.Errorf("outcome %d, %v", result.Outcome, err)
	}
}

// A driver's command that the doctor prints may hold a credential, which its output masks.
func TestDoctorMasksCredentials(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	if _, err := InstallMergeDriver(t.Context(), InstallOptions{Dir: repo, Program: program.path}); err != nil {
		t.Fatal(err)
	}
	password := "Sup3r" + "S3cret9x"
	git(t, repo, "config", driverSection+".driver", "merge-it https://ann:"+password+"@example.org %A")
	text := diagnose(t, repo).Text()
	if !strings.Contains(text, "its command is not the one that install writes: merge-it https://") || strings.Contains(text, password) {
		t.Error(text)
	}
}

// The doctor names each file that a line of .gitattributes gives to a driver and that is gone, in the index and on disk.
func TestDoctorNamesGoneFiles(t *testing.T) {
	repo := newRepo(t)
	put(t, filepath.Join(repo, "log", "there.jsonl"), "", 0o644)
	put(t, filepath.Join(repo, attributesFile), "/log/gone.jsonl merge=x\n/log/there.jsonl merge=x\nthere.jsonl merge=x\nnone.md merge=x\n*.none merge=x\n/other text\n/plain -merge\n", 0o644)
	var named []string
	for _, note := range diagnose(t, repo).Notes {
		if _, rest, found := strings.Cut(note, "names a merge driver for "); found {
			named = append(named, strings.Fields(rest)[0])
		}
	}
	if want := "log/gone.jsonl, none.md,"; strings.Join(named, " ") != want {
		t.Errorf("named %q, want %q", strings.Join(named, " "), want)
	}
}

// A line that another file overrides is not written again with each try.
func TestOverriddenAttributeIsWrittenOnce(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	put(t, filepath.Join(repo, "a", attributesFile), "* -merge\n", 0o644)
	overridden := wording.ShellWord(filepath.Join(repo, "a/b/.small/plan.small.yml"))
	for range 2 {
		_, err := InstallMergeDriver(t.Context(), InstallOptions{Dir: repo, Program: program.path})
		if err == nil || !strings.Contains(err.Error(), "overrides it") || !strings.Contains(err.Error(), "`git check-attr --all "+overridden+"`") {
			t.Error(err)
		}
		if text := get(t, filepath.Join(repo, attributesFile)); text != mergeAttribute.line+"\n" {
			t.Errorf("%q", text)
		}
	}
}

// A log's line that a later one overrides is written again, once. If that has no effect, somebody has to look.
func TestOverriddenLogIsWrittenAgain(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	put(t, filepath.Join(repo, "a b.log"), "", 0o644)
	put(t, filepath.Join(repo, attributesFile), "\"/a b.log\" merge=small-gate\n*.log merge=union\n", 0o644)
	git(t, repo, "add", ".")
	logs := []LogPattern{{Path: "a b.log"}, {Path: "other.log"}}
	options := InstallOptions{Dir: repo, Program: program.path, Logs: logs}
	for range 2 {
		if _, err := InstallMergeDriver(t.Context(), options); err != nil {
			t.Error(err)
		}
		if check, err := Doctor(t.Context(), repo, logs...); err != nil || !check.Driver.Works {
			t.Error(check.Driver.Why, err)
		}
		want := "\"/a b.log\" merge=small-gate\n*.log merge=union\n" + mergeAttribute.line + "\n/other.log merge=small-gate\n\"/a b.log\" merge=small-gate\n"
		if text := get(t, filepath.Join(repo, attributesFile)); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
	put(t, filepath.Join(repo, ".git", "info", "attributes"), "*.log merge=union\n", 0o644)
	if _, err := InstallMergeDriver(t.Context(), options); err == nil || !strings.Contains(err.Error(), "gives a b.log to the driver, but another line overrides it") {
		t.Error(err)
	}
}

// Git reads the line of a log whatever its name is.
func TestLogsWithOddNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows has no such names, so this is NOT tested")
	}
	repo, program := newRepo(t), newStub(t)
	var logs []LogPattern
	for _, name := range []string{"a b\u00a0c\u3000.log", "a \"b\".log", "a\tb\x7f.log", "a\nb\r.log", "a b*.log", "\u00e4 \xff.log", "end \\"} {
		put(t, filepath.Join(repo, name), "", 0o644)
		logs = append(logs, LogPattern{Path: strings.NewReplacer("*", `\*`, `\`, `\\`).Replace(name)})
	}
	git(t, repo, "add", ".")
	if _, err := InstallMergeDriver(t.Context(), InstallOptions{Dir: repo, Program: program.path, Logs: logs}); err != nil {
		t.Error(err)
	}
	if check, err := Doctor(t.Context(), repo, logs...); err != nil || !check.Driver.Works {
		t.Errorf("%s (%v)\n%s", check.Driver.Why, err, get(t, filepath.Join(repo, attributesFile)))
	}
}

// Git ignores a folder in place of .gitattributes, and a link.
func TestUninstallTextconvPassesOverWhatGitIgnores(t *testing.T) {
	repo := newRepo(t)
	put(t, filepath.Join(repo, attributesFile, "file"), "", 0o644)
	if result, err := UninstallTextconv(t.Context(), repo); err != nil || result.Outcome != Unchanged {
		t.Errorf("outcome %d, %v", result.Outcome, err)
	}
}

func TestDriverProgram(t *testing.T) {
	for _, path := range []string{"/opt/small-hook", "/a b/it's/100%/small-hook", "/a\u00a0b/`x`/small-hook"} {
		if got := driverProgram(driverCommand(filepath.FromSlash(path))); got != filepath.FromSlash(path) {
			t.Errorf("%q became %q", path, got)
		}
	}
	if got := driverProgram("mine" + driverArguments); got != "" {
		t.Errorf("another command calls %q", got)
	}
}
