package restore

import (
	"bytes"
	"cmp"
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// follow brings the work tree, the index and the branch to the new commits, in this order: whatever is killed in between is done again by
// the same command, and loses nothing. What is not committed stays.
func (m *mending) follow(ctx context.Context, out *Mended) error {
	head, err := m.text(ctx, out.New)
	if err != nil {
		return err
	}
	var staged []history.File
	var odd []string // links, and files that can be run, of which git knows how to check them out
	if parent, _ := m.parse(head); parent != nil {
		index, err := m.logToStage(ctx, out.Old, head)
		if err == nil {
			err = m.followLog(ctx, head, out)
		}
		if err != nil {
			return err
		}
		staged = append(staged, history.File{Path: m.Log(), Object: index})
	}
	for path, s := range m.files {
		if dirty, err := m.git.Dirty(ctx, path); err != nil {
			return err
		} else if dirty {
			continue // what somebody works on stays
		}
		if staged = append(staged, s.is); s.was.Mode != history.ModePlain && s.was.Mode != "" || s.is.Mode != history.ModePlain {
			odd = append(odd, path)
		} else if err := m.checkOut(ctx, path, s.is.Object); err != nil {
			return err
		}
	}
	if err := m.git.Stage(ctx, staged); err != nil {
		return err
	}
	if len(odd) > 0 {
		if _, err := m.git.Run(ctx, nil, append([]string{"checkout-index", "-f", "-q", "--"}, odd...)...); err != nil {
			return err
		}
	}
	_, err = m.git.Run(ctx, nil, "update-ref", "-m", "small-hook restore --commit", "HEAD", out.New, out.Old)
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

// followLog has the log in the work tree continue the new one, with what is recorded there and not committed.
func (m *mending) followLog(ctx context.Context, head []byte, out *Mended) error {
	link, err := m.moveLink()
	if err != nil {
		return err
	}
	blob, err := m.git.Store(ctx, head)
	if err != nil {
		return err
	}
	if head, err = m.git.CheckedOut(ctx, m.Log(), blob); err != nil {
		return err
	}
	var file []byte
	if out.Restored, file, err = m.lost(head, m.sound); err != nil {
		return err
	}
	if committed, err := m.committed(ctx, out.Old, file); err != nil {
		return err
	} else if committed && out.Text != nil && !bytes.Equal(out.Text, head) { // the new commit has all of it, some at other times
		out.PutBack = combine.PutBack{Text: head, Lost: out.Lost, Gone: out.Gone}
	}
	if out.Text != nil {
		err = m.put(&out.Restored, file)
	}
	out.File = cmp.Or(out.File, link)
	return err
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
