package githistory

import (
	"cmp"
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
	"github.com/small-gate/small-gate/internal/base/program"
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
	callerEnviron program.Environ // the environment as the caller gave it
	format        Format
	head          string // HEAD's commit when the repository was opened; empty if Open did not find it
	untrustedDir  string // the directory passed to allowUntrusted; empty if git trusts the repository
	// headHasNoConfig is true if Open found that HEAD's commit has no configuration file. Every hook asks that, so Open finds out in passing.
	headHasNoConfig bool

	indexFiles atomic.Pointer[[]history.File] // see ListIndex
	bases      sync.Map                       // merge bases by [2]string of commits; they never change

	batchMutex   sync.Mutex // held while batch or sizes is used
	batch, sizes *batch     // batch reads whole objects, sizes only their sizes
}

var _ history.History = (*Repo)(nil)

// Open finds the repository of a directory as git does: from git's environment variables, or else by walking up. An empty dir is the
// current directory. git resolves relative paths in its variables against the directory where it runs, so a hook must open the current one.
//
// It starts one git process, and a second one if git refuses the repository as unsafe. The error wraps ErrNotRepository if there is no
// repository.
func Open(ctx context.Context, dir string, opts Options) (*Repo, error) {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	here, err := Physical(dir)
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot open %s: %v", wording.Printable(cmp.Or(dir, "the current directory")), err), Err: err}
	}
	r := &Repo{
		git:           gitcmd.Git{Program: opts.Git, Dir: dir, Environ: gitcmd.Reading(opts.Environ), Options: gitcmd.ReadingOptions("")},
		callerEnviron: opts.Environ,
	}
	found := ""
	if program.Environ(opts.Environ).Get("GIT_DIR") == "" {
		found = Nearest(here, opts.Environ)
	}
	out, err := r.git.Output(ctx, nil, discoveryArgs...)
	if refusedAsUnsafe(err) && found != "" {
		r.allowUntrusted(found)
		out, err = r.git.Output(ctx, nil, discoveryArgs...)
	}
	if a, ok := parseDiscovery(out); ok {
		// If rev-parse fails after these answers, the failure concerns only HEAD, and Head reports it.
		return r, r.applyAnswers(here, a)
	}
	if err == nil {
		err = errors.New("git rev-parse printed unexpected answers")
	}
	return nil, r.explainOpenError(ctx, here, found, err)
}

// refusedAsUnsafe reports whether git refused a repository because it belongs to another user, or because it is bare and the user has told git
// not to find such repositories by itself (safe.bareRepository). The configuration of such a repository could run programs as the user.
func refusedAsUnsafe(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "detected dubious ownership") || strings.Contains(err.Error(), "cannot use bare repository"))
}

