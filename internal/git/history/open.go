package githistory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// ErrNotRepository is in the chain of the error that Open returns for a directory outside any git repository. A repository that exists but
// cannot be read is another error.
var ErrNotRepository = errors.New("not a git repository")

// Options are options of Open. The zero value is right in a hook.
type Options struct {
	// Environ is the environment, each variable as KEY=VALUE; nil means the process's own. gitcmd.Reading says what git gets of it.
	Environ []string
	// Git is the git program; empty means "git", looked up on the path.
	Git string
}

// Repo is an open repository. It is safe for concurrent use. Close it when it is no longer needed.
//
// An error of its methods means that there is no answer. It is a *failure.Error with a remedy, or wraps the error of a context that ended.
type Repo struct {
	Place

	git     gitcmd.Git
	given   gitcmd.Environ // as the caller gave it
	format  Format
	head    string // HEAD's commit when the repository was opened, or empty
	foreign string // the directory that git would refuse to use by itself, or empty
	// unconfigured is true if HEAD's commit is known to have no configuration, which every hook needs to know.
	unconfigured bool

	held atomic.Pointer[[]history.File] // see HoldIndex

	blobs        sync.Mutex // guards batch and sizes
	batch, sizes *batch     // sizes tells the sizes of blobs alone
}

var _ history.History = (*Repo)(nil)

// Open finds the repository of a directory as git does: from git's environment variables, or else by walking up. An empty dir is the
// current directory. git resolves relative paths in its variables from where it runs, so a hook must open the current directory.
//
// It starts one git process. The error has ErrNotRepository in its chain if there is no repository.
func Open(ctx context.Context, dir string, opts Options) (*Repo, error) {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	here, err := Physical(dir)
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot open %s: %v", wording.Printable(dir), err), Err: err}
	}
	r := &Repo{
		git:   gitcmd.Git{Program: opts.Git, Dir: dir, Environ: gitcmd.Reading(opts.Environ), Options: gitcmd.ReadingOptions("")},
		given: opts.Environ,
	}
	found := ""
	if gitcmd.Environ(opts.Environ).Get("GIT_DIR") == "" {
		found = Nearest(here, opts.Environ)
	}
	out, err := r.git.Output(ctx, nil, discovery...)
	if dubious(err) && found != "" {
		r.distrust(found)
		out, err = r.git.Output(ctx, nil, discovery...)
	}
	if a, ok := parseDiscovery(out); ok {
		// A later failure of rev-parse is about HEAD only: Head decides.
		return r, r.adopt(here, a)
	}
	if err == nil {
		err = errors.New("git did not answer what was asked")
	}
	return nil, r.explainOpen(ctx, here, found, err)
}

// dubious reports whether git refused a repository because it belongs to another user, who could have its configuration run programs as
// this one, or because it is bare and the user has told git not to use such repositories (safe.bareRepository).
func dubious(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "detected dubious ownership") || strings.Contains(err.Error(), "cannot use bare repository"))
}

