package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// commands are the scripts' additions to the commands of testscript.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"server":   verb(0, "server", server),
	"entry":    verb(3, "entry TASK HH:MM EVIDENCE", entry),
	"edit":     verb(2, "edit OLD NEW", edit),
	"rev":      verb(3, "rev VARIABLE DIR REVISION", rev),
	"pull":     verb(3, "pull N HEAD BASE", pull),
	"checkout": verb(3, "checkout DIR REF DEPTH", checkout),
	"github":   verb(2, "github EVENT FILE", github),
	"serve":    verb(2, "serve VARIABLE TOKEN", serve),
	"status":   verb(-1, "status N COMMAND...", status),
}

// verb makes a command that cannot be negated and takes n arguments.
func verb(n int, usage string, run func(ts *testscript.TestScript, args []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || n >= 0 && len(args) != n || n < 0 && len(args) < 2 {
			ts.Fatalf("usage: %s", usage)
		}
		run(ts, args)
	}
}

// git runs git and returns what it printed.
func git(ts *testscript.TestScript, args ...string) string {
	ts.Check(ts.Exec("git", args...))
	return strings.TrimSpace(ts.ReadFile("stdout"))
}

// template is the repositories that server copies, made once; empty until then.
var template struct {
	sync.Mutex
	dir string
}

// server makes the platform's repository, origin.git, and a developer's clone
// of it, dev, with the valid workspace on main; the script goes on in dev.
func server(ts *testscript.TestScript, _ []string) {
	makeTemplate(ts)
	ts.Check(gittest.CopyTree(ts.MkAbs("origin.git"), filepath.Join(template.dir, "origin.git")))
	ts.Check(gittest.CopyTree(ts.MkAbs("dev"), filepath.Join(template.dir, "dev")))
	ts.Check(ts.Chdir("dev"))
	git(ts, "config", "remote.origin.url", ts.MkAbs("../origin.git"))
	git(ts, "update-index", "--refresh") // the copied files have new inodes and times
}

func makeTemplate(ts *testscript.TestScript) {
	template.Lock()
	defer template.Unlock()
	if template.dir != "" {
		return
	}
	back := ts.MkAbs(".")
	dir, err := gittest.HeldDir()
	ts.Check(err)
	origin, dev := filepath.Join(dir, "origin.git"), filepath.Join(dir, "dev")
	git(ts, "init", "-q", "--bare", "-b", "main", origin)
	git(ts, "init", "-q", "-b", "main", dev)
	ts.Check(gittest.CopyTree(dev, ts.Getenv("WORKSPACE")))
	ts.Check(ts.Chdir(dev))
	git(ts, "remote", "add", "origin", origin)
	git(ts, "add", "-A")
	git(ts, "commit", "-q", "-m", "start")
	git(ts, "push", "-q", "origin", "main")
	ts.Check(ts.Chdir(back))
	template.dir = dir
}

const log = ".small/progress.small.yml"

// entry appends an entry to the log and commits that.
func entry(ts *testscript.TestScript, args []string) {
	text := fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T%s:00.000000001Z\"\n    status: \"completed\"\n    evidence: %q\n",
		args[0], args[1], args[2])
	write(ts, log, ts.ReadFile(log)+text)
	git(ts, "commit", "-q", "-a", "-m", "record "+args[0])
}

// edit replaces the one place where the log says OLD, and commits that.
func edit(ts *testscript.TestScript, args []string) {
	content := ts.ReadFile(log)
	if n := strings.Count(content, args[0]); n != 1 {
		ts.Fatalf("the log says %q %d times, not once", args[0], n)
	}
	write(ts, log, strings.Replace(content, args[0], args[1], 1))
	git(ts, "commit", "-q", "-a", "-m", "edit")
}

func write(ts *testscript.TestScript, file, content string) {
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(content), 0o644))
}

// rev puts the id of a revision into a variable.
func rev(ts *testscript.TestScript, args []string) {
	ts.Setenv(args[0], git(ts, "-C", ts.MkAbs(args[1]), "rev-parse", "--verify", args[2]))
}

