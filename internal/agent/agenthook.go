package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/agent/harness"
	agentnotes "github.com/small-gate/small-gate/internal/agent/notes"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Watched is what an event of an agent's harness has come to.
type Watched struct {
	// By is the harness that has to be answered.
	By     *harness.Harness
	Moment harness.Moment
	Reply  harness.Reply
	// Report is nil if nothing was judged.
	Report *finding.Report
	// Trees are what is left to do in the work trees that were judged, at the end of a turn.
	Trees []finding.WorkTree
	// Begun is the root of the work tree in which a session begins; empty if it has neither a workspace nor a configuration.
	Begun string
}

// Hook judges the work trees in which an agent is at work, at an event of its harness. Findings, and what could not be judged, block; the
// same ones keep a turn of one session from ending twice in a row at most.
func Hook(ctx context.Context, req session.Request, h *harness.Harness, event []byte) Watched {
	e, err := h.Read(event)
	id := e.By.Name + "/" + e.Session
	if err != nil {
		out := Watched{By: e.By, Moment: harness.Other, Report: run.FailureReport(run.Options{Mode: watchMode}, err)}
		out.Reply = putOff(notesOf(ctx, req), id, out.Report, e, req.Now)
		return out
	}
	out := Watched{By: e.By, Moment: e.Moment}
	if e.Moment == harness.Other || e.Moment == harness.Tool && !mayTouch(e) {
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
		out.Reply = putOff(first.notes, id, report, e, req.Now)
	default:
		out.Reply = harness.Block
	}
	if report != nil && out.Reply == harness.Silent {
		out.Reply = remark(out)
	}
	return out
}

// remark is the reply if nothing is wrong: the agent hears of hidden logs when its session begins, and a person of those, and of entries that
// are not committed, when a turn ends.
func remark(w Watched) harness.Reply {
	switch {
	case w.Moment == harness.Start && len(w.Report.Hidden) > 0:
		return harness.Block
	case w.Moment == harness.Stop && (len(w.Report.Hidden) > 0 || w.Report.Uncommitted > 0):
		return harness.LetGo
	}
	return harness.Silent
}

// putOff blocks the end of a turn, unless the same findings have done so before. If attempts cannot be counted, it blocks only when the
// harness says that this is the first stop; otherwise the turn would never end.
func putOff(notes *agentnotes.Notes, session string, report *finding.Report, e harness.Event, now time.Time) harness.Reply {
	may := e.Moment == harness.Stop && !e.Continuing
	if notes != nil {
		counted := notes.PutOff(session, findingsOf(report), e.Continuing, now)
		if notes.Save() == nil {
			may = counted
		}
	}
	if may {
		return harness.Block
	}
	return harness.LetGo
}

// findingsOf tells the findings of one report from those of another.
func findingsOf(report *finding.Report) string {
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

// notesOf are those of the repository of the current directory; outside of one, those that the user has for all such directories. They are
// nil if they cannot be read.
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

// mayTouch reports whether a tool can have touched what is judged. A link on the way to a file counts as what it leads to.
func mayTouch(e harness.Event) bool {
	if e.ReadOnly {
		return false
	}
	if len(e.Files) == 0 {
		return true
	}
	return slices.ContainsFunc(e.Files, func(name string) bool {
		name = within(e.Dir, name)
		real, err := filepath.EvalSymlinks(name)
		return err != nil || judged(name) || judged(real)
	})
}

// within is a path that may be relative to a directory.
func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// judged reports whether a path is a configuration, in a workspace, or below a configuration that has logs.
func judged(name string) bool {
	if strings.EqualFold(filepath.Base(name), policy.File) {
		return true
	}
	if _, in := small.WorkspaceOf(strings.TrimPrefix(filepath.ToSlash(name), "/")); in {
		return true
	}
	config, err := session.ReadConfig(filepath.Join(session.WorkTreeRootOf(filepath.Dir(name)), policy.File))
	return err != nil || bytes.Contains(config, []byte("logs"))
}

// projectVariables hold the directory in which a harness was started; a shell may have left it since.
var projectVariables = []string{"CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR"}

// places are the directories in whose repositories an agent may have written: where it is, where it was started, and where it wrote.
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
		out = append(out, filepath.Dir(within(e.Dir, name)))
	}
	out = slices.DeleteFunc(out, func(dir string) bool { return !filepath.IsAbs(dir) })
	return slices.Compact(out)
}

// watchAll watches in all work trees, and returns the first that has notes: turns are counted there.
func watchAll(ctx context.Context, req session.Request, e harness.Event, id string) (first watch, combined *finding.Report, trees []finding.WorkTree) {
	var reports []*finding.Report
	seen := map[string]bool{}
	todo := places(req, e)
	for i := 0; i < len(todo); i++ {
		dir := todo[i]
		at := req
		at.Dir, _ = session.SplitExisting(dir)
		var looks []*watch // the floor judges again, from the same notes
		found := at.Judge(ctx, watchMode, func(s *session.Session) (*finding.Report, error) {
			if s.Floor() == nil {
				looks = nil // a second reader starts over
			}
			w := &watch{event: e, id: id, now: req.Now, seen: seen}
			looks = append(looks, w)
			return w.judge(ctx, s)
		})
		w := worst(looks)
		if err := w.save(); err != nil {
			found = run.FailureReport(run.Options{Mode: watchMode}, err)
		}
		apart := found.Failure != nil && errors.Is(found.Failure, githistory.ErrNotRepository)
		if apart || found.Failure == nil && (w.top == "" || seen[w.top]) {
			continue
		}
		seen[w.top] = true
		if i > 0 { // the agent is in the first place
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
	if e.Moment == harness.Stop && combined.Verdict == finding.Pass && first.notes.Clear(id) {
		if err := first.notes.Save(); err != nil {
			combined = run.FailureReport(run.Options{Mode: watchMode}, err)
		}
	}
	return first, combined, trees
}
