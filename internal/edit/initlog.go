package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	// Notes are sentences about what was guessed and why, about violations in the log's history, and since when the log is judged.
	Notes []string
}

// InitLog guesses which kinds of logs are at paths, relative to the request's directory. It writes stanzas for them into the configuration of
// the work tree, and returns the configuration's path. If one of them is not a log, it writes nothing.
func InitLog(ctx context.Context, req session.Request, paths ...string) (file string, written []WrittenStanza, err error) {
	file, err = editConfig(ctx, req, "init-log", func(s *session.Session, data []byte) ([]byte, error) {
		written = nil
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
			written = append(written, b)
		}
		return data, nil
	})
	return file, written, err
}

// chooseStanza chooses the stanza for the log at a path. names are the paths of the files that the stanza guards.
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
	since, name, err := findSince(ctx, s, head)
	if err != nil {
		return b, nil, err
	}
	b.Log, b.Notes, err = chooseReading(ctx, s, head, where, since, g.readings)
	b.Log.Since = since
	accepted := fmt.Sprintf("the content that %s has now is accepted (since: %.12s)", name, since)
	if floor := s.Opts.Floor; floor.ForbidsSince() {
		accepted = "what was done before is judged, too: " + nameOf(floor) + " forbids since"
	}
	b.Notes = append(b.Notes, accepted)
	return b, g.files, err
}

// listTracked lists the files of the index at or below a path. where is the path from the root of the work tree.
func listTracked(ctx context.Context, s *session.Session, at string) (files []history.File, where string, err error) {
	if where, err = pathFromTop(s, s.Req.Dir, at); err != nil {
		return nil, "", err
	}
	if where == "" {
		return nil, "", &failure.Error{Message: "the root of the work tree is no log", Remedy: "name a file, or a folder of files, in it"}
	}
	if files, err = s.Repo.List(ctx, history.Index, history.Matching(policy.LiteralPattern(where)+"/**")); err != nil || len(files) > 0 {
		return files, where, err
	}
	if _, err := os.Lstat(filepath.Join(s.Repo.Where().Top, filepath.FromSlash(where))); err != nil {
		return nil, "", &failure.Error{Message: "cannot look at " + at + ": " + err.Error(), Remedy: "name a file, or a folder of files, that is there", Err: err}
	}
	return nil, "", &failure.Error{
		Message: "git does not track " + wording.Printable(where) + ", and only what is committed is judged",
		Remedy:  wording.Commands("git add -- "+wording.TopPath(where)) + ", then again",
	}
}

// findSince finds the commit since which a new log is judged: the tip of the remote's default branch, which HEAD may lack; without a remote, HEAD.
// name is its name for people.
func findSince(ctx context.Context, s *session.Session, head string) (id, name string, err error) {
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err == nil && branch.ID != "" && strings.HasPrefix(branch.Ref, "refs/remotes/") {
		return branch.ID, history.ShortRef(branch.Ref), nil
	}
	return head, "HEAD", err
}

// maxEdgesTried bounds the edges of a log's history that are judged before the log is guarded.
const maxEdgesTried = 100

// trial is the result of judging the last changes of a log by one reading.
type trial struct {
	// commits is the number of judged commits, and broken the number of those with a finding. lastBroken describes the last finding.
	commits, broken int
	lastBroken      string
}

// isLog reports whether the path is kept as a log of this reading: at most two commits break it, and no more than half, or less than a quarter.
func (t trial) isLog() bool {
	return t.broken <= 2 && t.broken*2 <= t.commits || t.broken*4 < t.commits
}

// isBetterThan reports whether a milder reading shows how the log is kept better than the first one, although some commits break it too: the first one
// does not make it a log, or at least twice as many commits, and two more, break the first one. A single commit more shows nothing, as the commits that
// break a reading may be the damage.
func (t trial) isBetterThan(first trial) bool {
	return t.broken == 0 || !first.isLog() || t.broken+2 <= first.broken && t.broken*2 <= first.broken
}

