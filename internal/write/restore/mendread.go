package restore

import (
	"cmp"
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// commitLog is the log of an old or new commit.
type commitLog struct {
	file history.File
	// text is nil if the log is missing, empty or not a regular file. It is also nil after it was dropped to save memory: then readLog reads it again.
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
	if log != nil { // the text was dropped
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

// storeLog writes the blob of a commit's new log, and returns the log as a file of the commit. The file has the same mode as the commit's old log or,
// if there is none, as the first parent's log.
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
