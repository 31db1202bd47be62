package entrypoint

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// checkMode is the report's mode for Check.
const checkMode = "check"

// What says which state of the files is meant.
type What struct {
	// Staged is the index, Ref a commit; neither means the files on disk.
	Staged bool
	Ref    string
	// Recursive judges every workspace at or below the directory.
	Recursive bool
}

var errBoth = &failure.Error{Message: "--staged and --ref exclude each other", Remedy: "give one of them"}

// Check judges the workspace of one directory, as its files are on disk, in the index or in a commit. On disk it needs no git.
func Check(ctx context.Context, req Request, what What) *finding.Report {
	req.Dir = workspaceRoot(req.Dir)
	if req.Workspace == "" && !what.Recursive {
		req.Workspace = "root"
	}
	switch {
	case what.Staged && what.Ref != "":
		return run.FailureReport(run.Options{Mode: checkMode}, errBoth)
	case what.Staged || what.Ref != "":
		return inRepository(ctx, req, checkMode, func(s *session) (*finding.Report, error) { return s.checkRevision(ctx, what) })
	}
	opts, err := req.options(checkMode, "any")
	if err != nil {
		return run.FailureReport(opts, err)
	}
	s := &session{opts: opts, req: req}
	report, err := s.checkFiles(ctx, what)
	if err != nil {
		report = run.FailureReport(s.opts, err)
	}
	report.Examined.Reader = directory.Reader
	return report
}

func (s *session) checkFiles(ctx context.Context, what What) (*finding.Report, error) {
	tree, err := directory.Open(cmp.Or(s.req.Dir, "."))
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(s.req.Dir)
	if err != nil {
		return nil, err
	}
	root := repositoryRoot(dir)
	s.opts.Part = dir != root
	if err := s.trustFiles(root); err != nil {
		return nil, err
	}
	if what.Recursive {
		return gate.CheckAll(ctx, tree, "", "", s.opts), nil
	}
	return gate.Check(ctx, tree, "", "", s.opts), nil
}

// workspaceRoot is the directory that holds the workspace of dir, which may be the .small directory itself.
func workspaceRoot(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != small.Dir {
		return dir // without a working directory, opening it fails and says so
	}
	return filepath.Join(dir, "..")
}

// trustFiles takes the policy from the files of a repository.
func (s *session) trustFiles(root string) error {
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	data, err := readConfig(filepath.Join(root, policy.File))
	if err != nil {
		return err
	}
	source := ""
	if data != nil {
		source = policy.File
	}
	return s.use(source, data, data != nil)
}

// repositoryRoot is the nearest directory at or above dir that holds .git, or dir if there is none.
func repositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// revisionOf is the index, or the commit that what names; label names it for people.
func (s *session) revisionOf(ctx context.Context, what What) (revision, label string, err error) {
	if what.Ref == "" {
		return history.Index, "the index", nil
	}
	revision, err = s.commit(ctx, what.Ref)
	return revision, what.Ref, err
}

func (s *session) checkRevision(ctx context.Context, what What) (*finding.Report, error) {
	revision, label, err := s.revisionOf(ctx, what)
	if err != nil {
		return nil, err
	}
	if err := s.trust(ctx, revision, label); err != nil {
		return nil, err
	}
	dir, err := pathInRepository(s.repo, s.req.Dir)
	if err != nil {
		return nil, err
	}
	if what.Recursive {
		return gate.CheckAll(ctx, s.repo, revision, dir, s.opts), nil
	}
	return gate.Check(ctx, s.repo, revision, dir, s.opts), nil
}

// ReplayID computes the fingerprints of the workspace of one directory, as its files are on disk, in the index or in a commit. On disk
// it needs no git.
func ReplayID(ctx context.Context, req Request, what What) (out gate.ReplayID, err error) {
	const mode = "replay-id"
	req.Dir = workspaceRoot(req.Dir)
	switch {
	case what.Staged && what.Ref != "":
		return out, errBoth
	case !what.Staged && what.Ref == "":
		opts, err := req.options(mode, "any")
		if err != nil {
			return out, err
		}
		tree, err := directory.Open(cmp.Or(req.Dir, "."))
		if err != nil {
			return out, err
		}
		return gate.ReplayIDOf(ctx, tree, "", "", opts)
	}
	_, err = req.inSession(ctx, mode, func(s *session) error {
		revision, _, err := s.revisionOf(ctx, what)
		if err != nil {
			return err
		}
		dir, err := pathInRepository(s.repo, req.Dir)
		if err == nil {
			out, err = gate.ReplayIDOf(ctx, s.repo, revision, dir, s.opts)
		}
		return err
	})
	return out, err
}

// pathInRepository is a directory's slash-separated path in the repository, "" for its root.
func pathInRepository(repo repository, dir string) (string, error) {
	top := repo.Where().Top
	if top == "" {
		return "", nil
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot look into " + dir + ": " + err.Error(), Err: err}
	}
	rel, err := filepath.Rel(top, abs)
	switch {
	case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		return "", &failure.Error{Message: dir + " is not in the work tree " + top, Err: err}
	case rel == ".":
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}
