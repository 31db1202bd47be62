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

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gitcmd"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// ErrNotRepository is in the chain of the error that Open returns for a
// directory that is in no git repository at all. A repository that is there
// and cannot be read is another error.
var ErrNotRepository = errors.New("not a git repository")

// Options are what Open may be told. The zero value is right in a hook.
type Options struct {
	// Environ is the environment, each variable as KEY=VALUE; nil means the
	// process's own. What of it reaches git is in gitcmd.Reading.
	Environ []string
	// Git is the git program; empty means "git", looked up on the path.
	Git string
}

// Repo is an open repository. It is safe for concurrent use. Close must be
// called when it is no longer needed.
//
// The errors of its methods mean that the question could not be answered. They
// are *failure.Error values with what to type next, or wrap the error of a
// context that ended.
type Repo struct {
	Place

	git     gitcmd.Git
	given   gitcmd.Environ // what the caller gave
	format  format
	head    string // HEAD's commit when the repository was opened, or empty
	foreign string // the directory that git would not use by itself, or empty

	blobs   sync.Mutex // guards batch
	batch   *batch
	version struct {
		once sync.Once
		text string
		err  error
	}
}

var _ history.History = (*Repo)(nil)

// Open finds the repository of a directory as git does: from git's environment
// variables, or else by walking up. An empty dir is the current directory;
// since git reads relative paths in its variables from where it runs, a hook
// opens the current directory and nothing else.
//
// One git process is started. The error has ErrNotRepository in its chain if
// there is no repository.
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
		found = nearest(here, Ceilings(opts.Environ))
	}
	out, err := r.git.Output(ctx, nil, discovery...)
	if dubious(err) && found != "" {
		r.distrust(found)
		out, err = r.git.Output(ctx, nil, discovery...)
	}
	if a, ok := parseDiscovery(out); ok {
		// A failure after the last marker is about HEAD alone: Head decides.
		return r, r.adopt(here, a)
	}
	if err == nil {
		err = errors.New("git did not answer what was asked")
	}
	return nil, r.explainOpen(ctx, here, found, err)
}

// dubious reports whether git refused a repository because it belongs to
// another user, who could have its configuration run programs as this one, or
// because it is a bare one and the user has told git not to find such
// (safe.bareRepository).
func dubious(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "detected dubious ownership") || strings.Contains(err.Error(), "cannot use bare repository"))
}

// distrust has git read a repository that it would refuse, and run nothing that
// the repository's configuration names. Of what is asked of git here, only the
// fetch of a missing object would: so nothing is fetched.
func (r *Repo) distrust(dir string) {
	r.foreign = dir
	r.git.Options = gitcmd.ReadingOptions(dir)
	r.git.Environ = append(r.git.Environ, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
}

// Close ends the processes that were started. The Repo is of no use after it.
func (r *Repo) Close() error {
	r.blobs.Lock()
	defer r.blobs.Unlock()
	r.stopBatch()
	return nil
}

// Reader names this reader in a report.
func (r *Repo) Reader() string { return "git" }

// Version is the version of the installed git, such as "2.39.5".
func (r *Repo) Version(ctx context.Context) (string, error) {
	r.version.once.Do(func() {
		out, err := r.git.Output(ctx, nil, "version")
		r.version.text = wording.Printable(strings.TrimPrefix(strings.TrimSpace(string(out)), "git version "))
		r.version.err = r.failure("cannot tell git's version", err)
	})
	return r.version.text, r.version.err
}

// marker separates the answers of one rev-parse, since a path may hold any
// character that a line may. git rev-parse prints flags that it does not know.
const marker = "--small-gate-next"

// discovery asks everything that Open needs in one process. HEAD comes last
// because it may be unborn, and then git stops there; or goes on to a tag or a
// branch of that name, which the full name shows.
var discovery = []string{
	"rev-parse",
	"--is-bare-repository", "--is-shallow-repository", "--show-object-format", marker,
	"--absolute-git-dir", marker,
	"--git-common-dir", marker,
	"--show-cdup", marker,
	"HEAD", "--symbolic-full-name", "HEAD",
}

type answers struct {
	flags, gitDir, commonDir string
	// up is as git printed it: nothing at all where there is no work tree, an
	// empty line at its root, "../" for each level below the root, and an
	// absolute path when the work tree is elsewhere.
	up string
	// head is HEAD's commit and, on a line of its own, the full name of what HEAD
	// was taken for; without that line, git saw several.
	head string
}

func parseDiscovery(out []byte) (answers, bool) {
	parts := strings.Split(string(out), marker+"\n")
	if len(parts) != 5 {
		return answers{}, false
	}
	line := func(i int) string { return strings.TrimSuffix(parts[i], "\n") }
	return answers{flags: line(0), gitDir: line(1), commonDir: line(2), up: parts[3], head: line(4)}, true
}

// adopt fills r from git's answers. here is the physical directory in which
// git ran, from which its relative answers count.
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
	if id, name, _ := strings.Cut(a.head, "\n"); r.format.valid(id) && (name == "HEAD" || name != "" && !strings.HasSuffix(name, "/HEAD")) {
		r.head = id // else Head looks
	}
	if a.up != "" {
		r.Top = Within(here, strings.TrimSuffix(a.up, "\n"))
	}
	return nil
}

// explainOpen makes the error for a directory in which git found nothing that
// it can use.
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
	return r.failureWith(CannotOpen(here), SeeWhatGitSays, err)
}

// nearest is the directory whose ownership git checks when it walks up from
// here: the first that holds .git, or that looks like a bare repository. It is
// empty if there is none below a ceiling.
func nearest(here string, ceilings []string) string {
	for dir := here; ; dir = filepath.Dir(dir) {
		if LooksLikeRepository(dir) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir || slices.Contains(ceilings, up) {
			return ""
		}
	}
}
