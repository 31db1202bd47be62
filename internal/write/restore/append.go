package restore

import (
	"errors"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Append appends an entry to the log, and records the log's new content, if it may be noted, in a note in the git directory. It stages nothing. If
// workspace.small.yml has a replay id, Append adds it to the entry. judge, if not nil, is called before anything is written, with the new text and
// the line on which the entry begins, counted from 1. If judge returns an error, nothing is written. done is true if the entry was written, even if
// an error follows.
func (w *Workspace) Append(mark Mark, entry combine.NewEntry, judge func(text []byte, line int) error) (done bool, err error) {
	data, err := w.Read()
	if err != nil {
		return false, err
	}
	path, dir := w.Log(), w.Dir
	if data == nil {
		return false, &failure.Error{
			Message: "cannot read " + path + ": there is no such file",
			Remedy:  "see what the workspace lacks: `small-hook check" + remedy.InDirectory(path) + "`",
		}
	}
	// Do not use the handoff's id: between `small init` and `small start` the handoff still has the id of another run.
	if id := readReplayID(w.Place.Top, small.Workspace.Path(dir), w.Limits); id != "" {
		entry = append(entry, [2]string{"replayId", id})
	}
	longer, line, err := combine.Append(path, data, entry, w.Now, w.Limits)
	if err == nil && judge != nil {
		err = judge(longer, line)
	}
	if err != nil {
		return false, err
	}
	// Prepare the note first: if there is no room for it, the log stays as it is.
	note, err := w.prepareNote(mark, longer)
	if err != nil {
		return false, &failure.Error{Message: "the entry was not appended, because the note of the log's content could not be written: " + err.Error(), Remedy: "make room in the git directory, and make it writable; then append again", Err: err}
	}
	if err = w.workTree().Write(path, longer); err != nil {
		if note != nil {
			err = errors.Join(err, note.Drop())
		}
		return false, err
	}
	if note != nil {
		err = w.wrapNoteError(note.Finish())
	}
	return true, err
}

var replayIDForm = expression.Of(`^[0-9A-Fa-f]{64}$`)

// readReplayID returns the replay id in a workspace file; empty if there is no valid one, which `check` reports.
func readReplayID(top, path string, limits small.Limits) string {
	data, err := workgit.ReadFile(top, path)
	if err != nil {
		return ""
	}
	if doc, _ := small.Parse(data, limits); doc != nil {
		if id, _ := doc.Root.Get("run").Get("replay_id").Str(); replayIDForm().MatchString(id) {
			return id
		}
	}
	return ""
}