// distrust has git read a repository that it would refuse, and run nothing that the repository's configuration names. Of the git commands
// used here, only fetching a missing object could do that: so nothing is fetched.
func (r *Repo) distrust(dir string) {
	r.foreign = dir
	r.git.Options = gitcmd.ReadingOptions(dir)
	r.git.Environ = append(r.git.Environ, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
}

// Close ends the processes that were started. The Repo cannot be used afterwards.
func (r *Repo) Close() error {
	r.blobs.Lock()
	defer r.blobs.Unlock()
	stopBatch(&r.batch)
	stopBatch(&r.sizes)
	return nil
}

// Reader is this reader's name in a report.
func (r *Repo) Reader() string { return "git" }

// Version is the version of the installed git, such as "2.39.5".
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.git.Output(ctx, nil, "version")
	return wording.Printable(strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")), r.failure("cannot tell git's version", err)
}

// marker separates the answers of one rev-parse, since a path may contain newlines. git rev-parse prints unknown flags unchanged.
const marker = "--small-gate-next"

// discovery asks for everything that Open needs in one process. HEAD is last because git stops there if it is unborn, or falls back to a
// tag or a branch of that name, which the full name shows. The same is true for the contents of HEAD.
var discovery = []string{
	"rev-parse",
	"--is-bare-repository", "--is-shallow-repository", "--show-object-format", marker,
	"--absolute-git-dir", marker,
	"--git-common-dir", marker,
	"--show-cdup", marker,
	"HEAD", "--symbolic-full-name", "HEAD", marker,
	headTree, headConfig,
}

// git rev-parse prints these back if HEAD's tree cannot be read, or has nothing at the path. Otherwise it prints nothing, since they have
// no symbolic names.
const (
	headTree   = "HEAD^{tree}"
	headConfig = "HEAD:" + policy.File
)

type answers struct {
	flags, gitDir, commonDir string
	// up is what git printed: nothing if there is no work tree, an empty line at its root, "../" for each level below the root, or an
	// absolute path if the work tree is elsewhere.
	up string
	// head is HEAD's commit and, on the next line, the full name that HEAD was resolved to; without that line it was ambiguous.
	head string
	// unconfigured is true if HEAD's tree can be read and has no configuration.
	unconfigured bool
}

func parseDiscovery(out []byte) (answers, bool) {
	parts := strings.Split(string(out), marker+"\n")
	if len(parts) != 5 && len(parts) != 6 {
		return answers{}, false
	}
	line := func(i int) string { return strings.TrimSuffix(parts[i], "\n") }
	a := answers{flags: line(0), gitDir: line(1), commonDir: line(2), up: parts[3], head: line(4)}
	a.unconfigured = len(parts) == 6 && line(5) == headConfig
	return a, true
}

// adopt fills r from git's answers. here is the physical directory in which git ran; relative answers refer to it.
func (r *Repo) adopt(here string, a answers) error {
	flags := strings.Split(a.flags, "\n")
	if len(flags) != 3 {
		return &failure.Error{Message: "git did not say what kind of repository this is", Remedy: oldGit}
	}
	var ok bool
	if r.format, ok = formats[flags[2]]; !ok {
		return &failure.Error{
			Message: fmt.Sprintf("the repository's object format %s is unknown", wording.Printable(flags[2])),
			Remedy:  oldGit,
		}
	}
	r.Bare = flags[0] == "true"
	r.Shallow = flags[1] == "true"
	r.GitDir = Within(here, a.gitDir)
	r.CommonDir = Within(here, a.commonDir)
	if id, name, _ := strings.Cut(a.head, "\n"); r.format.Valid(id) && (name == "HEAD" || name != "" && !strings.HasSuffix(name, "/HEAD")) {
		r.head, r.unconfigured = id, a.unconfigured // else Head looks it up
	}
	if a.up != "" {
		r.Top = Within(here, strings.TrimSuffix(a.up, "\n"))
	}
	return nil
}

// explainOpen makes the error for a directory in which git found nothing usable.
func (r *Repo) explainOpen(ctx context.Context, here, found string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("opening the repository: %w", ctx.Err())
	}
	said := err.Error()
	switch {
	case strings.Contains(said, "not a git repository (or any") && found == "":
		return Nowhere(here)
	case dubious(err):
		return &failure.Error{
			Message: fmt.Sprintf("the repository at %s belongs to another user, and this git cannot be told to allow it for one command", wording.Printable(found)),
			Remedy:  "`git config --global --add safe.directory " + wording.ShellWord(wording.Printable(found)) + "`",
			Err:     err,
		}
	case strings.Contains(said, "repository extension") || strings.Contains(said, "git repo version"):
		version, _ := r.Version(ctx) //nolint:errcheck // only a detail of a message that is an error already
		return &failure.Error{
			Message: fmt.Sprintf("the installed git %s cannot read this repository: %s", version, wording.Printable(said)),
			Remedy:  "install a newer git",
			Err:     err,
		}
	}
	return r.failureWith(CannotOpen(here), "see what else git says: `git status`", err)
}

// Nearest is the directory whose owner git checks when it walks up from here: the first one with a .git, or that looks like a bare
// repository. It is empty if there is none below a ceiling.
func Nearest(here string, environ gitcmd.Environ) string {
	stop := ceilings(environ)
	for dir := here; ; dir = filepath.Dir(dir) {
		if looksLikeRepository(dir) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir || slices.Contains(stop, up) {
			return ""
		}
	}
}
