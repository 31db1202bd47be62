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

// imports compares the originals of each import that this change touches with what its manifest says.
func (w *Workspace) imports(ctx context.Context) error {
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
		if err := w.importOf(ctx, folder, originals[folder]); err != nil {
			return err
		}
	}
	return nil
}

// importOf judges one import, and the originals that stand there.
func (w *Workspace) importOf(ctx context.Context, folder string, there map[string]bool) error {
	name := folder + "/manifest.json"
	f, is := w.files[name]
	if !is {
		w.wrong(slices.Sorted(maps.Keys(there))[0], small.Pos{}, "the import has no manifest.json, which says what its originals are")
		return nil
	}
	data, err := w.read(ctx, name, f)
	if data == nil || err != nil {
		return err
	}
	r, _ := records.Read(name, data, small.Limits{MaxFileSize: records.Manifest.Sized(0)})
	if r == nil {
		return nil // it is reported as a record
	}
	var files []records.File
	list, _ := r.Value("files").([]any) //nolint:errcheck // the schema says what is no list
	for i := range list {
		said := func(key string) any { return list[i].(map[string]any)[key] } //nolint:errcheck // the schema says so
		file := records.File{Path: fmt.Sprint(said("path")), SHA256: fmt.Sprint(said("sha256"))}
		if _, err := fmt.Sscan(fmt.Sprint(said("size")), &file.Size); err != nil {
			w.wrong(name, r.Pos("files"), "the size of %q is no number of bytes: %v", file.Path, said("size"))
			continue
		}
		files = append(files, file)
		original := folder + "/originals/" + file.Path
		f, is := w.files[original]
		if !is {
			w.wrong(name, r.Pos("files"), "the original %q is not there", file.Path)
			continue
		}
		delete(there, original)
		text, err := w.read(ctx, original, f)
		if err != nil {
			return err
		}
		if got := records.DigestOf(text); text != nil && (got != file.SHA256 || int64(len(text)) != file.Size) && !w.reported(original) {
			w.wrong(original, small.Pos{}, "the original's sha256 is %s, with %d bytes; the manifest says %s, with %d", got, len(text), file.SHA256, file.Size)
		}
	}
	for _, other := range slices.Sorted(maps.Keys(there)) {
		w.wrong(other, small.Pos{}, "the manifest does not name this original")
	}
	input := records.InputDigest(files)
	if got := r.Text("input_digest"); got != input {
		w.wrong(name, r.Pos("input_digest"), "%q is %s; the files that are named have %s", "input_digest", got, input)
	}
	if id := records.ImportID(r.Text("namespace"), input); r.Text("import_id") != id {
		w.wrong(name, r.Pos("import_id"), "%q is %s; namespace and files give %s", "import_id", r.Text("import_id"), id)
	}
	return nil
}

// reported reports whether a file was found to be changed already: then it is known why it is not what the manifest says.
func (w *Workspace) reported(name string) bool {
	path := small.InDir(w.dir, name)
	return slices.ContainsFunc(w.run.Collector.Report.Findings, func(f finding.Finding) bool { return f.Path == path })
}

func (w *Workspace) wrong(name string, pos small.Pos, format string, args ...any) {
	w.problems = append(w.problems, problem{name: name, Problem: small.Problem{
		Kind: records.ProblemImport, Pos: pos, Subject: "import", Message: fmt.Sprintf(format, args...),
		Hint: "put the import back as `small migrate` has written it; if a migration stopped half-way, `small migrate --recover` finishes it",
	}})
}
