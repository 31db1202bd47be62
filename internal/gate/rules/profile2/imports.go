package profile2

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// checkImports compares the originals of each import that this change touches with its manifest.
func (w *Workspace) checkImports(ctx context.Context) error {
	folders, originals := map[string]bool{}, map[string]map[string]bool{}
	for name := range w.files {
		kind := records.KindOf(name)
		if kind != records.Manifest && kind != records.Original {
			continue
		}
		folder := records.ImportOf(name)
		if originals[folder] == nil {
			originals[folder] = map[string]bool{}
		}
		if kind == records.Original {
			originals[folder][name] = true
		}
		folders[folder] = folders[folder] || w.isFresh(name)
	}
	for _, folder := range slices.Sorted(maps.Keys(originals)) {
		if !folders[folder] {
			continue
		}
		if err := w.checkImport(ctx, folder, originals[folder]); err != nil {
			return err
		}
	}
	return nil
}

// checkImport judges one import. there are the names of the originals in its folder.
func (w *Workspace) checkImport(ctx context.Context, folder string, there map[string]bool) error {
	name := folder + "/manifest.json"
	f, is := w.files[name]
	if !is {
		w.addImportProblem(slices.Sorted(maps.Keys(there))[0], small.Pos{}, "the import has no manifest.json, which says what its originals are")
		return nil
	}
	data, err := w.read(ctx, name, f)
	if data == nil || err != nil {
		return err
	}
	r, _ := records.Read(name, data, small.Limits{MaxFileSize: records.Manifest.MaxSize(0)})
	if r == nil {
		return nil // reported when it was read as a record
	}
	var files []records.File
	list, _ := r.Value("files").([]any) //nolint:errcheck // the schema says what is no list
	for i := range list {
		said := func(key string) any { return list[i].(map[string]any)[key] } //nolint:errcheck // the schema says so
		file := records.File{Path: fmt.Sprint(said("path")), SHA256: fmt.Sprint(said("sha256"))}
		if _, err := fmt.Sscan(fmt.Sprint(said("size")), &file.Size); err != nil {
			w.addImportProblem(name, r.Pos("files"), "the size of %q is no number of bytes: %v", file.Path, said("size"))
			continue
		}
		files = append(files, file)
		original := folder + "/originals/" + file.Path
		f, is := w.files[original]
		if !is {
			w.addImportProblem(name, r.Pos("files"), "the original %q is not there", file.Path)
			continue
		}
		delete(there, original)
		text, err := w.read(ctx, original, f)
		if err != nil {
			return err
		}
		if got := records.DigestOf(text); text != nil && (got != file.SHA256 || int64(len(text)) != file.Size) && !w.hasFinding(original) {
			w.addImportProblem(original, small.Pos{}, "the original's sha256 is %s, with %d bytes; the manifest says %s, with %d", got, len(text), file.SHA256, file.Size)
		}
	}
	for _, other := range slices.Sorted(maps.Keys(there)) {
		w.addImportProblem(other, small.Pos{}, "the manifest does not name this original")
	}
	input := records.InputDigest(files)
	if got := r.Text("input_digest"); got != input {
		w.addImportProblem(name, r.Pos("input_digest"), "%q is %s; the files that are named have %s", "input_digest", got, input)
	}
	if id := records.ImportID(r.Text("namespace"), input); r.Text("import_id") != id {
		w.addImportProblem(name, r.Pos("import_id"), "%q is %s; namespace and files give %s", "import_id", r.Text("import_id"), id)
	}
	return nil
}

// hasFinding reports whether the file has a finding already, which says why it differs from the manifest.
func (w *Workspace) hasFinding(name string) bool {
	path := small.InDir(w.dir, name)
	return slices.ContainsFunc(w.run.Collector.Report.Findings, func(f finding.Finding) bool { return f.Path == path })
}

func (w *Workspace) addImportProblem(name string, pos small.Pos, format string, args ...any) {
	w.problems = append(w.problems, problem{name: name, Problem: small.Problem{
		Kind: records.ProblemImport, Pos: pos, Subject: "import", Message: fmt.Sprintf(format, args...),
		Hint: "put the import back as `small migrate` has written it; if a migration stopped half-way, `small migrate --recover` finishes it",
	}})
}
