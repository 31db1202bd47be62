package restore

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/write/apply"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// follow brings the work tree, the index and the branch to the new commits. What is not committed stays.
func (m *mending) follow(ctx context.Context, out *Mended) error {
	head, err := m.text(ctx, out.New)
	if err != nil {
		return err
	}
	var files []apply.File
	if parent, _ := m.parse(head); parent != nil {
		log, err := m.newLog(ctx, head, out)
		if err != nil {
			return err
		}
		files = append(files, log)
	}
	for path, s := range m.files {
		if dirty, err := m.git.Dirty(ctx, path); err != nil {
			return err
		} else if dirty {
			continue // what somebody works on stays
		}
		file := apply.File{File: s.is}
		if s.was.Mode != history.ModePlain && s.was.Mode != "" || s.is.Mode != history.ModePlain { // a link, or a file that can be run
			file.ByGit = true
		} else if file.Content, err = m.git.CheckedOut(ctx, path, s.is.Object); err != nil {
			return err
		}
		files = append(files, file)
	}
	kept, err := m.workTree().Do(ctx, m.git, files, &apply.Move{Ref: "HEAD", From: out.Old, To: out.New, Reason: "small-hook restore --commit"})
	out.File = cmp.Or(kept[m.Log()], out.File)
	return err
}

// logToStage is the blob that the index gets for the log: the new head's, and after it what was staged and is not committed.
func (m *mending) logToStage(ctx context.Context, old string, head []byte) (string, error) {
	was, err := m.text(ctx, old)
	if err != nil {
		return "", err
	}
	if was == nil { // the old head had none, or a link
		return m.git.Store(ctx, head)
	}
	data, there, err := githistory.ReadFile(ctx, m.repo, history.Index, m.Log(), m.Limits.FileSize())
	if err != nil {
		return "", err
	}
	if there && !bytes.Equal(data, was) {
		back, err := m.putBackOf(head, data, m.sound)
		if err != nil {
			return "", err
		}
		if head = data; back.Text != nil {
			head = back.Text
		}
	}
	return m.git.Store(ctx, head)
}

// newLog is what becomes of the log: the new one, with what is staged or recorded and not committed.
func (m *mending) newLog(ctx context.Context, head []byte, out *Mended) (log apply.File, err error) {
	log.Path = m.Log()
	if log.Object, err = m.logToStage(ctx, out.Old, head); err != nil {
		return log, err
	}
	link, err := m.moveLink()
	if err != nil {
		return log, err
	}
	blob, err := m.git.Store(ctx, head)
	if err != nil {
		return log, err
	}
	if head, err = m.git.CheckedOut(ctx, m.Log(), blob); err != nil {
		return log, err
	}
	var file []byte
	if out.Restored, file, err = m.lost(head, m.sound); err != nil {
		return log, err
	}
	if m.discard && out.Text == nil && file != nil && !bytes.Equal(file, head) {
		out.Text = head
	}
	out.findRetimed()
	if committed, err := m.committed(ctx, out.Old, file); err != nil {
		return log, err
	} else if committed && out.Text != nil && !bytes.Equal(out.Text, head) { // the new commit has all of it, some at other times
		out.PutBack = combine.PutBack{Text: head, Lost: out.Lost, Gone: out.Gone}
	}
	if out.Text != nil {
		log.Content, log.Over = out.Text, file
	}
	out.File = cmp.Or(out.File, link)
	return log, nil
}

// findRetimed takes from the lost entries those that the file has with another time and otherwise alike.
func (r *Restored) findRetimed() {
	r.Lost = slices.DeleteFunc(r.Lost, func(is ledger.Entry) bool {
		at := slices.IndexFunc(r.Changed, func(was ledger.Entry) bool { return was.Sum == is.Sum && was.Timestamp != is.Timestamp })
		if at < 0 || is.Timestamp == "" {
			return false
		}
		r.Retimed = append(r.Retimed, [2]ledger.Entry{r.Changed[at], is})
		r.Changed = slices.Delete(r.Changed, at, at+1)
		return true
	})
}

// committed reports whether the work tree's log is that of a commit.
func (m *mending) committed(ctx context.Context, commit string, file []byte) (bool, error) {
	was, err := m.text(ctx, commit)
	if err != nil || was == nil || file == nil {
		return false, err
	}
	blob, err := m.git.Store(ctx, was)
	if err != nil {
		return false, err
	}
	was, err = m.git.CheckedOut(ctx, m.Log(), blob)
	return bytes.Equal(file, was), err
}