// allowUntrusted lets git read the repository at dir, which git refused as unsafe. No program that the repository's configuration names may run.
// Of the git commands used here, only fetching a missing object and a merge could run one, so nothing is fetched, and see [Repo.TryMerge].
func (r *Repo) allowUntrusted(dir string) {
	r.untrustedDir = dir
	r.git.Options = gitcmd.ReadingOptions(dir)
	r.git.Environ = append(r.git.Environ, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
}

// Close ends the git processes that read objects. The Repo cannot be used afterwards.
func (r *Repo) Close() error {
	r.batchMutex.Lock()
	defer r.batchMutex.Unlock()
	stopBatch(&r.batch)
	stopBatch(&r.sizes)
	return nil
}

// Reader returns the name of this reader in a report.
func (r *Repo) Reader() string { return "git" }

// Version returns the version of the installed git, such as "2.39.5".
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.git.Output(ctx, nil, "version")
	return wording.Printable(strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")), r.toFailure("cannot find out git's version", err)
}

// separator is an unknown flag, which rev-parse prints unchanged. It separates the answers, because a path may contain newlines.
const separator = "--small-gate-next"

// discoveryArgs ask one process for everything that Open needs. The questions about HEAD are last, because git stops there if HEAD has no
// commit. git may also resolve HEAD to a tag or a branch with that name; the full name shows it.
var discoveryArgs = []string{
	"rev-parse",
	"--is-bare-repository", "--is-shallow-repository", "--show-object-format", separator,
	"--absolute-git-dir", separator,
	"--git-common-dir", separator,
	"--show-cdup", separator,
	"HEAD", "--symbolic-full-name", "HEAD", separator,
	headTree, headConfig,
}

// rev-parse prints headTree unchanged if HEAD's tree cannot be read, and headConfig if the tree has no configuration file. Otherwise it prints
// nothing for them, because --symbolic-full-name is in effect and neither has a symbolic name.
const (
	headTree   = "HEAD^{tree}"
	headConfig = "HEAD:" + policy.File
)

type answers struct {
	flags, gitDir, commonDir string
	// cdup is the answer to --show-cdup, which leads to the root of the work tree: nothing if there is no work tree, an empty line at the root,
	// "../" for each level below it, or an absolute path if the work tree is elsewhere.
	cdup string
	// head is HEAD's commit and, on the next line, the full name to which git resolved HEAD. If HEAD was ambiguous, the second line is missing.
	head string
	// headHasNoConfig is true if HEAD's tree can be read and has no configuration file.
	headHasNoConfig bool
}

func parseDiscovery(out []byte) (answers, bool) {
	parts := strings.Split(string(out), separator+"\n")
	if len(parts) != 5 && len(parts) != 6 {
		return answers{}, false
	}
	line := func(i int) string { return strings.TrimSuffix(parts[i], "\n") }
	a := answers{flags: line(0), gitDir: line(1), commonDir: line(2), cdup: parts[3], head: line(4)}
	a.headHasNoConfig = len(parts) == 6 && line(5) == headConfig
	return a, true
}

// applyAnswers sets the fields of r from git's answers. here is the physical directory in which git ran; relative answers start from it.
func (r *Repo) applyAnswers(here string, a answers) error {
	flags := strings.Split(a.flags, "\n")
	if len(flags) != 3 {
		return &failure.Error{Message: "git did not say what kind of repository this is", Remedy: newerGitRemedy}
	}
	var ok bool
	if r.format, ok = formatsByName[flags[2]]; !ok {
		return &failure.Error{
			Message: fmt.Sprintf("the repository's object format %s is unknown", wording.Printable(flags[2])),
			Remedy:  newerGitRemedy,
		}
	}
	r.Bare = flags[0] == "true"
	r.Shallow = flags[1] == "true"
	r.GitDir = Within(here, a.gitDir)
	r.CommonDir = Within(here, a.commonDir)
	if id, name, _ := strings.Cut(a.head, "\n"); r.format.Valid(id) && (name == "HEAD" || name != "" && !strings.HasSuffix(name, "/HEAD")) {
		r.head, r.headHasNoConfig = id, a.headHasNoConfig // otherwise the method Head looks it up
	}
	if a.cdup != "" {
		r.Top = Within(here, strings.TrimSuffix(a.cdup, "\n"))
	}
	return nil
}

// explainOpenError makes the error for a directory in which git found no repository that it can use. found is what Nearest returned.
func (r *Repo) explainOpenError(ctx context.Context, here, found string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("opening the repository: %w", ctx.Err())
	}
	said := err.Error()
	switch {
	case strings.Contains(said, "not a git repository (or any") && found == "":
		return Nowhere(here)
	case refusedAsUnsafe(err):
		return &failure.Error{
			Message: fmt.Sprintf("the repository at %s belongs to another user, and this git allows no exception for a single command", wording.Printable(found)),
			Remedy:  "`git config --global --add safe.directory " + wording.ShellWord(found) + "`",
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
	return r.toFailureWithRemedy(CannotOpen(here), "see what else git says: `git status`", err)
}

// Nearest returns the directory whose owner git checks when it walks up from here: the first one that has a .git or looks like a bare
// repository. It returns an empty text if it reaches a ceiling (GIT_CEILING_DIRECTORIES) or the root first. It does not stop at a mount point, as git does
// unless GIT_DISCOVERY_ACROSS_FILESYSTEM is set.
func Nearest(here string, environ program.Environ) string {
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
