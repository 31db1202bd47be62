package entrypoint

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// CheckMode is the report's mode for Check.
const CheckMode = "check"

// What says which state of the files Check judges.
type What struct {
	// Staged judges the index, Ref a commit; neither judges the files on disk.
	Staged bool
	Ref    string
	// Recursive judges every workspace at or below the directory.
	Recursive bool
}

// Check judges the workspace of one directory, as its files are on disk, in
// the index or in a commit. On disk it needs no git.
func Check(ctx context.Context, req Request, what What) *gate.Report {
	req.Dir = holding(req.Dir)
	otherwise := "root"
	if what.Recursive {
		otherwise = "any"
	}
	if what.Staged && what.Ref != "" {
		return gate.FailureReport(gate.Options{Mode: CheckMode}, &gate.Failure{
			Message: "--staged and --ref exclude each other", Remedy: "give one of them",
		})
	}
	if what.Staged || what.Ref != "" {
		if req.Workspace == "" {
			req.Workspace = otherwise
		}
		return inRepository(ctx, req, CheckMode, func(s *session) (*gate.Report, error) {
			return s.checkRevision(ctx, what)
		})
	}
	opts, err := req.options(CheckMode, otherwise)
	if err != nil {
		return gate.FailureReport(opts, err)
	}
	s := &session{opts: opts, req: req}
	report, err := s.checkFiles(ctx, what)
	if err != nil {
		report = gate.FailureReport(s.opts, err)
	}
	report.Examined.Reader = directory.Reader
	return report
}

func (s *session) checkFiles(ctx context.Context, what What) (*gate.Report, error) {
	dir := s.req.Dir
	if dir == "" {
		dir = "."
	}
	tree, err := directory.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := s.trustFiles(dir); err != nil {
		return nil, err
	}
	if s.opts.Part, err = isPart(dir); err != nil {
		return nil, err
	}
	if what.Recursive {
		return gate.CheckAll(ctx, tree, "", "", s.opts), nil
	}
	return gate.Check(ctx, tree, "", "", s.opts), nil
}

// holding is the directory that holds the workspace of dir, which may be the
// .small directory itself.
func holding(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != small.Dir {
		return dir // without a working directory nothing can be opened, which is said there
	}
	return filepath.Join(dir, "..")
}

// trustFiles takes the policy from the root of the repository that the
// directory lies in, or from the directory itself outside one.
func (s *session) trustFiles(dir string) error {
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	root, err := repositoryRoot(dir)
	if err != nil {
		return err
	}
	data, err := readConfig(filepath.Join(root, policy.File))
	if err != nil {
		return err
	}
	if data == nil {
		return s.use("", nil, false)
	}
	return s.use(policy.File, data, true)
}

// isPart reports whether a directory lies below the root of its repository.
func isPart(dir string) (bool, error) {
	root, err := repositoryRoot(dir)
	if err != nil {
		return false, err
	}
	own, err := filepath.Abs(dir)
	return own != root, err
}

// repositoryRoot walks up to the directory that holds .git.
func repositoryRoot(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := start; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return start, nil
		}
	}
}

// checkRevision judges the index or a commit.
func (s *session) checkRevision(ctx context.Context, what What) (*gate.Report, error) {
	revision, label := gate.Index, "the index"
	if what.Ref != "" {
		var err error
		if revision, err = s.commit(ctx, what.Ref); err != nil {
			return nil, err
		}
		label = what.Ref
	}
	if err := s.trust(ctx, revision, label); err != nil {
		return nil, err
	}
	dir, err := below(s.repo, s.req.Dir)
	if err != nil {
		return nil, err
	}
	if what.Recursive {
		return gate.CheckAll(ctx, s.repo, revision, dir, s.opts), nil
	}
	return gate.Check(ctx, s.repo, revision, dir, s.opts), nil
}

// below is a directory's slash-separated path in the repository, "" for its
// root.
func below(repo repository, dir string) (string, error) {
	if repo.Where().Top == "" {
		return "", nil
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", &gate.Failure{Message: "cannot look into " + dir + ": " + err.Error(), Err: err}
	}
	rel, err := filepath.Rel(repo.Where().Top, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &gate.Failure{Message: dir + " is not in the work tree " + repo.Where().Top, Err: err}
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}
