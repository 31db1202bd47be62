package workgit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/small"
)

// Tree is a work tree with the installed git.
type Tree struct {
	Top, GitDir string
	Git         gitcmd.Git
}

// Open returns the work tree of a place.
func Open(place githistory.Place, environ []string) (*Tree, error) {
	git, err := place.WorkingGit(environ)
	git.Options = []string{"-c", "core.hooksPath=" + os.DevNull, "--literal-pathspecs"}
	return &Tree{Top: place.Top, GitDir: place.GitDir, Git: git}, err
}

// Run runs git, and returns its output.
func (g *Tree) Run(ctx context.Context, args ...string) ([]byte, error) {
	return g.RunInput(ctx, nil, args...)
}

// RunInput is Run with an input.
func (g *Tree) RunInput(ctx context.Context, input io.Reader, args ...string) ([]byte, error) {
	out, err := g.Git.Output(ctx, input, args...)
	if err != nil {
		return nil, &failure.Error{Message: err.Error(), Err: err}
	}
	return out, nil
}

// Parents returns a commit's parents.
func (g *Tree) Parents(ctx context.Context, id string) ([]string, error) {
	out, err := g.Run(ctx, "rev-list", "--parents", "--no-walk", id, "--")
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(out))
	return fields[min(1, len(fields)):], nil
}

// NameOf returns the name of a branch whose tip is a commit; empty if there is none.
func (g *Tree) NameOf(ctx context.Context, id string) (string, error) {
	out, err := g.Run(ctx, "for-each-ref", "--points-at="+id, "--format=%(refname:short) %(symref)", "refs/heads/", "refs/remotes/")
	for line := range strings.Lines(string(out)) {
		// origin/HEAD only names another ref.
		if name, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); target == "" {
			return name, nil
		}
	}
	return "", err
}

// IsDropped reports whether the upstream branch has a commit that is not reachable from head.
func (g *Tree) IsDropped(ctx context.Context, head, commit string) (bool, error) {
	upstream, err := g.Run(ctx, "for-each-ref", "--format=%(HEAD)%(upstream)", "refs/heads/")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(upstream)) {
		ref, here := strings.CutPrefix(strings.TrimSpace(line), "*")
		if !here || ref == "" {
			continue
		}
		in, err := g.Run(ctx, "for-each-ref", "--contains="+commit, "--format=%(refname)", ref)
		if err != nil || len(in) == 0 {
			return false, err
		}
		lacks, err := g.Run(ctx, "rev-list", "--max-count=1", commit, "--not", head, "--")
		return len(lacks) > 0, err
	}
	return false, nil
}

