package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/agent/harness"
	agentnotes "github.com/small-gate/small-gate/internal/agent/notes"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// Watched is the result of one event of an agent's harness.
type Watched struct {
	// By is the harness that gets the answer.
	By     *harness.Harness
	Moment harness.Moment
	Reply  harness.Reply
	// Report is nil if nothing was judged.
	Report *finding.Report
	// Trees lists, at the end of a turn, what is left to do in each judged work tree.
	Trees []finding.WorkTree
	// Begun is the root of the work tree in which a session begins; empty at other events, and if there is neither a workspace nor a configuration.
	Begun string
}

// Hook judges the work trees in which an agent works, at an event of its harness. Findings and failures block. The same ones keep a session's turn
// from ending at most twice in a row.
func Hook(ctx context.Context, req session.Request, h *harness.Harness, event []byte) Watched {
	e, err := h.Read(event)
	id := e.By.Name + "/" + e.Session
	if err != nil {
		out := Watched{By: e.By, Moment: harness.Other, Report: run.FailureReport(run.Options{Mode: watchMode}, err)}
		out.Reply = blockOrLetGo(notesOf(ctx, req), id, out.Report, e, req.Now)
		return out
	}
	out := Watched{By: e.By, Moment: e.Moment}
	if e.Moment == harness.Other || e.Moment == harness.Tool && !mayTouch(req, e) {
		return out
	}
	first, report, trees := watchAll(ctx, req, e, id)
	out.Report, out.Begun, out.Trees = report, first.begun, trees
	switch {
	case report == nil || report.Verdict == finding.Pass:
	case report.Verdict == finding.Fail && report.Observe:
		if e.Moment == harness.Stop {
			out.Reply = harness.LetGo
		}
	case e.Moment == harness.Stop:
		out.Reply = blockOrLetGo(first.notes, id, report, e, req.Now)
	default:
		out.Reply = harness.Block
	}
	if report != nil && out.Reply == harness.Silent {
		out.Reply = replyWithoutFindings(out)
	}
	return out
}

// replyWithoutFindings returns the reply if nothing is wrong. The agent is told of hidden logs when its session begins. A person is told of hidden logs and of
// uncommitted entries when a turn ends.
func replyWithoutFindings(w Watched) harness.Reply {
	switch {
	case w.Moment == harness.Start && len(w.Report.Hidden) > 0:
		return harness.Block
	case w.Moment == harness.Stop && (len(w.Report.Hidden) > 0 || w.Report.Uncommitted > 0):
		return harness.LetGo
	}
	return harness.Silent
}

// blockOrLetGo returns the reply at the end of a turn with findings: Block, unless the same findings have blocked it often enough. If blocks cannot be
// counted, only the first end of a turn is blocked, which the harness tells from later ones; otherwise the turn would never end.
func blockOrLetGo(notes *agentnotes.Notes, session string, report *finding.Report, e harness.Event, now time.Time) harness.Reply {
	may := e.Moment == harness.Stop && !e.Continuing
	if notes != nil {
		counted := notes.MayBlock(session, digestOfFindings(report), e.Continuing, now)
		if notes.Save() == nil {
			may = counted
		}
	}
	if may {
		return harness.Block
	}
	return harness.LetGo
}

// digestOfFindings returns a digest of a report's errors and failure.
func digestOfFindings(report *finding.Report) string {
	var all []string
	for i := range report.Findings {
		if f := &report.Findings[i]; f.Severity == finding.SeverityError {
			all = append(all, fmt.Sprint(f.Fingerprint(), f.Commit != ""))
		}
	}
	if report.Failure != nil {
		all = append(all, report.Failure.Message)
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(all), "\n")))
	return hex.EncodeToString(sum[:8])
}

// notesOf reads the notes of the repository around the current directory, or the user's common notes outside of repositories. It returns nil if they
// cannot be read.
func notesOf(ctx context.Context, req session.Request) (notes *agentnotes.Notes) {
	_, err := req.InRepository(ctx, watchMode, func(s *session.Session) (err error) {
		notes, err = agentnotes.Read(agentnotes.In(s.Repo.Where().GitDir))
		return err
	})
	if !errors.Is(err, githistory.ErrNotRepository) {
		return notes
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		notes, err = agentnotes.Read(agentnotes.In(cache))
	}
	if err != nil {
		return nil
	}
	return notes
}

