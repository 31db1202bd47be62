package restore

import (
	"errors"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Append appends an entry to the log, and notes that. The entry gets the replay id of the current
// run, if workspace.small.yml or the handoff has one. Nothing is staged. judge, if not nil, sees the new text before it is written, and
// the line on which the entry begins, from 1; what it returns prevents the writing. done is true if the entry is written, even after an error.
func (w *Workspace) Append(mark Mark, entry combine.NewEntry, judge func(text []byte, line int) error) (done bool, err error) {
	data, err := w.Read()
	if err != nil {
		return false, err
	}
	path, dir := w.Log(), w.Dir
	if data == nil {
		return false, &failure.Error{
			Message: "cannot read " + path + ": there is no such file",
			Remedy:  "see what the workspace lacks: `small-hook check`",
		}
	}
	// The handoff's id is none to go by: between its init and its start the protocol's program leaves that of another run there.
	if id := readRunID(w.Place.Top, small.Workspace.Path(dir), w.Limits); id != "" {
		entry = append(entry, [2]string{"replayId", id})
	}
	longer, line, err := combine.Append(path, data, entry, w.Now, w.Limits)
	if err == nil && judge != nil {
		err = judge(longer, line)
	}
	if err != nil {
		return false, err
	}
	// First what needs room: a full disk leaves the log, and the note, as they are.
	note, err := w.prepareNote(mark, longer)
	if err != nil {
		return false, &failure.Error{Message: "the entry was not appended: it cannot be noted: " + err.Error(), Remedy: "make room in the git directory, and make it writable; then append again", Err: err}
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

// readRunID is the replay id of the run that a workspace file names; empty if there is none that could be one: `check` reports that.
func readRunID(top, path string, limits small.Limits) string {
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
