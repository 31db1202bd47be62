package session

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/git/directory"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/git/worktree"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Session is the work of one command in a repository or a directory.
type Session struct {
	// Repo is the open repository; nil if the session reads the files of a directory without git.
	Repo repository.Repository
	// Tree reads the files: it is Repo, or the directory if Repo is nil.
	Tree history.Tree
	// ReaderReason says why go-git or git was chosen to read the repository, for people; empty if Repo is nil.
	ReaderReason string
	// Opts are a judgement's options. Opts.Policy is the trusted policy; nil until a method whose name begins with Trust has set it.
	Opts run.Options
	Req  Request
	// TrustedText is the content of the trusted configuration; nil if there is none.
	TrustedText []byte
	// schemas reads the schemas that the trusted configuration names; if it is nil, logs are not judged by schemas.
	schemas *policy.SchemaFiles
	// trustedSchemas are the digests of the schemas that the trusted configuration names.
	trustedSchemas []small.Digest
	// floor is the floor if the session judges by the floor, else nil. It is set in the second judgement of judgeByPolicyAndFloor, and by UseFloor.
	floor *policy.Floor
	// walked are the sorted ids of all commits that findReach met in its last walk, from branches, tags and judged commits; nil before the first walk.
	walked []string
	// lacks is true if the clone may lack commits that its remotes' branches lead to; nil until findReach asks. From then on, refTips are the commits
	// of all branches and tags.
	lacks   *bool
	refTips []string
}

// Opener opens a session, calls do with the session, and returns the name of the repository's reader and the error of do. mode is the command's name.
type Opener func(ctx context.Context, mode string, do func(*Session) error) (reader string, err error)

// InRepository is the [Opener] for the request's repository. If another reader has to take over, do is called again, with a new session.
func (r Request) InRepository(ctx context.Context, mode string, do func(*Session) error) (reader string, err error) {
	opts, err := r.options(mode)
	if err != nil {
		return "", err
	}
	source := repository.Source{Dir: r.Dir, Environ: r.Environ, Reader: r.Reader, Mode: mode}
	return source.Do(ctx, func(repo repository.Repository, why string) error {
		s := &Session{Repo: repo, Tree: repo, ReaderReason: why, Opts: opts, Req: r}
		s.Opts.Reach, s.Opts.SamePatch, s.Opts.Branches = s.findReach, s.samePatch, s.findBranches
		return do(s)
	})
}

// inDirectory is the [Opener] for the files on disk in the request's directory.
func (r Request) inDirectory(_ context.Context, mode string, do func(*Session) error) (reader string, err error) {
	opts, err := r.options(mode)
	if err != nil {
		return "", err
	}
	tree, err := directory.Open(cmp.Or(r.Dir, "."))
	if err != nil {
		return directory.Reader, err
	}
	return directory.Reader, do(&Session{Tree: tree, Opts: opts, Req: r})
}

// Judge makes the report of a judgement in the request's repository, as JudgeIn does.
func (r Request) Judge(ctx context.Context, mode string, judge func(*Session) (*finding.Report, error)) *finding.Report {
	return r.JudgeIn(ctx, mode, r.InRepository, judge)
}

// JudgeIn makes the report of a judgement: open opens the session, and judge judges in it; judge is called again for a floor, and for another reader. An
// error becomes the report's failure.
func (r Request) JudgeIn(ctx context.Context, mode string, open Opener, judge func(*Session) (*finding.Report, error)) *finding.Report {
	floor, err := r.readFloor()
	if err != nil {
		return run.FailureReport(run.Options{Mode: mode, Strict: r.Strict}, err)
	}
	var report *finding.Report
	reader, err := open(ctx, mode, func(s *Session) error {
		report = s.makeReport(ctx, floor, judge)
		return repository.Unserved(report.Failure) // if go-git cannot read something, git takes over
	})
	if err != nil {
		report = run.FailureReport(run.Options{Mode: mode, Strict: r.Strict}, err)
	}
	report.Examined.Reader = reader
	return report
}

// makeReport makes the complete report of a judgement in the session: the findings of judge, those by the floor, and the details. An error becomes the
// report's failure.
func (s *Session) makeReport(ctx context.Context, floor *policy.Floor, judge func(*Session) (*finding.Report, error)) *finding.Report {
	err := s.checkFloorPlace()
	var report *finding.Report
	if err == nil {
		report, err = s.judgeByPolicyAndFloor(floor, judge)
	}
	if err == nil {
		err = s.addDetails(ctx, report)
	}
	// Fixes cannot be typed in a bare repository. A report of pre-receive is read by the person who pushes, in a clone.
	if err == nil && s.Repo != nil && s.Repo.Where().Bare && s.Opts.Mode != "pre-receive" {
		report.AddInClone()
	}
	address, addressErr := s.originAddress(ctx, report, err)
	if err = cmp.Or(err, addressErr); err != nil {
		report = run.FailureReport(s.Opts, err)
	}
	report.Examined.Repository = cmp.Or(address, s.Req.RepositoryName, s.repositoryName())
	return report
}

