//go:build !windows

// Package harnesses_test runs the program with the harnesses in which agents really work: Claude Code, Codex, Gemini CLI and the Copilot
// CLI, each with the hooks that small-hook install --agent sets up, in a real repository. Only the models are fake: they answer on the
// loopback interface, take the turns written in a test, and write down what they are told. Cursor cannot run completely: its programs are
// only on its own site and need a login, so only its published hook engine was run, by hand.
//
// SMALL_GATE_HARNESSES names the harnesses' folder; scripts/harness-setup fetches them and prints the variable's value.
package harnesses_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Suite{M: m}.Run()) }

// built builds the small-hook under test on first use, and returns its directory.
var built = sync.OnceValue(func() string {
	dir := heldDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "small-hook"), "../../../cmd/small-hook")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	return dir
})

// unpacked is where Copilot unpacks its files on its first start: sharing it saves a second for each home.
var unpacked = sync.OnceValue(func() string {
	dir := heldDir()
	start := exec.Command(filepath.Join(os.Getenv(variable), "copilot"), "--version")
	start.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "COPILOT_PKG_CACHE_HOME=" + dir, "COPILOT_OFFLINE=true"}
	if out, err := start.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("copilot --version: %v\n%s", err, out))
	}
	return dir
})

func heldDir() string {
	dir, err := gittest.HeldDir()
	if err != nil {
		panic(err)
	}
	return dir
}

const variable = "SMALL_GATE_HARNESSES"

// installed is the directory that scripts/harness-setup filled. It skips the test if that is missing.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skip("the agents' harnesses are not here: export " + variable + "=\"$(scripts/harness-setup)\" in the repository's root gets them")
	}
	return dir
}

// desk is a repository with a valid workspace in which an agent works, and its user's home.
type desk struct {
	*gittest.Repo
	t       *testing.T
	program *program
	trust   *trust
	file    string // of the harness
	home    string
	temp    string // for temporary files
}

const (
	progress = ".small/progress.small.yml"
	said     = "workspace created" // by the log's first entry
)

// newDesk makes a repository whose settings have the harness call the gate, and without git's own hooks, like a fresh clone.
func newDesk(t *testing.T, p *program) *desk {
	t.Helper()
	d := &desk{t: t, program: p, trust: p.trusted, file: filepath.Join(installed(t), p.name), home: gittest.TempDir(t), temp: gittest.TempDir(t)}
	d.Repo = gittest.New(t)
	if err := os.CopyFS(d.Dir, os.DirFS(filepath.Join("..", "..", "..", "cmd", "small-hook", "testdata", "workspace"))); err != nil {
		t.Fatal(err)
	}
	d.Git("config", "user.name", "Agent") // Gemini CLI hides the user's own configuration from git
	d.Git("config", "user.email", "agent@example.com")
	put(t, filepath.Join(d.home, ".profile"), "PATH='"+built()+"':$PATH\n") // Codex's shells are login shells
	d.must("small-hook install --agent " + p.name)
	d.Commit("start")
	return d
}

// environ is the complete environment at the desk: from outside it has only the programs' place.
func (d *desk) environ(vars ...string) []string {
	return append([]string{
		"PATH=" + built() + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + d.home, "TMPDIR=" + d.temp, "GIT_CONFIG_NOSYSTEM=1",
		"TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8",
	}, vars...)
}

// must runs a command in the repository, which must succeed.
func (d *desk) must(line string) string {
	d.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = d.Dir, d.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// read reads a file of the work tree.
func (d *desk) read(path string) string {
	d.t.Helper()
	text, err := os.ReadFile(d.Path(path))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// works runs the agent until its program ends by itself, and returns what the model was told, request by request, and what a person saw.
func (d *desk) works(turns ...turn) (told []string, seen string) {
	d.t.Helper()
	m := newModel(d.t, d.program, turns...)
	p := d.program
	if p.settings != nil {
		file, text := p.settings(d, m.URL)
		put(d.t, filepath.Join(d.home, filepath.FromSlash(file)), text)
	}
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.file, slices.Concat(p.args, d.trust.args)...)
	// Every connection out of the machine goes to a proxy that refuses it.
	cmd.Env = d.environ(slices.Concat(p.vars(m.URL), d.trust.vars, []string{"HTTPS_PROXY=" + m.URL, "HTTP_PROXY=" + m.URL, "NO_PROXY=127.0.0.1"})...)
	cmd.Dir, cmd.SysProcAttr = d.Dir, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	told, seen = m.requests(), out.String()
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	d.t.Cleanup(func() {
		if d.t.Failed() {
			d.t.Logf("asked besides: %q\na person saw:\n%s", m.besides(), seen)
			for i, text := range told {
				d.t.Logf("request %d ends with:\n%s", i+1, text[max(0, len(text)-6000):])
			}
		}
	})
	if err != nil {
		d.t.Fatalf("%s: %v", p.name, err)
	}
	return told, seen
}

// put writes a file and the directories it needs.
func put(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
