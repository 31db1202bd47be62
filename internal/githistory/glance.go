package githistory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/policy"
)

// Untouched reports whether it is certain that a commit of the index changes
// nothing of interest: no merge is being concluded, no path below a .small
// directory (nor the policy file, nor a workflow) differs from HEAD, and nothing
// is taken away where there are workflows, which may have named it. Where the work
// tree's policy file may name further files, nothing is certain. That is the answer
// to most commits, and one git process finds it; a second one where something is
// taken away. false says nothing: open the
// repository and look closely, also to learn of any trouble.
func Untouched(ctx context.Context, dir string, opts Options) bool {
	if opts.Git == "" {
		opts.Git = "git"
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	here, err := physical(dir)
	if err != nil {
		return false
	}
	found, gitDir := "", lookup(opts.Environ, "GIT_DIR")
	if gitDir == "" {
		if found = nearest(here, ceilings(opts.Environ)); found == "" {
			return false
		}
		gitDir = linkedDir(filepath.Join(found, ".git"))
	}
	merge := filepath.Join(absolute(here, gitDir), "MERGE_HEAD")
	if _, err := os.Lstat(merge); gitDir == "" || !errors.Is(err, os.ErrNotExist) || !exists(filepath.Dir(merge)) {
		return false
	}
	if asksForMore(cmp.Or(found, here)) {
		return false
	}
	r := &Repo{git: opts.Git, dir: dir, environ: scrubbed(opts.Environ), config: fixedConfig("")}
	args := slices.Concat([]string{"diff-index", "--cached", "--ita-invisible-in-index"}, rawArgs, []string{"HEAD", "--"})
	out, err := r.output(ctx, nil, args...)
	if err != nil {
		return false
	}
	watch := DefaultWatch()
	untouched, takes := glance(string(out), watch)
	if untouched && takes {
		out, err = r.output(ctx, nil, slices.Concat([]string{"ls-files", "--"}, watch.pathspecs())...)
		return err == nil && len(out) == 0
	}
	return untouched
}

// glance reads what git printed of a commit in the raw format: whether it is
// certain that nothing of interest is touched, and whether anything is taken
// away, by which a workflow that is not touched could lose an agent.
func glance(raw string, watch *Watch) (untouched, takes bool) {
	for raw != "" {
		head, rest, _ := strings.Cut(raw, "\x00")
		path, next, ended := strings.Cut(rest, "\x00")
		words := strings.Split(head, " ")
		if !ended || len(words) != 5 || words[4] == "U" || watch.OfInterest(path) {
			return false, false
		}
		c := gate.Change{Old: glanced(path, strings.TrimPrefix(words[0], ":")), New: glanced(path, words[1])}
		takes, raw = takes || c.Takes(), next
	}
	return true, takes
}

// glanced is one side of what git printed, as far as a glance goes.
func glanced(path, mode string) gate.File {
	if mode == noMode {
		return gate.File{}
	}
	return gate.File{Path: path, Mode: mode}
}

// asksForMore reports whether the configuration in a work tree's root may claim a
// lane, by which every commit is judged, or name further files to be judged. It
// is what HEAD has, but for changes that are not staged.
func asksForMore(top string) bool {
	file := filepath.Join(top, policyFile)
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > policy.MaxSize {
		return true
	}
	data, err := os.ReadFile(file)
	return err != nil || bytes.Contains(data, []byte("lane")) || policy.MayConfigureWorkflows(data)
}

// linkedDir is the git directory that a .git stands for: itself, or the one
// that a .git file names (gitrepository-layout(5)); empty if that is not
// plain.
func linkedDir(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path
	}
	data, err := os.ReadFile(path)
	named, isLink := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if err != nil || !isLink || named == "" {
		return ""
	}
	return absolute(filepath.Dir(path), named)
}
