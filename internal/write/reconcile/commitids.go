package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// ReplaceCommitIDs replaces, in the workspaces' logs among files, the ids of rewritten commits that entries name. newIDs maps old ids to new ones.
// An entry that the log at the same path in before has, stays. notes tell a person about each changed entry.
func (c *Combiner) ReplaceCommitIDs(ctx context.Context, files, before Files, newIDs map[string]string) (out Files, notes []string, err error) {
	out = files
	limit := small.Limits{MaxFileSize: cmp.Or(c.opts.MaxFileSize, c.opts.Policy.MaxFileSize)}.FileSize()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		if !read.IsProgress(path) || f.Object == before[path].Object || len(newIDs) == 0 {
			continue
		}
		blob, err := c.repo.Blob(ctx, f.Object, limit)
		var old history.Blob
		if id := before[path].Object; id != "" && err == nil {
			old, err = c.repo.Blob(ctx, id, limit)
		}
		if err != nil {
			return nil, nil, err
		}
		text, added, err := replaceCommitIDs(blob.Data, old.Data, newIDs, func([]ledger.Entry) (map[small.Digest]bool, error) {
			log, _ := ledger.ReadLog(old.Data, small.Limits{MaxFileSize: limit})
			if log == nil {
				return nil, nil
			}
			return ledger.DigestSet(log.Ledger), nil
		})
		if err != nil {
			return nil, nil, err
		}
		if len(added) == 0 {
			continue
		}
		if len(notes) == 0 {
			out = maps.Clone(files)
		}
		for _, note := range added {
			notes = append(notes, path+": "+note)
		}
		f.Object = history.BlobID(text, f.Object)
		c.repo.contents[f.Object] = text
		out[path] = f
	}
	return out, notes, nil
}

// replaceCommitIDs replaces ids of commits in the text of one log. findStaying returns the entries that stay. before, if not empty, is a text of
// the log whose entries stay: if text continues it without an old id, nothing is parsed. A new id is cut to the length of the old one, so that
// nothing else in the text moves.
func replaceCommitIDs(text, before []byte, newIDs map[string]string, findStaying func([]ledger.Entry) (map[small.Digest]bool, error)) (out []byte, notes []string, err error) {
	const shortest = 7 // characters: a shorter text is no commit's id
	added := bytes.TrimPrefix(text, before)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(newIDs)), func(id string) bool { return bytes.Contains(added, []byte(id[:shortest])) }) {
		return text, nil, nil
	}
	doc, _ := small.Parse(text, small.Limits{MaxFileSize: int64(len(text))})
	if doc == nil {
		return text, nil, nil
	}
	log, _ := ledger.LogOf(doc, text)
	if log == nil {
		return text, nil, nil
	}
	stays, err := findStaying(log.Entries)
	if err != nil {
		return nil, nil, err
	}
	lines := combine.Lines(bytes.Clone(text))
	for i, e := range log.Entries {
		if len(e.Commit) < shortest || stays[e.Digest] {
			continue
		}
		for id, now := range newIDs {
			if !strings.HasPrefix(id, e.Commit) {
				continue
			}
			at := doc.Root.Get("entries").Items[i].Get("commit").Pos
			line := lines[at.Line-1]
			line = line[byteOffset(line, at.Column):] // the same text may be on the line before the field
			if at := bytes.Index(line, []byte(e.Commit)); at >= 0 {
				copy(line[at:], now[:len(e.Commit)])
				notes = append(notes, fmt.Sprintf("%s now names commit %s instead of %s", ledger.Describe(e), history.Short(now), history.Short(id)))
			}
		}
	}
	return combine.Join(lines), notes, nil
}

// byteOffset returns the offset in bytes of a column, which counts characters from 1.
func byteOffset(line []byte, column int) (at int) {
	for range column - 1 {
		_, n := utf8.DecodeRune(line[at:])
		at += n
	}
	return at
}

// replaceRebasedIDs replaces the ids of commits that git's rebase has rewritten already, in the log's version of the commit that the rebase is
// applying and in that version's base. Published entries stay.
func (r *reconciliation) replaceRebasedIDs(c *combine.Case) (notes []string, err error) {
	if r.inMemory || r.op.kind != state.Rebase || !read.IsProgress(c.Path) {
		return nil, nil
	}
	newIDs := map[string]string{}
	for _, name := range []string{"rebase-merge/rewritten-list", "rebase-apply/rewritten"} {
		list, err := state.ReadFile(r.git.GitDir, name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(list)) {
			if old, now, found := strings.Cut(strings.TrimSpace(line), " "); found && history.IsObjectID(old) && history.IsObjectID(now) {
				newIDs[old] = now
			}
		}
	}
	for i := range c.Theirs {
		t := &c.Theirs[i]
		if t.Data, notes, err = replaceCommitIDs(t.Data, nil, newIDs, c.Published); err != nil {
			return nil, err
		}
		for k := range t.Bases {
			if t.Bases[k].Data, _, err = replaceCommitIDs(t.Bases[k].Data, nil, newIDs, c.Published); err != nil {
				return nil, err
			}
		}
	}
	return notes, nil
}