// originAddress returns the address of the remote origin; empty if there is none, or if a client hook has judged nothing: to read the address, git may
// have to be started, and most commits touch no log. failed is the judgement's error; r counts only if failed is nil.
func (s *Session) originAddress(ctx context.Context, r *finding.Report, failed error) (string, error) {
	if s.Repo == nil || failed == nil && judgedNothing(r) && slices.Contains(clientHooks, s.Opts.Mode) {
		return "", nil
	}
	origin, err := s.Repo.RemoteURL(ctx, "origin")
	return githistory.Address(origin), err
}

// clientHooks are the modes of the hooks for which a person or an agent waits.
var clientHooks = []string{"pre-commit", "pre-merge-commit", "prepare-commit-msg", "pre-applypatch", "pre-push", "agent-hook"}

// judgedNothing reports whether a passing report says that nothing was examined.
func judgedNothing(r *finding.Report) bool {
	return r.Verdict == finding.Pass && r.Examined.Commits+r.Examined.Workspaces+r.Examined.Workflows+len(r.Findings) == 0
}

// Replace refs and grafts make git show another history than the real one. A clone does not have them, and judging by them would let a bad change pass
// or a good one fail.
const (
	noteReplaced = "this repository has replace refs; the real objects are judged"
	noteGrafted  = "this repository has grafts (info/grafts); the real parents are judged"
)

// Notes returns a note for the report if the repository has replace refs, and one if it has grafts; nil if it has neither.
func (s *Session) Notes(ctx context.Context) ([]string, error) {
	var notes []string
	replaced, grafted, err := s.Repo.Substitutes(ctx)
	if replaced {
		notes = append(notes, noteReplaced)
	}
	if grafted {
		notes = append(notes, noteGrafted)
	}
	return notes, err
}

// repositoryName returns the name of the repository's directory, without .git, the same in each of its work trees; empty if the session has no
// repository.
func (s *Session) repositoryName() string {
	if s.Repo == nil {
		return ""
	}
	top := strings.TrimSuffix(s.Repo.Where().CommonDir, string(filepath.Separator)+".git")
	return strings.TrimSuffix(filepath.Base(top), ".git")
}

// addDetails adds to a report: notes, the name of the branch, and the authors of the commits that findings name. None of these affects the verdict.
// If there are neither findings nor waived findings, it adds only notes.
func (s *Session) addDetails(ctx context.Context, r *finding.Report) error {
	if s.Repo == nil || r.Verdict == finding.Error || judgedNothing(r) {
		return nil
	}
	notes, err := s.Notes(ctx)
	r.Examined.Notes = append(r.Examined.Notes, notes...)
	if err != nil || len(r.Findings)+len(r.Waived) == 0 {
		return err
	}
	if r.Examined.Branch == "" && r.Examined.Head != "" {
		if err := s.addBranch(ctx, r); err != nil {
			return err
		}
	}
	return run.DescribeCommits(ctx, s.Repo, r)
}

// addBranch adds the name of the checked-out branch to a report, if HEAD is the commit that was judged.
func (s *Session) addBranch(ctx context.Context, r *finding.Report) error {
	head, err := s.Repo.Head(ctx)
	if err != nil || head != r.Examined.Head {
		return err
	}
	branch, err := s.Repo.CurrentBranch(ctx)
	r.Examined.Branch = history.ShortRef(branch)
	return err
}

// OpenWithWorkTree opens the repository's history with the work tree's files as one more revision, history.WorkTree. It fails if the repository has no
// work tree.
func (s *Session) OpenWithWorkTree() (*worktree.History, error) {
	top, err := s.Repo.Where().WorkTree()
	if err != nil {
		return nil, err
	}
	return worktree.Open(s.Repo, top, s.Opts.Limits().FileSize())
}

// HiddenLogs lists the logs that are marked skip-worktree or assume-unchanged in the index: git does not commit their changes on disk.
func (s *Session) HiddenLogs(ctx context.Context) (hidden []finding.HiddenLog, err error) {
	marks, err := s.Repo.Marks(ctx, history.Judged(s.Opts.Policy))
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	src := run.New(s.Repo, s.Opts, run.Scope{}).Source
	if _, err := src.JudgedFiles(ctx, history.Index); err != nil { // IsLog needs the profiles that JudgedFiles reads
		return nil, err
	}
	for _, m := range marks {
		if src.IsLog(m.Path) {
			hidden = append(hidden, finding.HiddenLog{Path: m.Path, Marks: m.Names()})
		}
	}
	return hidden, nil
}

// WorkspaceDirs lists the directories that hold a workspace in the index, in the order of the index; "" is the root.
func (s *Session) WorkspaceDirs(ctx context.Context) ([]string, error) {
	files, err := s.Repo.List(ctx, history.Index, history.Workspaces())
	var dirs []string
	for _, f := range files {
		if dir, _, ok := small.SplitPath(f.Path); ok && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}
