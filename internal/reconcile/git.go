package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/small"
)

// workTree is a work tree with the installed git, which stages with its own locks and filters.
type workTree struct {
	top    string
	gitDir string
	git    gitcmd.Git
	stored storedFile // by storeFile
}

func openWorkTree(place githistory.Place, environ []string) (*workTree, error) {
	git, err := place.WorkingGit(environ)
	git.Options = []string{"-c", "core.hooksPath=" + os.DevNull, "--literal-pathspecs"}
	return &workTree{top: place.Top, gitDir: place.GitDir, git: git}, err
}

func (g *workTree) run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	out, err := g.git.Output(ctx, stdin, args...)
	if err != nil {
		return nil, &failure.Error{Message: err.Error(), Err: err}
	}
	return out, nil
}

func (g *workTree) parents(ctx context.Context, id string) ([]string, error) {
	out, err := g.run(ctx, nil, "rev-list", "--parents", "--no-walk", id, "--")
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(out))
	return fields[min(1, len(fields)):], nil
}

// nameOf is the name of a branch whose tip a commit is, empty if there is none.
func (g *workTree) nameOf(ctx context.Context, id string) (string, error) {
	out, err := g.run(ctx, nil, "for-each-ref", "--points-at="+id, "--format=%(refname:short) %(symref)", "refs/heads/", "refs/remotes/")
	for line := range strings.Lines(string(out)) {
		// origin/HEAD only names another ref.
		if name, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); target == "" {
			return name, nil
		}
	}
	return "", err
}

// replaces reports whether the upstream branch has a commit that head lacks.
func (g *workTree) replaces(ctx context.Context, head, commit string) (bool, error) {
	upstream, err := g.run(ctx, nil, "for-each-ref", "--format=%(HEAD)%(upstream)", "refs/heads/")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(upstream)) {
		ref, here := strings.CutPrefix(strings.TrimSpace(line), "*")
		if !here || ref == "" {
			continue
		}
		in, err := g.run(ctx, nil, "for-each-ref", "--contains="+commit, "--format=%(refname)", ref)
		if err != nil || len(in) == 0 {
			return false, err
		}
		lacks, err := g.run(ctx, nil, "rev-list", "--max-count=1", commit, "--not", head, "--")
		return len(lacks) > 0, err
	}
	return false, nil
}

// store writes a blob and returns its id.
func (g *workTree) store(ctx context.Context, content []byte) (string, error) {
	out, err := g.run(ctx, bytes.NewReader(content), "hash-object", "-w", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// storeFile writes the blob that a file of the work tree would be committed as. It remembers the last one.
func (g *workTree) storeFile(ctx context.Context, path string, content []byte) (string, error) {
	if path == g.stored.path && bytes.Equal(content, g.stored.content) {
		return g.stored.blob, nil
	}
	out, err := g.run(ctx, bytes.NewReader(content), "hash-object", "-w", "--stdin", "--path="+path)
	if err == nil {
		g.stored = storedFile{path, content, strings.TrimSpace(string(out))}
	}
	return strings.TrimSpace(string(out)), err
}

type storedFile struct {
	path    string
	content []byte
	blob    string
}

// checkedOut is a blob as git would check it out, with the line ends and filters of git's attributes.
func (g *workTree) checkedOut(ctx context.Context, path, blob string) ([]byte, error) {
	return g.run(ctx, nil, "cat-file", "--filters", "--path="+path, blob)
}

// stage puts blobs into the index, all or none of them. That resolves a conflict at a path.
func (g *workTree) stage(ctx context.Context, files []change) error {
	var lines bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&lines, "%s %s 0\t%s\x00", f.mode, f.blob, f.path)
	}
	_, err := g.run(ctx, &lines, "update-index", "-z", "--index-info")
	return err
}

// stageAsIs stages files as they are in the work tree.
func (g *workTree) stageAsIs(ctx context.Context, paths ...string) error {
	var changes []change
	for _, path := range paths {
		data, err := readFile(g.top, path)
		if err != nil {
			return err
		}
		blob, err := g.storeFile(ctx, path, data)
		if err != nil {
			return err
		}
		changes = append(changes, change{path: path, mode: "100644", blob: blob})
	}
	return g.stage(ctx, changes)
}

// dirty reports whether a path differs from HEAD in the index or the work tree.
func (g *workTree) dirty(ctx context.Context, path string) (bool, error) {
	out, err := g.run(ctx, nil, "status", "--porcelain", "-z", "--untracked-files=all", "--", path)
	return len(out) > 0, err
}

// markerSize is the length of the shortest conflict marker that git writes into any of some files.
func (g *workTree) markerSize(ctx context.Context, paths []string) (int, error) {
	out, err := g.run(ctx, strings.NewReader(strings.Join(paths, "\x00")), "check-attr", "-z", "--stdin", "conflict-marker-size")
	size := small.MarkerSize
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 3; fields = fields[3:] { // path, attribute, value
		if told, notOne := strconv.Atoi(fields[2]); notOne == nil && told > 0 {
			size = min(size, told)
		}
	}
	return size, err
}

// remembers reports whether git can bring back a conflict at one of some paths, which was marked as resolved.
func (g *workTree) remembers(ctx context.Context, paths ...string) (bool, error) {
	out, err := g.run(ctx, nil, append([]string{"ls-files", "--resolve-undo", "--"}, paths...)...)
	return len(out) > 0, err
}

// unmerged lists all paths in conflict, in order.
func (g *workTree) unmerged(ctx context.Context) ([]string, error) {
	out, err := g.run(ctx, nil, "diff", "--name-only", "--diff-filter=U", "--no-ext-diff", "-z")
	if len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// staged lists the paths at which the index differs from HEAD, those in conflict among them.
func (g *workTree) staged(ctx context.Context) ([]byte, error) {
	return g.run(ctx, nil, "diff", "--cached", "--name-only", "--no-ext-diff", "HEAD")
}

// diff shows what is staged at some paths against HEAD.
func (g *workTree) diff(ctx context.Context, paths []string) (string, error) {
	out, err := g.run(ctx, nil, append([]string{"diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD", "--"}, paths...)...)
	return string(out), err
}