// chooseReading returns the stanza of the first reading that no recent change of the log breaks or, if all are broken, of the one that the fewest
// commits break if it is better than the first reading, and else of the first reading. It also returns the reading's reasons, and notes on what it and
// the first one would have rejected. If no reading makes the path a log, it fails.
func chooseReading(ctx context.Context, s *session.Session, head, at, since string, readings []reading) (policy.Log, []string, error) {
	trials, best, err := tryReadings(ctx, s, head, readings)
	if errors.Is(err, history.ErrLacking) {
		return readings[0].log, append(readings[0].reasons, "its history was not judged: this clone is shallow"), nil
	}
	if err != nil {
		return policy.Log{}, nil, err
	}
	found, first := trials[best], trials[0]
	count := wording.Count(found.commits, "commit")
	if !found.isLog() {
		first := readings[0].log
		first.Since = since
		return policy.Log{}, nil, notALog(at, first, found)
	}
	if !found.isBetterThan(first) {
		best, found = 0, first
	}
	notes := readings[best].reasons
	if best > 0 {
		notes = append(notes, fmt.Sprintf("a stricter stanza would have rejected %d of its latest changes (%s), the last of them %s", first.broken, count, first.lastBroken),
			"so the stanza is milder: "+readings[best].allows)
	}
	if found.commits == 0 {
		return readings[best].log, append(notes, "no commit has it yet"), nil
	}
	if found.broken == 0 {
		return readings[best].log, append(notes, "its latest changes ("+count+") all pass"), nil
	}
	return readings[best].log, append(notes, fmt.Sprintf("this stanza would have rejected %d of its latest changes (%s), the last of them %s", found.broken, count, found.lastBroken)), nil
}

// notALog returns the failure for a path that is not kept as a log. first is the stanza of the first reading, which accepts
// the past.
func notALog(at string, first policy.Log, found trial) error {
	byHand := "write it into " + policy.File + " by hand, under logs: " + wording.Printable(first.InOneLine())
	remedy := "a program that writes it anew can write one file a month instead, in a folder that is guarded; to guard it nevertheless, " + byHand
	if first.Entries == policy.FileEntries {
		remedy = "name a folder whose files stay as they are; or " + byHand + ", and name under exclude: what is edited or generated"
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s is not kept as a log: it is edited or generated anew; every stanza would have rejected at least %d of its latest changes (%s), the last of them %s",
			wording.Printable(at), found.broken, wording.Count(found.commits, "commit"), found.lastBroken),
		Remedy: remedy,
	}
}

// tryReadings judges the last edges of a log by one reading after the other, until no edge breaks the reading. best is the index of that
// reading or, if all are broken, of the one that the fewest commits break.
func tryReadings(ctx context.Context, s *session.Session, head string, readings []reading) (trials []trial, best int, err error) {
	var judge func(policy.Log, func(*finding.Finding) bool) *finding.Report
	for i, r := range readings {
		stanza, err := r.log.AsRead(catalogue.Known())
		if err == nil && judge == nil {
			judge, err = gate.Recent(ctx, s.Repo, head, stanza, maxEdgesTried, s.Opts)
		}
		if err != nil {
			return nil, 0, err
		}
		one, broken := trial{}, map[string]bool{}
		report := judge(stanza, func(f *finding.Finding) bool {
			broken[f.Commit] = true
			one.lastBroken = history.Short(f.Commit) + ", " + wording.Printable(f.Path) + ": " + wording.Printable(f.Message)
			return false
		})
		if f := report.Failure; f != nil {
			return nil, 0, f
		}
		one.commits, one.broken = report.Examined.Commits, len(broken)
		trials = append(trials, one)
		if one.broken < trials[best].broken {
			best = i
		}
		if one.broken == 0 {
			break
		}
	}
	return trials, best, nil
}
