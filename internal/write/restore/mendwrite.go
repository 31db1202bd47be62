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

// applyNewCommits moves the branch to the new commits, and updates the index and the work tree. Uncommitted changes stay.
func (m *mending) applyNewCommits(ctx context.Context, out *Mended) error {
	head, err := m.readLogText(ctx, out.New)
	if err != nil {
		return err
	}
	var files []apply.File
	if newLog, _ := m.parse(head); newLog != nil {
		log, err := m.planLogFile(ctx, head, out)
		if err != nil {
			return err
		}
		files = append(files, log)
	}
	before, err := findFiles(ctx, m.repo, out.Old, slices.Collect(maps.Keys(m.substitutions)))
	if err != nil {
		return err
	}
	for path, s := range m.substitutions {
		if before[path] != s.from {
			continue // HEAD has another file there
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

// storeLogToStage writes the blob that the index gets for the log, which is the new head's log and then the staged entries. It returns the blob's id.
func (m *mending) storeLogToStage(ctx context.Context, old string, head []byte) (string, error) {
	was, err := m.readLogText(ctx, old)
	if err != nil {
		return "", err
	}
	staged, err := findFile(ctx, m.repo, history.Index, m.Log())
	if err != nil {
		return "", err
	}
	if was == nil && !staged.Regular() { // a link in the old head, for example, and the same link in the index
		return m.git.Store(ctx, head)
	}
	data, there, err := githistory.ReadFile(ctx, m.repo, history.Index, m.Log(), m.Limits.FileSize())
	if err != nil {
		return "", err
	}
	if there && !bytes.Equal(data, was) {
		back, err := m.putBackOf(head, data, m.isSoundStep)
		if err != nil {
			return "", err
		}
		if head = data; back.Text != nil {
			head = back.Text
		}
	}
	return m.git.Store(ctx, head)
}

// planLogFile returns the log's change in the index and the work tree: in both, the new head's log, and then what was not committed there. It sets
// out.Restored.
func (m *mending) planLogFile(ctx context.Context, head []byte, out *Mended) (log apply.File, err error) {
	log.Path = m.Log()
	if log.Object, err = m.storeLogToStage(ctx, out.Old, head); err != nil {
		return log, err
	}
	link, err := m.setLinkAside()
	if err != nil {
		return log, err
	}
	if _, head, err = m.git.StoreCheckedOut(ctx, m.Log(), head); err != nil {
		return log, err
	}
	var file []byte
	if out.Restored, file, err = m.findLost(head, m.isSoundStep); err != nil {
		return log, err
	}
	if m.discard && out.Text == nil && file != nil && !bytes.Equal(file, head) {
		out.Text = head
	}
	out.moveToRetimed()
	if committed, err := m.isLogOf(ctx, out.Old, file); err != nil {
		return log, err
	} else if committed && !bytes.Equal(file, head) && !bytes.Equal(out.Text, head) { // the file is just the old commit's log: the new commit's log replaces it
		out.PutBack = combine.PutBack{Text: head, Lost: out.Lost, Gone: out.Gone}
	}
	if out.Text != nil {
		log.Content, log.Over = out.Text, file
	}
	out.File = cmp.Or(out.File, link)
	return log, nil
}

// moveToRetimed moves from Lost to Retimed the entries that the file has, too, with no other difference than the time.
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

// isLogOf reports whether file, the work tree's log, is a commit's log as git would check it out.
func (m *mending) isLogOf(ctx context.Context, commit string, file []byte) (bool, error) {
	was, err := m.readLogText(ctx, commit)
	if err != nil || was == nil || file == nil {
		return false, err
	}
	_, was, err = m.git.StoreCheckedOut(ctx, m.Log(), was)
	return bytes.Equal(file, was), err
}
