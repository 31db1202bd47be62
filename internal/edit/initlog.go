package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// Begun is what InitLog wrote.
type Begun struct {
	// File is the configuration's path.
	File string
	Log  policy.Log
	// Accepted is people's name for the commit since which the log is judged.
	Accepted string
	// Notes are sentences about the guess, and about violations in the log's history.
	Notes []string
}

// InitLog guesses what kind of log is at a path, relative to the request's directory, and writes a stanza for it into the configuration of
// the work tree.
func InitLog(ctx context.Context, req session.Request, at string) (out Begun, err error) {
	out.File, err = editConfig(ctx, req, "init-log", func(s *session.Session, data []byte) ([]byte, error) {
		out = Begun{}
		files, where, err := trackedAt(ctx, s, at)
		if err != nil {
			return nil, err
		}
		if read.IsLedger(where) {
			return nil, &failure.Error{Message: wording.Printable(where) + " is the protocol's own log, which is guarded without a stanza", Remedy: "`small-hook install`"}
		}
		head, err := s.Repo.Head(ctx)
		if err != nil {
			return nil, err
		}
		if head == "" {
			return nil, &failure.Error{
				Message: "this repository has no commit yet: there is nothing since which a log could be judged",
				Remedy:  wording.Commands("git add -- "+wording.TopPath(where), `git commit -m "Begin"`) + ", then again",
			}
		}
		g, err := guess(ctx, s, where, files)
		if err != nil {
			return nil, err
		}
		out.Log, out.Notes = g.log, g.notes
		seen, err := lookBack(ctx, s, head, &out.Log)
		if err != nil {
			return nil, err
		}
		out.Notes = append(out.Notes, seen...)
		if out.Log.Since, out.Accepted, err = sinceWhen(ctx, s, head); err != nil {
			return nil, err
		}
		return policy.AddLog(data, out.Log, g.files, catalogue.Known())
	})
	return out, err
}

// trackedAt lists the files of the index at or below a path, and gives the path from the root of the work tree.
func trackedAt(ctx context.Context, s *session.Session, at string) (files []history.File, where string, err error) {
	full := at
	if !filepath.IsAbs(at) {
		full = filepath.Join(s.Req.Dir, at)
	}
	if full, err = filepath.Abs(full); err != nil {
		return nil, "", err
	}
	dir, err := s.PathOf(filepath.Dir(full))
	if err != nil {
		return nil, "", err
	}
	where = path.Join(dir, filepath.Base(full))
	if files, err = s.Repo.List(ctx, history.Index, history.Matching(policy.LiteralPattern(where)+"/**")); err != nil || len(files) > 0 {
		return files, where, err
	}
	if _, err := os.Lstat(full); err != nil {
		return nil, "", &failure.Error{Message: "cannot look at " + at + ": " + err.Error(), Remedy: "name a file, or a folder of files, that is there", Err: err}
	}
	return nil, "", &failure.Error{
		Message: "git does not track " + wording.Printable(where) + ", and only what is committed is judged",
		Remedy:  wording.Commands("git add -- "+wording.TopPath(where)) + ", then again",
	}
}

// sinceWhen is the tip of the remote's default branch, or HEAD without a remote, and people's name for it.
func sinceWhen(ctx context.Context, s *session.Session, head string) (id, name string, err error) {
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err == nil && branch.ID != "" && strings.HasPrefix(branch.Ref, "refs/remotes/") {
		return branch.ID, history.ShortRef(branch.Ref), nil
	}
	return head, "HEAD", err
}

// lookedAt is how many edges of a log's history are judged before it is guarded.
const lookedAt = 100

// lookBack judges the last edges of a log by the stanza, and reports the violations. If files have been out of order so far, it drops the
// order from the stanza.
func lookBack(ctx context.Context, s *session.Session, head string, l *policy.Log) ([]string, error) {
	broken, commits := map[string]map[string]bool{}, map[string]bool{}
	last := ""
	s.Opts.Find = func(f *finding.Finding) bool {
		if f.Rule == "append-only/out-of-order" {
			l.Order = ""
			return false
		}
		if broken[f.Rule] == nil {
			broken[f.Rule] = map[string]bool{}
		}
		broken[f.Rule][f.Commit], commits[f.Commit] = true, true
		last = history.Short(f.Commit) + ", " + wording.Printable(f.Path) + ": " + wording.Printable(f.Message)
		return false
	}
	ordered := l.Order != ""
	report := gate.Recent(ctx, s.Repo, head, *l, lookedAt, s.Opts)
	s.Opts.Find = nil
	if f := report.Failure; f != nil {
		if errors.Is(f, history.ErrLacking) {
			return []string{"its history was not looked at: this clone is shallow"}, nil
		}
		return nil, f
	}
	var notes []string
	if ordered && l.Order == "" {
		notes = append(notes, "its files are numbered, but did not always come in order: a new one may sort before others (add order: name to forbid that)")
	}
	all := report.Examined.Commits
	if len(commits) == 0 {
		return append(notes, "the latest changes of it ("+wording.Count(all, "commit")+") all pass"), nil
	}
	notes = append(notes, fmt.Sprintf("of the latest changes of it (%s) %d would have been rejected, the last of them %s", wording.Count(all, "commit"), len(commits), last))
	return append(notes, notKept(l.Entries, len(broken["append-only/inserted"]), len(commits), all)...), nil
}

// notKept says so if a file is not kept as a log: at least a quarter of its changes, and more than two, break it.
func notKept(entries string, inserted, n, all int) []string {
	switch {
	case n*4 < all, n <= 2:
		return nil
	case entries == policy.FileEntries:
		return []string{"it is not kept as a log: its files are changed, generated or deleted; name those that are, under exclude:, or do not guard it"}
	case inserted*2 > n:
		return []string{"it is not kept as a log: new entries are written before older ones, newest first perhaps; write them at its end, or do not guard it"}
	}
	return []string{"it is not kept as a log: it is edited, generated or rotated; one file a month is the way then, in a folder that is guarded, or do not guard it"}
}
