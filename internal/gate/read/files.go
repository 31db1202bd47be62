package read

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// GroupByWorkspace groups the files of a tree by the directory of their workspace, and lists these directories in order.
func GroupByWorkspace(files []history.File) (dirs []string, byDir map[string][]history.File) {
	byDir = map[string][]history.File{}
	for _, f := range files {
		dir, ok := small.WorkspaceOf(f.Path)
		if !ok {
			continue
		}
		if outer, _, nested := small.SplitPath(dir); nested && f.Mode == history.ModeDirectory && f.Path == small.InDir(dir, "") {
			dir = outer // an empty .small in a .small is not a workspace
		}
		if _, known := byDir[dir]; !known {
			if dirs == nil {
				byDir[dir] = make([]history.File, 0, len(files)) // most trees have one workspace
			}
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], f)
	}
	for _, dir := range dirs {
		// A workspace inside another one's .small also counts as a directory of the outer one.
		if outer, _, nested := small.SplitPath(dir); nested && byDir[outer] != nil {
			byDir[outer] = append(byDir[outer], history.File{Path: small.InDir(dir, ""), Mode: history.ModeDirectory})
		}
	}
	slices.Sort(dirs)
	return dirs, byDir
}

// ReadFile reads a file of a tree. It returns a problem if the path has a merge conflict, is not an ordinary file or is too large.
func ReadFile(ctx context.Context, tree history.Tree, f history.File, limits small.Limits) ([]byte, *small.Problem, error) {
	if f.Unmerged {
		return nil, &small.Problem{
			Kind: small.ProblemYAML, Message: "the path has an unresolved merge conflict in the index",
			Hint: "resolve it, then `git add` the file", Conflict: true,
		}, nil
	}
	if !f.Regular() {
		return nil, NotAFile(f), nil
	}
	blob, err := tree.Blob(ctx, f.Object, limits.FileSize())
	if err != nil {
		return nil, nil, err
	}
	if blob.Size > limits.FileSize() {
		p := small.TooLarge(blob.Size, limits)
		return nil, &p, nil
	}
	return blob.Data, nil, nil
}

// IsFamilyLog reports whether the log at a path belongs to a family of rules, which defines its format and judges its edits.
func (src *Source) IsFamilyLog(path string) bool { return src.Policy.FormatAt(path) != nil }

// IsLog reports whether a path is that of a log that is judged: SMALL's, a family's, a configured one, or a record of 2.0.0.
func (src *Source) IsLog(path string) bool {
	if IsProgress(path) {
		return src.Judges(path)
	}
	return src.IsFamilyLog(path) || src.IsImmutableRecord(path) || src.Policy.LogFor(path) != nil
}

// JudgedFiles lists the files of a revision that are judged when they change. It also notes which workspaces of the revision have the
// profile 2.0.0.
func (src *Source) JudgedFiles(ctx context.Context, revision string) ([]history.File, error) {
	files, err := src.Tree.List(ctx, revision, history.Judged(src.Policy))
	for _, f := range files {
		if dir, name, ok := small.SplitPath(f.Path); ok && name == records.ProfileFile && err == nil && src.Policy.Judges(dir) {
			var is bool
			is, err = src.IsProfile2(ctx, f)
			src.profile2[dir] = src.profile2[dir] || is
		}
	}
	return files, err
}

// IsFileEntry reports whether the file at a path is one entry, as in a configured log that is a folder of files, and among the records of 2.0.0.
// Such a file is immutable. This package reads it as a log with one entry; messages call its folder the log.
func (src *Source) IsFileEntry(path string) bool {
	return src.IsLog(path) && src.ReaderOf(path).fileIsEntry
}

// LogName returns what messages call the log at a path: the path or, for an immutable file, its folder.
func (src *Source) LogName(at string) string {
	if src.IsFileEntry(at) {
		return path.Dir(at)
	}
	return at
}

// FolderLog names the log that a stanza has in a folder. Stanza is nil for records of 2.0.0.
type FolderLog struct {
	Folder string
	Stanza *policy.Log
}

// FolderLogOf returns the log to which an immutable file belongs.
func (src *Source) FolderLogOf(file string) FolderLog {
	return FolderLog{path.Dir(file), src.Policy.LogFor(file)}
}

// Compare orders logs by their folders, and those of one folder by their stanzas' patterns.
func (l FolderLog) Compare(other FolderLog) int {
	pattern := func(l *policy.Log) string {
		if l == nil {
			return ""
		}
		return l.Path
	}
	return cmp.Or(strings.Compare(l.Folder, other.Folder), strings.Compare(pattern(l.Stanza), pattern(other.Stanza)))
}

// ReaderOf returns the reader for the format of the log at a path.
func (src *Source) ReaderOf(path string) *logReader {
	key, as := "", progressFormat
	if f := src.Policy.FormatAt(path); f != nil {
		key, as = f.Rule, familyFormat(f)
	} else if src.IsImmutableRecord(path) {
		key, as = "records", fileFormat(new(ledger.Form), false)
	} else if l := src.Policy.LogFor(path); l != nil {
		key, as = l.Format(), formatOf(l)
	}
	reader := src.readers[key]
	if reader == nil {
		reader = newLogReader(src.Tree, src.Limits, src.Cache, as)
		src.readers[key] = reader
	}
	return reader
}
