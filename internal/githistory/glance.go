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

	"github.com/small-gate/small-gate/internal/policy"
)

// Untouched reports whether it is certain that a commit of the index changes
// nothing of interest: no merge is being concluded, and no path below a .small
// directory (nor the policy file) differs from HEAD. Where the work tree's policy
// file may name further files, nothing is certain. That is the answer to most
// commits, and one git process finds it. false says nothing: open the repository
// and look closely, also to learn of any trouble.
func Untouched(ctx context.Context, dir string, opts Options) bool {
	if opts.Git == "" {
		opts.Git = "git"
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	here, err := Physical(dir)
	if err != nil {
		return false
	}
	found, gitDir := "", Environ(opts.Environ).Get("GIT_DIR")
	if gitDir == "" {
		if found = nearest(here, Ceilings(opts.Environ)); found == "" {
			return false
		}
		gitDir = linkedDir(filepath.Join(found, ".git"))
	}
	merge := filepath.Join(Within(here, gitDir), "MERGE_HEAD")
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
	return glance(string(out))
}

// glance reads what git printed of a commit in the raw format: whether it is
// certain that nothing of interest is touched.
func glance(raw string) bool {
	for raw != "" {
		head, rest, _ := strings.Cut(raw, "\x00")
		path, next, ended := strings.Cut(rest, "\x00")
		if !ended || strings.Count(head, " ") != 4 || strings.HasSuffix(head, " U") || OfInterest(path) {
			return false
		}
		raw = next
	}
	return true
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
	return Within(filepath.Dir(path), named)
}
