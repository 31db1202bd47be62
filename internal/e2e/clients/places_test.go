package clients_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// place is a folder that has everything: the program, a home, a repository, a server.
type place struct {
	t    *testing.T
	dir  string // the repository's
	hook string // small-hook
	git  string
	env  []string
}

// TestPlaces installs the hooks, with the program and the repository in folders whose names need quoting, and has them pass and stop
// commits, pushes and merges. PATH has git and the system's own programs: on Windows no Git Bash, so the hooks must work with git alone. It
// is the only test of the hooks that also runs on Windows.
func TestPlaces(t *testing.T) {
	gittest.Long(t)
	program := builtFrom(t, filepath.Join("..", "..", ".."))
	for _, where := range []string{"plain", "with some spaces", "Grüße, 日本 и мир", "it's 50% (off) & $HOME; #1"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			newPlace(t, where, programName(), program).lives()
		})
	}
}

func newPlace(t *testing.T, where, name string, program []byte) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, where)
	p := &place{t: t, dir: filepath.Join(root, "the repository"), hook: filepath.Join(root, "a program", name)}
	for path, text := range map[string][]byte{
		p.hook:                             program,
		filepath.Join(root, "home/config"): []byte("[user]\n\tname = somebody\n\temail = somebody@example.com\n[init]\n\tdefaultBranch = main\n"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), gittest.WriteProgram(path, string(text))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(p.dir, os.DirFS("../../../cmd/small-hook/testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "SMALL_") {
			p.env = append(p.env, kv)
		}
	}
	git, path := gitAlone(t)
	p.git = git
	p.env = append(p.env, "HOME="+filepath.Join(root, "home"), "GIT_CONFIG_GLOBAL="+filepath.Join(root, "home", "config"), "PATH="+path)
	return p
}

// gitAlone is the git program, and a PATH with it and every system's own programs.
func gitAlone(t *testing.T) (git, path string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{filepath.Dir(git), "/usr/bin", "/bin"}
	if runtime.GOOS == "windows" {
		// Git for Windows has one folder for the general PATH. The programs of its Git Bash are in others.
		core, err := exec.Command(git, "--exec-path").Output()
		if err != nil {
			t.Fatal(err)
		}
		dirs = []string{filepath.Join(strings.TrimSpace(string(core)), "..", "..", "..", "cmd"), filepath.Join(os.Getenv("SystemRoot"), "System32")}
		git = filepath.Join(dirs[0], "git.exe")
	}
	return git, strings.Join(dirs, string(os.PathListSeparator))
}

// does runs a program in the repository, and demands its status and, if it fails, its message.
func (p *place) does(want string, program string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	said, err := cmd.CombinedOutput()
	if (err == nil) != (want == "") || !strings.Contains(string(said), want) {
		p.t.Fatalf("%s %q: %v; it should say %q\n%s", filepath.Base(program), args, err, want, said)
	}
}

// do runs git.
func (p *place) do(args ...string) { p.t.Helper(); p.does("", p.git, args...) }

// log rewrites the log's first entry or, with an hour, adds one.
func (p *place) log(hour int) {
	p.t.Helper()
	p.edit(func(text string) string {
		if hour == 0 {
			return strings.Replace(text, "workspace created", "workspace forged", 1)
		}
		return text + fmt.Sprintf("  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T%02d:00:00.000000001Z\"\n    status: \"in_progress\"\n    evidence: \"done\"\n", hour)
	})
}

// forge rewrites the added entries.
func (p *place) forge() {
	p.t.Helper()
	p.edit(func(text string) string { return strings.ReplaceAll(text, `evidence: "done"`, `evidence: "forged"`) })
}

func (p *place) edit(how func(string) string) {
	p.t.Helper()
	path := filepath.Join(p.dir, ".small", "progress.small.yml")
	text, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	edited := how(string(text))
	if edited == string(text) {
		p.t.Fatal("the log is not as expected")
	}
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) lives() {
	p.t.Helper()
	p.do("init", "-q")
	p.does("", p.hook, "install", "--merge-driver")
	p.do("add", "-A")
	p.do("commit", "-q", "-m", "start")
	p.does("", p.hook, "doctor")
	p.log(10)
	p.do("commit", "-q", "-a", "-m", "append")
	p.do("init", "-q", "--bare", "../the server.git")
	p.do("remote", "add", "origin", "../the server.git")
	p.do("push", "-q", "-u", "origin", "main")

	p.log(0)
	p.does("append-only/modified", p.git, "commit", "-a", "-m", "rewrite")
	p.does("append-only/modified", p.git, "commit", "--no-verify", "-a", "-m", "rewrite")
	p.do("-c", "core.hooksPath=nowhere", "commit", "-q", "-a", "-m", "rewrite")
	p.does("append-only/modified", p.git, "push", "-q")
	p.do("reset", "-q", "--hard", "HEAD^")

	p.do("checkout", "-q", "-b", "side")
	p.log(11)
	p.do("commit", "-q", "-a", "-m", "on a side")
	p.do("checkout", "-q", "main")
	p.log(12)
	p.do("commit", "-q", "-a", "-m", "on main")
	p.do("merge", "-q", "--no-edit", "side") // git's own merge stops here
	p.do("push", "-q")
	p.does("", p.hook, "audit")
	p.does("", p.hook, "uninstall")
}
