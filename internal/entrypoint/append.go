package entrypoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Appended is what Append has done.
type Appended struct {
	Guarded
	// Add is the command that stages the workspace.
	Add string
}

// Append appends an entry to the log of the workspace in the request's directory or the nearest above it, as a guarded command, unless a
// check would reject the entry. Nothing is staged.
func Append(ctx context.Context, req Request, with Locking, entry splice.Entry) (out Appended, err error) {
	req.Dir = workspaceRoot(req.Dir)
	out.Guarded, err = req.guard(ctx, "append", with, func(g *guarding, _ []string) error {
		out.Add = g.add()
		return g.Append(entry, func(text []byte, line int) error { return g.judge(ctx, text, line) })
	})
	return out, err
}

// add is the command that stages the workspace.
func (g *guarding) add() string {
	return "git add -- " + wording.ShellWord(":/"+small.InDir(g.Dir, ""))
}

// judge refuses a new text of the log if a check has an error to report from a line on.
func (g *guarding) judge(ctx context.Context, text []byte, line int) error {
	tree, err := directory.Open(g.Place.Top)
	if err != nil {
		return err
	}
	r := gate.Check(ctx, changed{tree, g.Log(), text}, "", g.Dir, g.opts)
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
	return &failure.Error{Message: fmt.Sprintf("the entry was not appended: %s (%s)", wording.Printable(f.Message), f.Rule), Remedy: wording.Printable(f.Fix)}
}

// changed is a directory in which one file has another content.
type changed struct {
	history.Tree
	path string
	text []byte
}

// Blob reads an object, which is named by its file's path.
func (c changed) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	if object == c.path && int64(len(c.text)) <= limit {
		return history.Blob{Data: c.text, Size: int64(len(c.text))}, nil
	}
	return c.Tree.Blob(ctx, object, limit)
}