// Store writes a blob and returns its id.
func (g *Tree) Store(ctx context.Context, content []byte) (string, error) {
	out, err := g.RunInput(ctx, bytes.NewReader(content), "hash-object", "-w", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// StoreFile writes the blob that git would commit for a file of the work tree.
func (g *Tree) StoreFile(ctx context.Context, path string, content []byte) (string, error) {
	out, err := g.RunInput(ctx, bytes.NewReader(content), "hash-object", "-w", "--stdin", "--path="+path)
	return strings.TrimSpace(string(out)), err
}

// CheckedOut returns a blob as git would check it out, with the line ends and filters of git's attributes. It is never nil without an error.
func (g *Tree) CheckedOut(ctx context.Context, path, blob string) ([]byte, error) {
	out, err := g.Run(ctx, "cat-file", "--filters", "--path="+path, blob)
	return append([]byte{}, out...), err
}

// StoreCheckedOut writes a blob. It returns the blob's id, and the content as git would check it out.
func (g *Tree) StoreCheckedOut(ctx context.Context, path string, content []byte) (blob string, disk []byte, err error) {
	if blob, err = g.Store(ctx, content); err == nil {
		disk, err = g.CheckedOut(ctx, path, blob)
	}
	return blob, disk, err
}

// Stage puts files into the index, all or none. That resolves conflicts at their paths. A file without a mode keeps the one that it has in
// the index, or else in HEAD.
func (g *Tree) Stage(ctx context.Context, files []history.File) error {
	files, err := g.withModes(ctx, files)
	if err != nil {
		return err
	}
	_, err = g.RunInput(ctx, strings.NewReader(IndexInfo(files)), "update-index", "-z", "--index-info")
	return err
}

// IndexInfo returns the input with which git update-index -z --index-info stages files.
func IndexInfo(files []history.File) string {
	var lines strings.Builder
	for _, f := range files {
		fmt.Fprintf(&lines, "%s %s 0\t%s\x00", f.Mode, f.Object, f.Path)
	}
	return lines.String()
}

// withModes fills in missing modes: that of a regular file at the path in the index, or else in HEAD, or else 100644.
func (g *Tree) withModes(ctx context.Context, files []history.File) ([]history.File, error) {
	var paths []string
	for _, f := range files {
		if f.Mode == "" {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return files, nil
	}
	modes := map[string]string{}
	note := func(list []byte) { // MODE …<tab>PATH, each ended by NUL
		for line := range strings.SplitSeq(string(list), "\x00") {
			what, path, _ := strings.Cut(line, "\t")
			mode, _, _ := strings.Cut(what, " ")
			if _, known := modes[path]; !known && (history.File{Mode: mode}).Regular() {
				modes[path] = mode
			}
		}
	}
	list, err := g.Run(ctx, append([]string{"ls-files", "-s", "-z", "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	note(list)
	if len(modes) < len(paths) {
		tree, err := g.Run(ctx, "rev-parse", "-q", "--verify", "HEAD^{tree}")
		if err == nil {
			list, err = g.Run(ctx, append([]string{"ls-tree", "-z", "--full-tree", strings.TrimSpace(string(tree)), "--"}, paths...)...)
			note(list)
		}
		if err != nil && !gitcmd.ExitedWith(err, 1) { // 1: there is no commit yet
			return nil, err
		}
	}
	files = slices.Clone(files)
	for i := range files {
		if files[i].Mode == "" {
			files[i].Mode = cmp.Or(modes[files[i].Path], history.ModePlain)
		}
	}
	return files, nil
}

// StageAsIs stages files of the work tree without changing them.
func (g *Tree) StageAsIs(ctx context.Context, paths ...string) error {
	var files []history.File
	for _, path := range paths {
		data, err := ReadFile(g.Top, path)
		if err != nil {
			return err
		}
		blob, err := g.StoreFile(ctx, path, data)
		if err != nil {
			return err
		}
		files = append(files, history.File{Path: path, Object: blob})
	}
	return g.Stage(ctx, files)
}

// Dirty reports whether a path differs from HEAD in the index or the work tree.
func (g *Tree) Dirty(ctx context.Context, path string) (bool, error) {
	out, err := g.Run(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--", path)
	return len(out) > 0, err
}

// MarkerSize returns the length of the shortest conflict marker that git writes into any of the files.
func (g *Tree) MarkerSize(ctx context.Context, paths []string) (int, error) {
	out, err := g.RunInput(ctx, strings.NewReader(strings.Join(paths, "\x00")), "check-attr", "-z", "--stdin", "conflict-marker-size")
	size := small.MarkerSize
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 3; fields = fields[3:] { // path, attribute, value
		if told, notOne := strconv.Atoi(fields[2]); notOne == nil && told > 0 {
			size = min(size, told)
		}
	}
	return size, err
}

// Remembered lists the versions that a file had in a conflict that was resolved, by stage and path, as git keeps them in the index. It lists none if
// the resolution is committed: going back to the conflict would lose later entries.
func (g *Tree) Remembered(ctx context.Context, paths ...string) (map[string]map[string]history.File, error) {
	out, err := g.Run(ctx, append([]string{"ls-files", "--resolve-undo", "-z", "--"}, paths...)...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	staged, err := g.Run(ctx, append([]string{"diff", "--cached", "--name-only", "--no-ext-diff", "HEAD", "--"}, paths...)...)
	if err != nil || len(staged) == 0 {
		return nil, err
	}
	return byStage(out), nil
}

// Unmerged lists all paths in conflict, in the order in which the user's git shows files.
func (g *Tree) Unmerged(ctx context.Context) ([]string, error) {
	out, err := g.Run(ctx, "diff", "--name-only", "--diff-filter=U", "--no-ext-diff", "-z")
	if len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// StagedPaths lists the paths at which the index differs from HEAD, including those in conflict.
func (g *Tree) StagedPaths(ctx context.Context) ([]byte, error) {
	return g.Run(ctx, "diff", "--cached", "--name-only", "--no-ext-diff", "HEAD")
}

// Diff shows what is staged at some paths, compared with HEAD.
func (g *Tree) Diff(ctx context.Context, paths []string) (string, error) {
	out, err := g.Run(ctx, append([]string{"diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD", "--"}, paths...)...)
	return string(out), err
}

// Stages lists the files in conflict, by stage and path.
func (g *Tree) Stages(ctx context.Context) (map[string]map[string]history.File, error) {
	out, err := g.Run(ctx, "ls-files", "--unmerged", "-z")
	return byStage(out), err
}

// byStage parses lines of mode, object, stage and path, as git ls-files -z prints them.
func byStage(lines []byte) map[string]map[string]history.File {
	files := map[string]map[string]history.File{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(lines), "\x00"), "\x00") {
		entry, path, _ := strings.Cut(line, "\t")
		fields := strings.Fields(entry)
		if len(fields) != 3 {
			continue
		}
		if files[fields[2]] == nil {
			files[fields[2]] = map[string]history.File{}
		}
		files[fields[2]][path] = history.File{Path: path, Mode: fields[0], Object: fields[1]}
	}
	return files
}
