package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/directory"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/restore"
)

// Appended is the result of Append.
type Appended struct {
	Guarded
	// Done reports whether the entry was appended; it is false if something is wrong.
	Done bool
	// StageCommand is the command that stages the workspace, or the log of the configuration.
	StageCommand string
	// UnknownTask is a warning that the plan lacks the entry's task; empty if the plan has it or cannot be read.
	UnknownTask string
	// Hidden is set if git was told to leave changes of the log out of commits; else it is nil.
	Hidden *finding.HiddenLog
}

// Append appends an entry to the log of the workspace in the request's directory or the nearest above it, unless a check would reject it.
// If a writer without a guard has changed or lost entries, Append puts them back and appends nothing. It stages nothing.
func Append(ctx context.Context, req session.Request, locking Locking, entry combine.NewEntry) (out Appended, err error) {
	for _, field := range entry {
		if !utf8.ValidString(field[1]) {
			return out, &failure.Error{Message: "nothing was appended: the value of " + field[0] + " is not valid UTF-8, which YAML requires", Remedy: "give it in UTF-8"}
		}
	}
	req.Dir = session.WorkspaceRoot(req.Dir)
	err = runGuarded(ctx, req, "append", locking, findWorkspaceAbove(ctx), func(held *lockedWorkspace, g *guardedWorkspace, before []restore.Restored) error {
		out.Before, out.Log, out.Discarded = before, g.Log(), g.discarded
		out.StageCommand = "git add -- " + wording.TopPath(small.InDir(g.Dir, ""))
		if !out.Fine() {
			return g.WriteNote(g.mark)
		}
		if g.conflict != nil {
			return g.conflict
		}
		if err := g.checkUncommittedTimes(); err != nil {
			return err
		}
		if out.Done, err = g.Append(g.mark, entry, func(text []byte, line int) error { return g.checkNewText(ctx, text, line) }); err != nil || !out.Done {
			return err
		}
		out.UnknownTask = g.warnUnknownTask(entry)
		_, err = held.req.InRepository(ctx, "append", func(s *session.Session) (err error) {
			out.Hidden, err = findHiddenLog(ctx, s, out.Log)
			return err
		})
		return err
	})
	return out, out.ExplainError(err)
}

// findHiddenLog returns the log at a path if git was told to leave its changes out of commits, else nil.
func findHiddenLog(ctx context.Context, s *session.Session, path string) (*finding.HiddenLog, error) {
	marks, err := s.Repo.Marks(ctx, history.At(path))
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	return &finding.HiddenLog{Path: path, Marks: marks[0].Names()}, nil
}

// Note returns a line that says that commits leave out the log's changes; empty if they do not.
func (a Appended) Note() string {
	if a.Hidden == nil {
		return ""
	}
	return "note: " + a.Hidden.Note() + "\n"
}

// ExplainError returns err. If the entry was appended nevertheless, the message says so.
func (a Appended) ExplainError(err error) error {
	if err == nil || !a.Done {
		return err
	}
	return &failure.Error{Message: "the entry is recorded: do not append it again; but " + failure.Of(err).Message, Err: err}
}

// checkUncommittedTimes fails if the log has an uncommitted entry with a timestamp that no commit would accept.
func (g *guardedWorkspace) checkUncommittedTimes() error {
	file, err := g.Read()
	if err != nil {
		return err
	}
	before, remedy := ledger.NewLedger(nil), "correct its time: it is not committed yet"
	if head, _ := ledger.ReadLog(g.headLog, g.Limits); head != nil {
		before, remedy = head.Ledger, "give it a valid time: `"+g.Command()+"`; then append again"
	}
	log, _ := ledger.ReadLog(file, g.Limits)
	if log == nil {
		return nil // Append reports it
	}
	rejected := combine.FirstBadTimestamp(before, log.Ledger, g.Now)
	if rejected == nil {
		return nil
	}
	problem := "is not dated later than the entry before"
	if at, ok := ledger.ParseInstant(rejected.Timestamp); ok && at.After(g.Now.Add(ledger.ClockTolerance)) {
		problem = "is dated " + wording.Span(at.Sub(g.Now)) + " ahead of now"
	}
	return &failure.Error{Message: fmt.Sprintf("nothing was appended: %s, which is not committed, %s", ledger.Describe(*rejected), problem), Remedy: remedy}
}

// checkNewText fails if a check of the log's new text reports an error at or after a line.
func (g *guardedWorkspace) checkNewText(ctx context.Context, text []byte, line int) error {
	tree, err := directory.Open(g.Place.Top)
	if err != nil {
		return err
	}
	checked := textOverTree{tree, g.Log(), text}
	r := gate.Check(ctx, checked, "", g.Dir, g.opts)
	if log, _ := ledger.ReadLog(text, g.Limits); r.Failure == nil && log != nil {
		from := slices.IndexFunc(log.Entries, func(e ledger.Entry) bool { return e.Pos.Line >= line })
		if from < 0 {
			from = log.Len()
		}
		ofEntry := gate.Appended(ctx, checked, g.Log(), log.Ledger, from, "name the variable or the place that holds the value, not the value, and append again", g.opts)
		r = finding.Combine([]*finding.Report{ofEntry, r})
	}
	if r.Failure != nil {
		return r.Failure
	}
	at := slices.IndexFunc(r.Findings, func(f finding.Finding) bool {
		return f.Path == g.Log() && f.Line >= line && f.Severity == finding.SeverityError
	})
	if at < 0 {
		return nil
	}
	f := r.Findings[at]
	fix, _, _ := strings.Cut(f.Fix, read.IfShared) // nobody else has the new entry yet
	return &failure.Error{Message: fmt.Sprintf("the entry was not appended: %s (%s)", wording.Printable(f.Message), f.Rule), Remedy: wording.Printable(fix)}
}

// textOverTree is a directory in which one file has another text.
type textOverTree struct {
	history.Tree
	path string
	text []byte
}

// Blob reads a file. The object's name is the file's path, as in a directory.
func (c textOverTree) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	if object == c.path && int64(len(c.text)) <= limit {
		return history.Blob{Data: c.text, Size: int64(len(c.text))}, nil
	}
	return c.Tree.Blob(ctx, object, limit)
}
