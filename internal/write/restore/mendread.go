package restore

import (
	"cmp"
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// commitLog is the log of a commit, old or new.
type commitLog struct {
	file history.File
	// text is nil if the commit has no regular file for the log, or an empty one. It is also nil if it was dropped to save memory: readLog reads it
	// again.
	text []byte
}

// readLog returns the log of an old or new commit.
func (m *mending) readLog(ctx context.Context, id string) (*commitLog, error) {
	log := m.logs[id]
	if log != nil && (log.text != nil || !log.file.Regular()) {
		return log, nil
	}
	out := &commitLog{}
	var err error
	if log != nil { // its text was dropped
		out.file = log.file
	} else if out.file, err = findFile(ctx, m.repo, id, m.logAt(id)); err != nil {
		return nil, err
	}
	if out.file.Regular() {
		if out.text, err = m.objects.Blob(ctx, out.file.Object); err != nil {
			return nil, err
		}
		if len(out.text) == 0 {
			out.text = nil
		}
	}
	if log == nil {
		m.logs[id] = out
	}
	return out, nil
}

// storeLog writes the blob of a commit's new log. The mode is that of the commit's old log or, if it has none, that of the first parent's log.
func (m *mending) storeLog(ctx context.Context, id string, text []byte) (f history.File, err error) {
	if f, err = findFile(ctx, m.repo, id, m.logAt(id)); err == nil && !f.Regular() {
		parent := cmp.Or(history.FirstOf(m.parents[id]), id)
		f, err = findFile(ctx, m.repo, parent, m.logAt(parent))
	}
	if err != nil {
		return f, err
	}
	if !f.Regular() {
		f.Mode = history.ModePlain
	}
	f.Path = m.logAt(id)
	f.Object, err = m.objects.Store(ctx, text)
	return f, err
}
