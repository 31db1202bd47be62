package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// WrittenStanza is what InitLog wrote for one path.
type WrittenStanza struct {
	Log policy.Log
	// SinceName is people's name for the commit since which the log is judged.
	SinceName string
	// Notes are sentences about what was guessed and why, and about violations in the log's history.
	Notes []string
}

// InitLog guesses what kinds of logs are at some paths, relative to the request's directory, and writes stanzas for them into the
// configuration of the work tree, whose path it returns. If one of them is no log, it writes none.
func InitLog(ctx context.Context, req session.Request, paths ...string) (file string, begun []WrittenStanza, err error) {
	file, err = editConfig(ctx, req, "init-log", func(s *session.Session, data []byte) ([]byte, error) {
		begun = nil
		head, err := s.Repo.Head(ctx)
		if err != nil {
			return nil, err
		}
		for _, at := range paths {
			b, files, err := chooseStanza(ctx, s, head, at)
			if err != nil {
				return nil, err
			}
			if data, err = policy.AddLog(data, b.Log, files, catalogue.Known()); err != nil {
				return nil, err
			}
			begun = append(begun, b)
		}
		return data, nil
	})
	return file, begun, err
}

// chooseStanza chooses the stanza for one path. It also returns the files that the stanza is for.
func chooseStanza(ctx context.Context, s *session.Session, head, at string) (b WrittenStanza, names []string, err error) {
	files, where, err := listTracked(ctx, s, at)
	if err != nil {
		return b, nil, err
	}
	if read.IsProgress(where) {
		return b, nil, &failure.Error{Message: wording.Printable(where) + " is the protocol's own log, which is guarded without a stanza", Remedy: "`small-hook install`"}
	}
	if head == "" {
		return b, nil, &failure.Error{
			Message: "this repository has no commit yet, and a log is judged from a commit on",
			Remedy:  wording.Commands("git add -- "+wording.TopPath(where), `git commit -m "Begin"`) + ", then again",
		}
	}
	g, err := guessAt(ctx, s, where, files)
	if err != nil {
		return b, nil, err
	}
	chosen, found, err := chooseReading(ctx, s, head, where, g.readings)
	if err != nil {
		return b, nil, err
	}
	b.Log, b.Notes = chosen, slices.Concat(g.reasons, found)
	b.Log.Since, b.SinceName, err = findSince(ctx, s, head)
	return b, g.files, err
}

// listTracked lists the files of the index at or below a path, and gives the path from the root of the work tree.
func listTracked(ctx context.Context, s *session.Session, at string) (files []history.File, where string, err error) {
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

// findSince is the tip of the remote's default branch, which HEAD may lack, and people's name for it; HEAD without a remote.
func findSince(ctx context.Context, s *session.Session, head string) (id, name string, err error) {
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err == nil && branch.ID != "" && strings.HasPrefix(branch.Ref, "refs/remotes/") {
		return branch.ID, history.ShortRef(branch.Ref), nil
	}
	return head, "HEAD", err
}

// maxEdgesTried is how many edges of a log's history are judged before it is guarded.
const maxEdgesTried = 100

// trial is what the last changes of a log have against a reading of it.
type trial struct {
	// commits is how many commits were judged, and broken how many of them have a finding; last describes the last one.
	commits, broken int
	lastBroken      string
}

// chooseReading takes the first reading that no change in the log's history breaks; if all are broken, the one that is broken least. It says what
// the others would have reported. A file of which a quarter of the changes, and more than two, break each reading is no log.
func chooseReading(ctx context.Context, s *session.Session, head, at string, readings []reading) (policy.Log, []string, error) {
	looks, best, err := tryReadings(ctx, s, head, readings)
	if errors.Is(err, history.ErrLacking) {
		return readings[0].log, []string{"its history was not looked at: this clone is shallow"}, nil
	}
	if err != nil {
		return policy.Log{}, nil, err
	}
	found, first := looks[best], looks[0]
	count := wording.Count(found.commits, "commit")
	if found.broken > 2 && found.broken*4 >= found.commits {
		return policy.Log{}, nil, notALog(at, readings[0].log, found)
	}
	var notes []string
	if best > 0 {
		notes = append(notes, fmt.Sprintf("read more strictly, %d of its latest changes (%s) would have been rejected, the last of them %s", first.broken, count, first.lastBroken),
			"so the stanza is milder: "+readings[best].allows)
	}
	if found.broken == 0 {
		return readings[best].log, append(notes, "the latest changes of it ("+count+") all pass"), nil
	}
	return readings[best].log, append(notes, fmt.Sprintf("of the latest changes of it (%s) %d would have been rejected, the last of them %s", count, found.broken, found.lastBroken)), nil
}

// notALog is the failure for what is not kept as a log. first is the strictest reading of it.
func notALog(at string, first policy.Log, found trial) error {
	keys := "entries: " + first.Entries
	if first.Start != "" {
		keys += ", start: " + wording.Quote(first.Start)
	}
	if first.At != "" {
		keys += ", at: " + wording.Quote(first.At)
	}
	remedy := "a program that writes it anew can write one file a month instead, in a folder that is guarded; to guard it nevertheless, " + remedyByHand(first.Path, keys)
	if first.Entries == policy.FileEntries {
		remedy = "name a folder whose files stay as they are; or " + remedyByHand(first.Path, keys) + ", and name under exclude: what is edited or generated"
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s is not kept as a log: it is edited or generated anew; of its latest changes (%s) %d would have been rejected however it is read, the last of them %s",
			wording.Printable(at), wording.Count(found.commits, "commit"), found.broken, found.lastBroken),
		Remedy: remedy,
	}
}

// tryReadings judges the last edges of a log by each reading, up to the first that none of them breaks. best is that one, or the one that is
// broken least.
func tryReadings(ctx context.Context, s *session.Session, head string, readings []reading) (looks []trial, best int, err error) {
	var judge func(policy.Log, func(*finding.Finding) bool) *finding.Report
	for i, r := range readings {
		stanza, err := r.log.AsRead(catalogue.Known())
		if err == nil && judge == nil {
			judge, err = gate.Recent(ctx, s.Repo, head, stanza, maxEdgesTried, s.Opts)
		}
		if err != nil {
			return nil, 0, err
		}
		look, broken := trial{}, map[string]bool{}
		report := judge(stanza, func(f *finding.Finding) bool {
			broken[f.Commit] = true
			look.lastBroken = history.Short(f.Commit) + ", " + wording.Printable(f.Path) + ": " + wording.Printable(f.Message)
			return false
		})
		if f := report.Failure; f != nil {
			return nil, 0, f
		}
		look.commits, look.broken = report.Examined.Commits, len(broken)
		looks = append(looks, look)
		if look.broken < looks[best].broken {
			best = i
		}
		if look.broken == 0 {
			break
		}
	}
	return looks, best, nil
}
