package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// change is one file that is to be written and staged.
type change struct {
	path, mode string
	// content is what is staged, disk what is written to the work tree, there
	// what stands there now (nil for nothing).
	content, disk, there []byte
	blob                 string
	// keep is true if what stands there now may be nobody's but the work tree's,
	// and is to be kept as a blob.
	keep bool
	// movedTo is the path at which the log is written instead: this file goes.
	movedTo string
}

// onDisk reads a file of the work tree; nil if there is none. A symbolic link on
// the way is refused: what it leads to is not in this repository.
func (r *resolving) onDisk(path string) ([]byte, error) {
	at := r.git.top
	for _, name := range strings.Split(path, "/") {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, &failure.Error{Message: "cannot look at " + path + ": " + err.Error(), Err: err}
		}
		last := at == filepath.Join(r.git.top, filepath.FromSlash(path))
		if !info.IsDir() && !last || last && !info.Mode().IsRegular() {
			return nil, &failure.Error{
				Message: fmt.Sprintf("%s is not an ordinary file in the work tree: %s is in the way", path, at),
				Remedy:  "move it away, then run `small-hook reconcile` again",
			}
		}
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil, &failure.Error{Message: "cannot read " + path + ": " + err.Error(), Err: err}
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// present reads what the work tree holds. Where that is a resolution already, it
// is the one that counts: another run, or a person, made it. One with entries
// that no side has would be lost, and is refused.
func (r *resolving) present(ctx context.Context, c Case) (there []byte, done *Resolution, err error) {
	if there, err = r.onDisk(c.Path); err != nil || there == nil {
		return there, nil, err
	}
	if r.op.word != "" {
		done, err = r.resolved(ctx, c, there)
		if done != nil {
			done.Added = false
		}
		return there, done, err
	}
	dirty, err := r.git.dirty(ctx, []string{c.Path})
	if err != nil || !dirty {
		return there, nil, err
	}
	// Where no merge is under way, what differs from HEAD is somebody's unfinished
	// work, except for a resolution that was made by the same command.
	if done, err = r.resolved(ctx, c, there); err != nil || done == nil || !done.Added {
		return there, nil, uncommitted(c.Path)
	}
	done.Added = false
	return there, done, nil
}

// uncommitted is the failure of a file that is not as HEAD has it.
func uncommitted(path string) error {
	return &failure.Error{Message: path + " has changes that are not committed", Remedy: "commit them first, then run `small-hook reconcile` again"}
}

// resolved is what stands in the work tree where that is a resolution, nil where
// it is none. Added says that its last explicit entry is one that no side has.
func (r *resolving) resolved(ctx context.Context, c Case, there []byte) (*Resolution, error) {
	blob, err := r.git.storeFile(ctx, c.Path, there)
	if err != nil {
		return nil, err
	}
	stored, err := r.repo.Blob(ctx, blob, r.limits().FileSize())
	if err != nil || stored.Data == nil {
		return nil, err
	}
	log, _ := ledger.ReadLog(stored.Data, r.limits())
	if log == nil {
		return nil, nil // conflict markers, or half a resolution
	}
	l, err := c.read()
	if err != nil {
		return nil, err
	}
	if l.explicit(log.Ledger) && l.broken(log.Ledger) == nil {
		items := make([]item, log.Len())
		for i, e := range log.Entries {
			items[i] = item{Entry: e}
		}
		return &Resolution{
			Text: stored.Data, Entries: log.Len(), Brought: l.brought(items),
			Added: slices.ContainsFunc(log.Entries, func(e ledger.Entry) bool { return e.Reconciles && !l.knows(e) }),
		}, nil
	}
	extra := slices.DeleteFunc(slices.Clone(log.Entries), func(e ledger.Entry) bool {
		return e.Reconciles || l.knows(e)
	})
	if len(extra) > 0 {
		err = &failure.Error{
			Message: fmt.Sprintf("%s has entries that no side has, and they would be lost: %s", c.Path, ledger.DescribeAll(extra)),
			Remedy:  "copy them elsewhere, restore the file (`git checkout --merge -- " + wording.ShellWord(c.Path) + "`), run `small-hook reconcile`, then append them again",
		}
	}
	return nil, err
}

// knows reports whether a side has an entry, or had it where the sides parted.
func (l *log) knows(e ledger.Entry) bool {
	return l.base[e.Digest] || slices.ContainsFunc(l.versions, func(v *version) bool {
		_, known := v.places[e.Digest]
		return known
	})
}

// plan works out what writing a file comes to, and reports whether anything
// would change.
func (r *resolving) plan(ctx context.Context, w change) (bool, error) {
	var err error
	if w.blob, err = r.git.store(ctx, w.content); err != nil {
		return false, err
	}
	if w.disk, err = r.git.checkedOut(ctx, w.path, w.blob); err != nil {
		return false, err
	}
	if !w.keep {
		w.disk = w.there // it is the resolution, just as it stands there
	}
	staged := r.index[w.path]
	if bytes.Equal(w.disk, w.there) && w.there != nil && !staged.Unmerged && staged.Object == w.blob && staged.Mode == w.mode {
		return false, nil
	}
	r.changes = append(r.changes, w)
	return true, nil
}

// write writes the files, each in one step, and then stages them all at once.
// From here on nothing is interrupted. Whoever is killed in between finds each
// file as it was or as it is to be, and the index as it was; the same command
// again comes to the end.
func (r *resolving) write(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	for _, w := range r.changes {
		if !w.keep || w.there == nil || bytes.Equal(w.there, w.disk) {
			continue
		}
		blob, err := r.git.storeFile(ctx, w.path, w.there)
		if err != nil {
			return err
		}
		if r.ofASide(cmp.Or(w.movedTo, w.path), blob) || r.onlyOfSides(ctx, w) {
			continue
		}
		r.out.Kept = append(r.out.Kept, [2]string{w.path, blob})
	}
	for _, w := range r.changes {
		file := filepath.Join(r.git.top, filepath.FromSlash(w.path))
		if w.movedTo != "" {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return &failure.Error{Message: fmt.Sprintf("cannot remove %s: %v", w.path, err), Remedy: "remove it, then run `small-hook reconcile` again", Err: err}
			}
			continue
		}
		if bytes.Equal(w.there, w.disk) && w.there != nil {
			continue
		}
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = wholefile.WriteVia(r.git.gitDir, file, w.disk)
		}
		if err != nil {
			return &failure.Error{
				Message: fmt.Sprintf("cannot write %s: %v", w.path, err),
				Remedy:  "make the file writable, then run `small-hook reconcile` again; nothing is staged yet",
				Err:     err,
			}
		}
	}
	if len(r.changes) == 0 {
		return nil
	}
	return r.git.stage(ctx, r.changes)
}