// mayTouch reports whether the event's tool may have written a file that is judged, by the file's path or through a symbolic link.
func mayTouch(req session.Request, e harness.Event) bool {
	if e.ReadOnly {
		return false
	}
	if len(e.Files) == 0 || req.HasFloor() {
		return true
	}
	return slices.ContainsFunc(e.Files, func(name string) bool {
		name = absolute(e.Dir, name)
		real, err := filepath.EvalSymlinks(name)
		return err != nil || isJudged(name) || isJudged(real)
	})
}

// absolute makes a path absolute that may be relative to dir; dir is empty for the current directory.
func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	name = filepath.Join(dir, name)
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// isJudged reports whether a path is a configuration, in a workspace, or below a configuration that names logs or records of
// jobs.
func isJudged(name string) bool {
	if strings.EqualFold(filepath.Base(name), policy.File) {
		return true
	}
	if _, in := small.WorkspaceOf(strings.TrimPrefix(filepath.ToSlash(name), "/")); in {
		return true
	}
	config, err := session.ReadConfig(filepath.Join(session.WorkTreeRootOf(filepath.Dir(name)), policy.File))
	return err != nil || bytes.Contains(config, []byte("logs")) || bytes.Contains(config, []byte(lane.Workflows.Key))
}

// projectVariables hold the directory in which a harness was started. The current directory may be another one.
var projectVariables = []string{"CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR"}

// places returns the directories in whose repositories an agent may have written: its current directory, or the one that the command names in its place;
// the one in which it was started; the one in which this process runs; and those of the files that it wrote, also through a symbolic link.
func places(req session.Request, e harness.Event) []string {
	out := []string{e.Dir}
	if named, err := filepath.Abs(req.Dir); err == nil && req.Dir != "" {
		out[0] = named
	}
	for _, name := range projectVariables {
		out = append(out, req.Getenv(name))
	}
	if here, err := os.Getwd(); err == nil {
		out = append(out, here)
	}
	for _, name := range e.Files {
		name = absolute(e.Dir, name)
		out = append(out, filepath.Dir(name))
		if real, err := filepath.EvalSymlinks(name); err == nil {
			out = append(out, filepath.Dir(real))
		}
	}
	out = slices.DeleteFunc(out, func(dir string) bool { return !filepath.IsAbs(dir) })
	return slices.Compact(out)
}

// existingDirectory returns the directory at a path; if there is none, the nearest one above it.
func existingDirectory(path string) string {
	info, err := os.Stat(path)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir()
	if parent := filepath.Dir(path); gone && parent != path {
		return existingDirectory(parent)
	}
	return path
}

// watchAll judges all work trees. first is the watch of the first judged work tree that has notes; blocked turns are counted in these.
func watchAll(ctx context.Context, req session.Request, e harness.Event, id string) (first watch, combined *finding.Report, trees []finding.WorkTree) {
	var reports []*finding.Report
	seen := map[string]bool{}
	todo := places(req, e)
	for i := 0; i < len(todo); i++ {
		dir := todo[i]
		at := req
		at.Dir = existingDirectory(dir)
		var watches []*watch // one for the configuration, and one for the floor, from the same notes
		found := at.Judge(ctx, watchMode, func(s *session.Session) (*finding.Report, error) {
			if s.FloorText() == nil {
				watches = nil // the second reader begins again
			}
			w := &watch{event: e, id: id, now: req.Now, seen: seen}
			watches = append(watches, w)
			return w.judge(ctx, s)
		})
		w := worst(watches)
		if err := w.save(); err != nil {
			found = run.FailureReport(run.Options{Mode: watchMode}, err)
		}
		outside := found.Failure != nil && errors.Is(found.Failure, githistory.ErrNotRepository)
		if outside || found.Failure == nil && (w.top == "" || seen[w.top]) {
			continue
		}
		seen[w.top] = true
		if i > 0 { // the agent's current directory is the first place
			found.RunFixesIn(cmp.Or(w.top, at.Dir))
		}
		if first.notes == nil {
			first = w
		}
		reports = append(reports, found)
		if e.Moment == harness.Stop {
			trees = append(trees, finding.WorkTree{Path: w.top, Uncommitted: found.Uncommitted, Errors: found.Count().Errors})
		}
		todo = append(todo, w.more...)
	}
	if len(reports) == 0 {
		return first, nil, nil
	}
	combined = finding.Combine(reports)
	if e.Moment == harness.Stop && combined.Verdict == finding.Pass && first.notes.ClearFindings(id) {
		if err := first.notes.Save(); err != nil {
			combined = run.FailureReport(run.Options{Mode: watchMode}, err)
		}
	}
	return first, combined, trees
}
