package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// planLateImport handles a directory whose workspace is of 1.0.0 on one side and of 2.0.0 on the other: it plans to keep the files of the former as
// another import, and the rest of the directory as on the 2.0.0 side. git's own merge would change the first import. It reports whether the
// directory is such a one.
func (r *reconciliation) planLateImport(ctx context.Context, dir string) (bool, error) {
	if r.op.kind == "" || len(r.op.theirs) != 1 || !r.op.theirs[0].isCommit() {
		return false, nil
	}
	migrated, late := r.op.ours, r.op.theirs[0]
	profile := small.InDir(dir, records.ProfileFile)
	if r.files[migrated.id][profile].Mode == "" {
		migrated, late = late, migrated
	}
	text, err := r.readSide(ctx, migrated, profile)
	if err != nil || records.VersionOf(text) != records.Version || r.files[late.id][profile].Mode != "" || r.files[late.id][small.Progress.Path(dir)].Mode == "" {
		return false, err
	}
	imported, err := NewLateImport(ctx, r.repo, r.files[migrated.id], FilesBelow(r.files[late.id], small.InDir(dir, "")), dir, r.limits())
	if err != nil || imported == nil {
		return false, err
	}
	if err := r.planMigratedSide(ctx, dir, r.files[migrated.id], r.files[late.id], imported); err != nil {
		return true, err
	}
	changed := false
	for _, path := range slices.Sorted(maps.Keys(imported)) {
		fileChanged, err := r.planFile(ctx, path, history.ModePlain, imported[path])
		if err != nil {
			return true, err
		}
		changed = changed || fileChanged
		if _, name, _ := small.SplitPath(path); records.IsOriginalLog(name) {
			entries := combine.Kind{}.Entries(imported[path], r.limits()).Len()
			r.out.Logs = append(r.out.Logs, Log{Path: path, Entries: entries, Sides: []string{late.name}, Brought: []int{entries}})
		}
	}
	r.out.Logs[len(r.out.Logs)-1].Changed = changed
	return true, nil
}

// planMigratedSide plans to leave a directory's workspace as on the 2.0.0 side, and to remove the late branch's other files. imported has the files
// of the new import by path.
func (r *reconciliation) planMigratedSide(ctx context.Context, dir string, migrated, late map[string]history.File, imported map[string][]byte) error {
	for _, path := range slices.Sorted(maps.Keys(r.index)) {
		in, name, ok := small.SplitPath(path)
		_, isLate := late[path]
		if _, isMigrated := migrated[path]; !ok || in != dir || isMigrated || imported[path] != nil || !r.index[path].Unmerged && !isLate && records.ImportOf(name) == "" {
			continue
		}
		if err := r.planRemoval(path); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(migrated)) {
		if in, _, ok := small.SplitPath(path); !ok || in != dir || r.index[path] == migrated[path] {
			continue
		}
		data, err := r.readBlob(ctx, migrated[path], path)
		if err == nil {
			_, err = r.planFile(ctx, path, migrated[path].Mode, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// planFile plans to write and stage a file.
func (r *reconciliation) planFile(ctx context.Context, path, mode string, data []byte) (bool, error) {
	present, err := workgit.ReadFile(r.git.Top, path)
	if err != nil {
		return false, err
	}
	return r.planChange(ctx, change{path: path, mode: mode, content: data, present: present})
}

// FilesBelow returns the files in a folder, by their paths relative to it.
func FilesBelow(files map[string]history.File, folder string) map[string]history.File {
	out := map[string]history.File{}
	for path, f := range files {
		if name, in := strings.CutPrefix(path, folder+"/"); in {
			out[name] = f
		}
	}
	return out
}

// NewLateImport makes the files, by path, that import a workspace of 1.0.0 into one of 2.0.0 in dir; nil if an import there has its log
// already. originals has the files of the 1.0.0 workspace by name, migrated those of the 2.0.0 side by path.
func NewLateImport(
	ctx context.Context, repo Repository, migrated, originals map[string]history.File, dir string, limits small.Limits,
) (map[string][]byte, error) {
	read := func(f history.File) ([]byte, error) {
		if !f.Regular() {
			return nil, &failure.Error{Message: f.Path + " is not an ordinary file", Remedy: "replace it with an ordinary file on its branch and commit it, then merge again"}
		}
		blob, err := repo.Blob(ctx, f.Object, limits.FileSize())
		if err == nil && blob.Size > limits.FileSize() {
			err = &failure.Error{Message: fmt.Sprintf("%s has %d bytes, the limit is %d", f.Path, blob.Size, limits.FileSize()), Remedy: "raise the limit with --max-file-size BYTES"}
		}
		return blob.Data, err
	}
	texts := map[string][]byte{}
	for name, f := range originals {
		text, err := read(f)
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	log := combine.Kind{}.Entries(texts[small.Progress.FileName()], limits)
	namespace := ""
	for _, path := range slices.Sorted(maps.Keys(migrated)) {
		in, name, _ := small.SplitPath(path)
		manifest := records.KindOf(name) == records.Manifest
		if in != dir || !manifest && !records.IsOriginalLog(name) {
			continue
		}
		text, err := read(migrated[path])
		if err != nil {
			return nil, err
		}
		if !manifest && (combine.Kind{}).Entries(text, limits).Extends(log) {
			return nil, nil
		}
		if namespace == "" && manifest {
			namespace = records.NamespaceOf(text)
		}
	}
	out := map[string][]byte{}
	for name, text := range records.NewImport(namespace, texts) {
		out[small.InDir(dir, name)] = text
	}
	return out, nil
}
