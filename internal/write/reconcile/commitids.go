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
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// Rename is files with the new ids of commits that were rewritten, in place of the old ones that entries name as evidence. Entries that before
// has, at the same path, stay: they are published. to has the new ids by the old ones, and notes say what was written.
func (c *Combiner) Rename(ctx context.Context, files, before Files, to map[string]string) (out Files, notes []string, err error) {
	out = files
	limit := small.Limits{MaxFileSize: cmp.Or(c.opts.MaxFileSize, c.opts.Policy.MaxFileSize)}.FileSize()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		if !isWorkspaceLog(path) || f.Object == before[path].Object || len(to) == 0 {
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
		text, said, err := replaceIDsIn(blob.Data, old.Data, to, func([]ledger.Entry) (map[small.Digest]bool, error) {
			log, _ := ledger.ReadLog(old.Data, small.Limits{MaxFileSize: limit})
			if log == nil {
				return nil, nil
			}
			return ledger.DigestSet(log.Ledger), nil
		})
		if err != nil {
			return nil, nil, err
		}
		if len(said) == 0 {
			continue
		}
		if len(notes) == 0 {
			out = maps.Clone(files)
		}
		for _, note := range said {
			notes = append(notes, path+": "+note)
		}
		f.Object = history.BlobID(text, f.Object)
		c.repo.contents[f.Object] = text
		out[path] = f
	}
	return out, notes, nil
}

// replaceIDsIn is Rename for the text of one log. published are the entries that stay. A new id is cut to the length of the old one, so that nothing
// else in the text moves.
func replaceIDsIn(text, before []byte, to map[string]string, published func([]ledger.Entry) (map[small.Digest]bool, error)) (out []byte, notes []string, err error) {
	const shortest = 7
	added := bytes.TrimPrefix(text, before)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(to)), func(id string) bool { return bytes.Contains(added, []byte(id[:shortest])) }) {
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
	stays, err := published(log.Entries)
	if err != nil {
		return nil, nil, err
	}
	lines := slices.Collect(bytes.Lines(bytes.Clone(text)))
	for i, e := range log.Entries {
		if len(e.Commit) < shortest || stays[e.Digest] {
			continue
		}
		for id, now := range to {
			if !strings.HasPrefix(id, e.Commit) {
				continue
			}
			at := doc.Root.Get("entries").Items[i].Get("commit").Pos
			line := lines[at.Line-1]
			line = line[byteOffset(line, at.Column):] // what stands before it may say the same
			if at := bytes.Index(line, []byte(e.Commit)); at >= 0 {
				copy(line[at:], now[:len(e.Commit)])
				notes = append(notes, fmt.Sprintf("%s names commit %s now, which %s has become", ledger.Describe(e), history.Short(now), history.Short(id)))
			}
		}
	}
	return bytes.Join(lines, nil), notes, nil
}

// byteOffset is where a column of a line, which counts characters, begins.
func byteOffset(line []byte, column int) (at int) {
	for range column - 1 {
		_, n := utf8.DecodeRune(line[at:])
		at += n
	}
	return at
}

// replaceRebasedIDs replaces, in the sides of a log that git's rebase puts on top, the old ids of commits that it has put there already.
func (r *reconciliation) replaceRebasedIDs(c *combine.Case) (notes []string, err error) {
	if r.inMemory || r.op.kind != state.Rebase || !isWorkspaceLog(c.Path) {
		return nil, nil
	}
	list, err := state.File(r.git.GitDir, "rebase-merge/rewritten-list")
	if err != nil {
		return nil, err
	}
	to := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if old, now, found := strings.Cut(strings.TrimSpace(line), " "); found && history.IsObjectID(old) && history.IsObjectID(now) {
			to[old] = now
		}
	}
	for i := range c.Theirs {
		t := &c.Theirs[i]
		if t.Data, notes, err = replaceIDsIn(t.Data, nil, to, c.Published); err != nil {
			return nil, err
		}
		for k := range t.Bases {
			if t.Bases[k].Data, _, err = replaceIDsIn(t.Bases[k].Data, nil, to, c.Published); err != nil {
				return nil, err
			}
		}
	}
	return notes, nil
}