// ofASide reports whether a blob is some side's version of a file.
func (r *resolving) ofASide(file, blob string) bool {
	return slices.ContainsFunc(append([]side{r.op.ours}, r.op.theirs...), func(s side) bool {
		f, ok := r.files[s.id][file]
		return ok && f.Object == blob
	})
}

// onlyOfSides reports whether each line that stands in the work tree is one of a
// side's, or a conflict marker: so it is where git has just merged.
func (r *resolving) onlyOfSides(ctx context.Context, w change) bool {
	conflictMarker := regexp.MustCompile(`^(<{7,}|={7,}|>{7,}|\|{7,})( |$)`)
	known := map[string]bool{}
	for _, s := range append([]side{r.op.ours}, r.op.theirs...) {
		data, err := r.read(ctx, s, cmp.Or(w.movedTo, w.path))
		if err != nil {
			return false
		}
		for _, line := range splitLines(data) {
			known[strings.TrimRight(string(line), "\r\n")] = true
		}
	}
	for _, line := range splitLines(w.there) {
		text := strings.TrimRight(string(line), "\r\n")
		if !conflictMarker.MatchString(text) && !known[text] {
			return false
		}
	}
	return true
}

// report fills in what there is to show once all is written.
func (r *resolving) report(ctx context.Context) error {
	var paths []string
	for _, w := range r.changes {
		paths = append(paths, w.path)
	}
	if len(paths) > 0 {
		var err error
		if r.out.Diff, err = r.git.diff(ctx, paths); err != nil {
			return err
		}
	}
	index, err := r.list(ctx, history.Index)
	if err != nil {
		return err
	}
	for path, f := range index {
		if f.Unmerged {
			r.out.Conflicts = append(r.out.Conflicts, path)
		}
	}
	slices.Sort(r.out.Conflicts)
	all, err := r.git.unmerged(ctx)
	for _, path := range all {
		if _, listed := index[path]; !listed {
			r.out.Elsewhere = append(r.out.Elsewhere, path)
		}
	}
	return err
}
