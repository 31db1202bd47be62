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
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// ErrNotRepository is wrapped by the error that Open returns for a directory outside any git repository. A repository that exists but cannot be
// read gives another error.
var ErrNotRepository = errors.New("not a git repository")

// Options says how Open runs git. The zero value is right in a hook.
type Options struct {
	// Environ is the environment, each variable as KEY=VALUE; nil means the process's own. gitcmd.Reading says which variables are passed to
	// git.
	Environ []string
	// Git is the git program; empty means "git", looked up on the path.
	Git string
}

// Repo is an open repository. It is safe for concurrent use. Close it when it is no longer needed.
//
// A method that returns an error gives no answer. The error is a *failure.Error, or wraps the error of a context that ended.
type Repo struct {
	Place

	git           gitcmd.Git
	callerEnviron gitcmd.Environ // the environment as the caller gave it
	format        Format
	head          string // HEAD's commit when the repository was opened, or empty
	distrusted    string // see distrust; empty if git trusts the repository
	// headHasNoConfig is true if Open found that HEAD's commit has no configuration. Every hook has to know that.
	headHasNoConfig bool

	heldIndex atomic.Pointer[[]history.File] // see HoldIndex
	bases     sync.Map                       // merge bases by [2]string of commits; they never change

	blobs        sync.Mutex // held while batch or sizes is used
	batch, sizes *batch     // sizes only tells the sizes of objects
}

var _ history.History = (*Repo)(nil)

// Open finds the repository of a directory as git does: from git's environment variables, or else by walking up. An empty dir is the
// current directory. git resolves relative paths in its variables from where it runs, so a hook must open the current directory.
//
// It starts one git process, and a second one if git refuses the repository as unsafe. The error wraps ErrNotRepository if there is no
// repository.
func Open(ctx context.Context, dir string, opts Options) (*Repo, error) {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	here, err := Physical(dir)
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot open %s: %v", wording.Printable(dir), err), Err: err}
	}
	r := &Repo{
		git:           gitcmd.Git{Program: opts.Git, Dir: dir, Environ: gitcmd.Reading(opts.Environ), Options: gitcmd.ReadingOptions("")},
		callerEnviron: opts.Environ,
	}
	found := ""
	if gitcmd.Environ(opts.Environ).Get("GIT_DIR") == "" {
		found = Nearest(here, opts.Environ)
	}
	out, err := r.git.Output(ctx, nil, discovery...)
	if refusedAsUnsafe(err) && found != "" {
		r.distrust(found)
		out, err = r.git.Output(ctx, nil, discovery...)
	}
	if a, ok := parseDiscovery(out); ok {
		// If rev-parse fails after these answers, the failure is only about HEAD, and Head reports it.
		return r, r.applyAnswers(here, a)
	}
	if err == nil {
		err = errors.New("git did not answer what was asked")
	}
	return nil, r.explainOpen(ctx, here, found, err)
}

// refusedAsUnsafe reports whether git refused a repository because it belongs to another user, or because it is bare and the user has told git
// not to find such repositories by itself (safe.bareRepository). The configuration of such a repository could run programs as the user.
func refusedAsUnsafe(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "detected dubious ownership") || strings.Contains(err.Error(), "cannot use bare repository"))
}

// distrust lets git read a repository that it refused, at dir, without running any program that the repository's configuration names. Of the git
// commands used here, only fetching a missing object could run one, so nothing is fetched.
func (r *Repo) distrust(dir string) {
	r.distrusted = dir
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

// Reader returns the name of this reader in a report.
func (r *Repo) Reader() string { return "git" }

// Version returns the version of the installed git, such as "2.39.5".
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.git.Output(ctx, nil, "version")
	return wording.Printable(strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")), r.failure("cannot tell git's version", err)
}

// marker separates the answers of one rev-parse: git prints unknown flags unchanged, and a path may contain newlines.
const marker = "--small-gate-next"

// discovery asks for everything that Open needs with one process. The questions about HEAD are last, because git stops there if HEAD has no
// commit. git may also take a tag or a branch with the name HEAD instead; the full name shows that.
var discovery = []string{
	"rev-parse",
	"--is-bare-repository", "--is-shallow-repository", "--show-object-format", marker,
	"--absolute-git-dir", marker,
	"--git-common-dir", marker,
	"--show-cdup", marker,
	"HEAD", "--symbolic-full-name", "HEAD", marker,
	headTree, headConfig,
}

// rev-parse prints these two unchanged if HEAD's tree cannot be read, or has no configuration. Otherwise it prints nothing for them, because
// they have no symbolic names.
const (
	headTree   = "HEAD^{tree}"
	headConfig = "HEAD:" + policy.File
)

type answers struct {
	flags, gitDir, commonDir string
	// up is what git printed about the root of the work tree: nothing if there is none, an empty line at the root, "../" for each level below
	// it, or an absolute path if the work tree is elsewhere.
	up string
	// head is HEAD's commit and, on the next line, the full name that HEAD was resolved to. If HEAD was ambiguous, that line is missing.
	head string
	// headHasNoConfig is true if HEAD's tree can be read and has no configuration.
	headHasNoConfig bool
}

func parseDiscovery(out []byte) (answers, bool) {
	parts := strings.Split(string(out), marker+"\n")
	if len(parts) != 5 && len(parts) != 6 {
		return answers{}, false
	}
	line := func(i int) string { return strings.TrimSuffix(parts[i], "\n") }
	a := answers{flags: line(0), gitDir: line(1), commonDir: line(2), up: parts[3], head: line(4)}
	a.headHasNoConfig = len(parts) == 6 && line(5) == headConfig
	return a, true
}

// applyAnswers sets the fields of r from git's answers. here is the physical directory in which git ran; relative answers refer to it.
func (r *Repo) applyAnswers(here string, a answers) error {
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
		r.head, r.headHasNoConfig = id, a.headHasNoConfig // otherwise Head looks HEAD up
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
	case refusedAsUnsafe(err):
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

// Nearest returns the directory whose owner git checks when it walks up from here: the first one that has a .git or looks like a bare
// repository. It is empty if there is none before a ceiling (GIT_CEILING_DIRECTORIES).
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
