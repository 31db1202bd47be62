package restore

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// findSubstitutions fills m.substitutions: for the named files, for the files that addLostFiles adds, and for a late import.
func (m *mending) findSubstitutions(ctx context.Context, source string, files []string) error {
	parents := m.parents[m.toMend]
	if source != "" {
		parents = []string{source}
	}
	named := files
	files, err := m.expandFolders(ctx, parents, files)
	if err == nil {
		files, err = m.addLostFiles(ctx, parents, files)
	}
	if err == nil {
		files, err = m.planLateImport(ctx, files)
	}
	if err != nil {
		return err
	}
	before := make([]map[string]history.File, len(parents))
	for i, id := range parents {
		if before[i], err = findFiles(ctx, m.repo, id, files); err != nil {
			return err
		}
	}
	bad, err := findFiles(ctx, m.repo, m.toMend, files)
	if err != nil {
		return err
	}
	laterChanges := sync.OnceValues(func() (map[string]substitution, error) { return m.findLaterChanges(ctx, files) })
	for _, path := range files {
		s, err := m.findSubstitution(before, bad, source, path, laterChanges)
		if err != nil {
			return err
		}
		if s.to.Mode == "" && slices.Contains(named, path) {
			if err := m.refuseNew(ctx, source, path, s.from); err != nil {
				return err
			}
		}
		if path == m.Log() || s.to.Mode == "" || s.to == s.from {
			continue
		}
		if info, statErr := os.Lstat(filepath.Join(m.Place.Top, filepath.FromSlash(path))); statErr == nil && info.IsDir() {
			if _, err := workgit.ReadFile(m.Place.Top, path); err != nil {
				return err // the error names what is in the way
			}
		}
		m.substitutions[path] = s
	}
	return nil
}

// refuseNew returns an error for a named file that the source or, without one, the parents of the commit to mend lack. Without a source, it returns
// nil if a later commit has added the file and HEAD still has it. file is what the commit to mend has at the path.
func (m *mending) refuseNew(ctx context.Context, source, path string, file history.File) error {
	if source != "" {
		return &failure.Error{
			Message: fmt.Sprintf("%s cannot be put back from %s: it is not there", wording.Printable(path), history.Short(source)),
			Remedy:  "give --source a commit that has the file: `git log -- " + wording.TopPath(path) + "` lists the commits that changed it",
		}
	}
	head := m.unshared[len(m.unshared)-1]
	now, err := findFile(ctx, m.repo, head, path)
	if err != nil || file.Mode == "" && now.Mode != "" {
		return err
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s cannot be put back in %s: it was not there before", wording.Printable(path), history.Short(m.toMend)),
		Remedy:  "name a file that the commit changed or deleted: `git show --stat " + history.Short(m.toMend) + "` lists its files",
	}
}

// expandFolders replaces each named folder by the files below it that must not change: those that a parent or HEAD has.
func (m *mending) expandFolders(ctx context.Context, parents, named []string) (out []string, err error) {
	head, err := m.repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	for _, folder := range named {
		var inFolder []string
		for _, id := range append(slices.Clone(parents), head) {
			files, err := FilesInFolder(ctx, m.repo, id, m.Policy, folder)
			if err != nil {
				return nil, err
			}
			inFolder = append(inFolder, files...)
		}
		if len(inFolder) == 0 {
			inFolder = []string{folder}
		}
		out = append(out, inFolder...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// FilesInFolder lists the files of a commit that are below a folder and must not change.
func FilesInFolder(ctx context.Context, tree history.Tree, id string, p *policy.Policy, folder string) (out []string, err error) {
	files, err := tree.List(ctx, id, history.Judged(p))
	prefix := strings.TrimPrefix(path.Clean(folder)+"/", "./")
	for _, f := range files {
		if stanza := p.LogFor(f.Path); stanza != nil && stanza.Entries == policy.FileEntries && strings.HasPrefix(f.Path, prefix) {
			out = append(out, f.Path)
		}
	}
	return out, err
}

// findSubstitution returns the substitution that makes the file at a path what it was in the parents or, if there is a source, in the source. If the
// commit to mend left the file alone or added it, and there is no source, it returns the file's substitution in laterChanges, if any. before has the
// files of each parent, bad those of the commit to mend.
func (m *mending) findSubstitution(before []map[string]history.File, bad map[string]history.File, source, path string, laterChanges func() (map[string]substitution, error)) (s substitution, err error) {
	s.since, s.from = m.toMend, bad[path]
	for i := 0; i < len(before) && s.to.Mode == ""; i++ { // a merge may have lost what another parent has
		s.to = before[i][path]
	}
	if added := s.to.Mode == "" && s.from.Mode != ""; s.to != s.from && !added || source != "" {
		return s, nil
	}
	later, err := laterChanges()
	if later[path].to.Mode != "" {
		s = later[path]
	}
	return s, err
}

// findLaterChanges finds for each path the first commit that changes or deletes the file, among the commits that are not ancestors of the commit to
// mend. A merge counts, too, if it lacks a file that its second or a later parent has. findLaterChanges returns the substitutions that undo these
// changes.
func (m *mending) findLaterChanges(ctx context.Context, paths []string) (map[string]substitution, error) {
	var edges []history.Edge
	for _, id := range m.nonAncestors(m.toMend) {
		edges = append(edges, history.EdgesOf(id, m.parents[id])...)
	}
	changed, err := m.repo.Diff(ctx, edges, history.At(paths...))
	out := map[string]substitution{}
	for i, changes := range changed {
		for _, c := range changes {
			ofFirst := history.FirstOf(m.parents[edges[i].Child]) == edges[i].Parent
			if _, known := out[c.Path]; !known && c.Old.Mode != "" && (ofFirst || c.New.Mode == "") {
				out[c.Path] = substitution{from: c.New, to: c.Old, since: edges[i].Child}
			}
		}
	}
	return out, err
}

// addLostFiles adds to the named files the workspace's files, if the commit to mend has neither the workspace's log nor a profile of 2.0.0. If no
// file is named, it adds the records that the commit has lost. For a configured log it adds nothing.
func (m *mending) addLostFiles(ctx context.Context, parents, files []string) ([]string, error) {
	log, err := findFile(ctx, m.repo, m.toMend, m.logAt(m.toMend))
	if err != nil {
		return nil, err
	}
	profile, err := findFile(ctx, m.repo, m.toMend, small.InDir(m.Dir, records.ProfileFile))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && m.At == "" {
		if files, err = m.listRecordsLostByCommit(ctx, parents); err != nil {
			return nil, err
		}
	}
	if log.Mode == "" && m.At == "" && profile.Mode == "" {
		for _, a := range small.Artifacts {
			files = append(files, a.Path(m.Dir))
		}
	}
	return files, nil
}
