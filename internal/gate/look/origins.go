package look

import (
	"cmp"
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/small"
)

// brought maps a log's path and an entry's digest to the commits that added the entry, in the order of judgement: those that have it and whose parents
// lack it. Equal entries were added one after the other.
type brought map[string]map[small.Digest][]string

func (b brought) add(path string, entry small.Digest, commits ...string) {
	if b[path] == nil {
		b[path] = map[small.Digest][]string{}
	}
	b[path][entry] = append(b[path][entry], commits...)
}

// next returns the commit that added the next one of equal entries; empty if none did.
func (b brought) next(path string, entry small.Digest) string {
	commits := b[path][entry]
	if len(commits) == 0 {
		return ""
	}
	if len(commits) > 1 {
		b[path][entry] = commits[1:]
	}
	return commits[0]
}

// origins finds the commits that added the entries of some logs.
func (l *look) origins(ctx context.Context, tips []tip) (brought, error) {
	found := brought{}
	if l.Head == "" || len(tips) == 0 {
		return found, nil
	}
	commits, err := l.src.Commits(ctx, []string{l.Head}, nil)
	if err != nil {
		return nil, err
	}
	changes, err := l.src.ChangesOf(ctx, commits)
	if err != nil {
		return nil, err
	}
	l.src.NoteHistory(commits, changes)
	followed := l.followed(tips, changes)
	for i, c := range commits {
		paths := history.PathsOf(changes[i], func(path string) bool { return followed[path] != nil })
		if len(paths) == 0 {
			continue
		}
		s, err := l.src.NewStep(ctx, c, changes[i])
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if err := l.noteNew(ctx, found, s, path, followed[path]); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// followed returns the paths where the logs are, or may have been before they moved, each with the log as it is now.
func (l *look) followed(tips []tip, changes [][][]history.Change) map[string]*tip {
	out := map[string]*tip{}
	for i := range tips {
		out[tips[i].path] = &tips[i]
	}
	for i := len(changes) - 1; i >= 0; i-- {
		for _, edge := range changes[i] {
			for _, c := range edge {
				if t := out[c.Path]; t != nil && c.New.Mode != "" {
					noteSources(out, edge, c, t, l.src)
				}
			}
		}
	}
	return out
}

// noteSources adds to followed the logs from which entries may have come to a followed log on an edge: those that moved there, if the edge adds that
// log, and those that were rotated.
func noteSources(followed map[string]*tip, edge []history.Change, to history.Change, t *tip, src *read.Source) {
	for _, c := range edge {
		moved := c.New.Mode == "" && to.Old.Mode == "" && src.IsLog(c.Path)
		if followed[c.Path] == nil && (moved || src.MayRotate(c) && src.MayRotate(to) && src.ReaderOf(c.Path) == src.ReaderOf(to.Path)) {
			followed[c.Path] = t
		}
	}
}

// noteNew adds to found the entries that a commit added to a log. For entries that came to it from another path, it keeps the known commit.
func (l *look) noteNew(ctx context.Context, found brought, s *read.Step, path string, t *tip) error {
	for _, edge := range s.Changes {
		if c, changed := history.ChangeAt(edge, path); changed {
			if err := l.src.ReaderOf(path).KeepBeginning(ctx, c.New, t.log, t.text); err != nil {
				return err
			}
		}
	}
	child, parents, err := l.src.ReadVersions(ctx, s, path)
	if err != nil || !child.Readable() {
		return err
	}
	for _, p := range parents {
		for i, log := range p.Ledgers {
			if from := cmp.Or(log.RotatedFrom(), p.Paths[i]); from != path {
				for _, e := range log.Log.Entries {
					if found[path][e.Digest] == nil {
						found.add(path, e.Digest, found[from][e.Digest]...)
					}
				}
			}
		}
	}
	added, _ := read.NewEntries(child.Log.Ledger, parents)
	for _, n := range added {
		found.add(path, child.Log.Entries[n].Digest, s.ID)
	}
	return nil
}
