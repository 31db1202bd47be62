package restore

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/write/apply"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// applyNewCommits moves HEAD to the new commits, and updates the index and the work tree. Uncommitted changes stay.
func (m *mending) applyNewCommits(ctx context.Context, out *Mended) error {
	newLog, err := m.readLogText(ctx, out.New)
	if err != nil {
		return err
	}
	var files []apply.File
	if parsed, _ := m.parse(newLog); parsed != nil {
		log, err := m.planLogFile(ctx, newLog, out)
		if err != nil {
			return err
		}
		files = append(files, log)
	}
	inOldHead, err := findFiles(ctx, m.repo, out.Old, slices.Collect(maps.Keys(m.substitutions)))
	if err != nil {
		return err
	}
	for path, s := range m.substitutions {
		if inOldHead[path] != s.from {
			continue // HEAD's file is not replaced
		}
		staged, err := findFile(ctx, m.repo, history.Index, path)
		if err != nil {
			return err
		}
		if staged != s.from {
			continue // a staged change stays
		}
		dirty, err := m.git.Dirty(ctx, path)
		if err != nil {
			return err
		}
		file := apply.File{File: s.to}
		if dirty { // somebody has changed the file in the work tree: update only the index
			files = append(files, file)
			continue
		}
		if s.from.Mode != history.ModePlain && s.from.Mode != "" || s.to.Mode != history.ModePlain { // a link or an executable file
			file.ByGit = true
		} else if file.Content, err = m.git.CheckedOut(ctx, path, s.to.Object); err != nil {
			return err
		}
		files = append(files, file)
	}
	kept, err := m.workTree().Do(ctx, m.git, files, &apply.Move{Ref: "HEAD", From: out.Old, To: out.New, Reason: "small-hook restore --commit"})
	out.File = cmp.Or(kept[m.Log()], out.File)
	return err
}

// storeLogToStage writes the blob of the log for the index, and returns the blob's id. The blob is newLog, the log of the new HEAD, followed by the
// entries that are staged.
func (m *mending) storeLogToStage(ctx context.Context, oldHead string, newLog []byte) (string, error) {
	oldLog, err := m.readLogText(ctx, oldHead)
	if err != nil {
		return "", err
	}
	staged, err := findFile(ctx, m.repo, history.Index, m.Log())
	if err != nil {
		return "", err
	}
	if oldLog == nil && !staged.Regular() { // the index has no log, or a link as the old HEAD has
		return m.git.Store(ctx, newLog)
	}
	data, there, err := githistory.ReadFile(ctx, m.repo, history.Index, m.Log(), m.Limits.FileSize())
	if err != nil {
		return "", err
	}
	if there && !bytes.Equal(data, oldLog) {
		back, err := m.putBackOf(newLog, data, m.isSoundStep)
		if err != nil {
			return "", err
		}
		if back.Text != nil {
			data = back.Text
		}
		return m.git.Store(ctx, data)
	}
	return m.git.Store(ctx, newLog)
}

// planLogFile returns the log to write to the index and the work tree. In each it is newLog, the log of the new HEAD, followed by the entries that
// were not committed there. planLogFile sets out.Restored.
func (m *mending) planLogFile(ctx context.Context, newLog []byte, out *Mended) (log apply.File, err error) {
	log.Path = m.Log()
	if log.Object, err = m.storeLogToStage(ctx, out.Old, newLog); err != nil {
		return log, err
	}
	link, err := m.setLinkAside()
	if err != nil {
		return log, err
	}
	_, checkedOut, err := m.git.StoreCheckedOut(ctx, m.Log(), newLog)
	if err != nil {
		return log, err
	}
	var file []byte
	if out.Restored, file, err = m.findLost(checkedOut, m.isSoundStep); err != nil {
		return log, err
	}
	if m.discard && out.Text == nil && file != nil && !bytes.Equal(file, checkedOut) {
		out.Text = checkedOut
	}
	out.moveToRetimed()
	unchanged, err := m.isLogOf(ctx, out.Old, file)
	if err != nil {
		return log, err
	}
	if unchanged && !bytes.Equal(file, checkedOut) && !bytes.Equal(out.Text, checkedOut) { // the file has no uncommitted entries to keep
		out.PutBack = combine.PutBack{Text: checkedOut, Lost: out.Lost, Gone: out.Gone}
	}
	if out.Text != nil {
		log.Content, log.Over = out.Text, file
	}
	out.File = cmp.Or(out.File, link)
	return log, nil
}

// moveToRetimed moves an entry from Lost to Retimed if the file has the same entry with another time.
func (r *Restored) moveToRetimed() {
	r.Lost = slices.DeleteFunc(r.Lost, func(lost ledger.Entry) bool {
		at := slices.IndexFunc(r.Changed, func(e ledger.Entry) bool { return e.Sum == lost.Sum && e.Timestamp != lost.Timestamp })
		if at < 0 || lost.Timestamp == "" {
			return false
		}
		r.Retimed = append(r.Retimed, [2]ledger.Entry{r.Changed[at], lost})
		r.Changed = slices.Delete(r.Changed, at, at+1)
		return true
	})
}

// isLogOf reports whether file is the text that git would check out for a commit's log.
func (m *mending) isLogOf(ctx context.Context, commit string, file []byte) (bool, error) {
	text, err := m.readLogText(ctx, commit)
	if err != nil || text == nil || file == nil {
		return false, err
	}
	_, text, err = m.git.StoreCheckedOut(ctx, m.Log(), text)
	return bytes.Equal(file, text), err
}