// pull opens a pull request as GitHub does: its head and the merge of head into base are refs of the server, and $HEAD, $BASE and $MERGE
// their commits. If the two conflict there is no merge.
func pull(ts *testscript.TestScript, args []string) {
	head, base := git(ts, "rev-parse", args[1]), git(ts, "rev-parse", args[2])
	ts.Setenv("HEAD", head)
	ts.Setenv("BASE", base)
	ts.Setenv("MERGE", "")
	git(ts, "push", "-q", "-f", "origin", head+":refs/pull/"+args[0]+"/head")
	if err := ts.Exec("git", "merge-tree", "--write-tree", base, head); err != nil {
		return
	}
	tree := strings.TrimSpace(ts.ReadFile("stdout"))
	merge := git(ts, "commit-tree", "-p", base, "-p", head, "-m", "Merge "+head+" into "+base, tree)
	ts.Setenv("MERGE", merge)
	git(ts, "push", "-q", "-f", "origin", merge+":refs/pull/"+args[0]+"/merge")
}

// checkout leaves a repository as actions/checkout v4 does, and goes there. A
// REF is pull/N/merge, heads/NAME or tags/NAME; DEPTH 0 is the whole history of
// all branches and tags.
func checkout(ts *testscript.TestScript, args []string) {
	dir, name, depth := ts.MkAbs(args[0]), args[1], args[2]
	origin := "file://" + filepath.ToSlash(ts.Getenv("WORK")+"/origin.git")
	git(ts, "init", "-q", dir)
	ts.Check(ts.Chdir(dir))
	git(ts, "remote", "add", "origin", origin)
	id := git(ts, "ls-remote", origin, "refs/"+name)
	id, _, _ = strings.Cut(id, "\t")
	local := "refs/remotes/" + name
	if branch, ok := strings.CutPrefix(name, "heads/"); ok {
		local = "refs/remotes/origin/" + branch
	} else if strings.HasPrefix(name, "tags/") {
		local = "refs/" + name
	}
	fetch := []string{"fetch", "-q", "--prune", "--no-recurse-submodules"}
	if depth == "0" {
		git(ts, append(fetch, "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")...)
		git(ts, append(fetch, "--no-tags", "origin", "+"+id+":"+local)...)
	} else {
		git(ts, append(fetch, "--no-tags", "--depth="+depth, "origin", "+"+id+":"+local)...)
	}
	if branch, ok := strings.CutPrefix(name, "heads/"); ok {
		git(ts, "checkout", "-q", "--force", "-B", branch, local)
	} else {
		git(ts, "checkout", "-q", "--force", local)
	}
}

// github sets the variables of a step on GitHub. FILE is the event, with the script's variables replaced.
func github(ts *testscript.TestScript, args []string) {
	event := os.Expand(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), args[1])), ts.Getenv)
	at := filepath.Join(ts.Getenv("WORK"), "event.json")
	write(ts, at, event)
	ts.Setenv("GITHUB_ACTIONS", "true")
	ts.Setenv("GITHUB_EVENT_NAME", args[0])
	ts.Setenv("GITHUB_EVENT_PATH", at)
	for _, file := range []string{"OUTPUT", "STEP_SUMMARY"} {
		at := filepath.Join(ts.Getenv("WORK"), strings.ToLower(file))
		write(ts, at, "")
		ts.Setenv("GITHUB_"+file, at)
	}
}

// serve serves $WORK over HTTP to clients with the token, as GitHub serves private repositories, including commits that are on no branch
// any more. The variable gets its address.
func serve(ts *testscript.TestScript, args []string) {
	git := &cgi.Handler{
		Path:   filepath.Join(git(ts, "--exec-path"), "git-http-backend"),
		Env:    []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "GIT_PROJECT_ROOT=" + ts.Getenv("WORK"), "GIT_HTTP_EXPORT_ALL=1"},
		Stderr: io.Discard, // what it says to the client is what counts
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, token, ok := r.BasicAuth(); !ok || token != args[1] || len(r.Header["Authorization"]) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// status runs a command and demands its exact exit status.
func status(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", filepath.Base(args[1]), err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}
