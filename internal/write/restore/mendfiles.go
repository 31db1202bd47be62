package restore

import (
	"cmp"
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

// findSubstitutions adds to m.substitutions the named files, the files that addLostFiles adds, and those of a late import (see planLateImport).
func (m *mending) findSubstitutions(ctx context.Context, source string, files []string) error {
	origins := m.parents[m.toMend] // the commits from which files are put back
	if source != "" {
		origins = []string{source}
	}
	named := files
	files, err := m.expandFolders(ctx, origins, files)
	if err == nil {
		files, err = m.addLostFiles(ctx, origins, files)
	}
	if err == nil {
		files, err = m.planLateImport(ctx, files)
	}
	if err != nil {
		return err
	}
	inOrigins := make([]map[string]history.File, len(origins))
	for i, id := range origins {
		if inOrigins[i], err = findFiles(ctx, m.repo, id, files); err != nil {
			return err
		}
	}
	inCommit, err := findFiles(ctx, m.repo, m.toMend, files)
	if err != nil {
		return err
	}
	laterChanges := sync.OnceValues(func() (map[string]substitution, error) { return m.findLaterChanges(ctx, files) })
	for _, path := range files {
		s, err := m.findSubstitution(inOrigins, inCommit, source, path, laterChanges)
		if err != nil {
			return err
		}
		if s.to.Mode == "" && slices.Contains(named, path) {
			if err := m.refuseWithoutOrigin(ctx, source, path, s.from); err != nil {
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

// refuseWithoutOrigin returns an error for a named file that cannot be put back: the source or, without one, each parent of the commit to mend lacks
// the file. Without a source, it returns nil if a later commit added the file and HEAD still has it. inCommit is the file at that path in the commit
// to mend.
func (m *mending) refuseWithoutOrigin(ctx context.Context, source, path string, inCommit history.File) error {
	name := wording.Printable(cmp.Or(path, ":/"))
	if source != "" {
		return &failure.Error{
			Message: fmt.Sprintf("%s cannot be put back from %s: it is not there", name, history.Short(source)),
			Remedy:  "give --source a commit that has the file: `git log -- " + wording.TopPath(path) + "` lists the commits that changed it",
		}
	}
	head := m.unshared[len(m.unshared)-1]
	inHead, err := findFile(ctx, m.repo, head, path)
	if err != nil || inCommit.Mode == "" && inHead.Mode != "" {
		return err
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s cannot be put back in %s: it was not there before", name, history.Short(m.toMend)),
		Remedy:  "name a file that the commit changed or deleted: `git show --stat " + history.Short(m.toMend) + "` lists its files",
	}
}

// expandFolders replaces each named folder by the files in it that are entries of configured logs. It lists the files of HEAD and of each commit in
// origins.
func (m *mending) expandFolders(ctx context.Context, origins, named []string) (out []string, err error) {
	head, err := m.repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	for _, folder := range named {
		var inFolder []string
		for _, id := range append(slices.Clone(origins), head) {
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

// FilesInFolder lists the files of a commit that are below a folder and entries of configured logs. An empty folder is the root of the tree.
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

// findSubstitution returns the substitution that replaces the file at a path in the commit to mend by the file in the source or, without a source, in
// the first parent that has the file. Without a source, if the commit to mend left the file alone or added it, findSubstitution returns the file's
// substitution in the result of laterChanges, if there is one. inOrigins has the files of the source or of each parent, inCommit has the files of the
// commit to mend.
func (m *mending) findSubstitution(inOrigins []map[string]history.File, inCommit map[string]history.File, source, path string, laterChanges func() (map[string]substitution, error)) (s substitution, err error) {
	s.since, s.from = m.toMend, inCommit[path]
	for i := 0; i < len(inOrigins) && s.to.Mode == ""; i++ {
		s.to = inOrigins[i][path]
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

// findLaterChanges finds for each path the first commit that changes or deletes the file, and returns the substitution that undoes the change. It
// looks at the unshared commits that are not ancestors of the commit to mend. A merge is compared with its first parent; it counts, too, if it lacks
// a file that another parent has.
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
			if _, found := out[c.Path]; !found && c.Old.Mode != "" && (ofFirst || c.New.Mode == "") {
				out[c.Path] = substitution{from: c.New, to: c.Old, since: edges[i].Child}
			}
		}
	}
	return out, err
}

// addLostFiles adds to the named files all files of the workspace, if the commit to mend has neither the workspace's log nor a profile of 2.0.0. If no
// file is named, it adds the records that the commit has lost. For a configured log, it returns the named files alone.
func (m *mending) addLostFiles(ctx context.Context, origins, files []string) ([]string, error) {
	log, err := findFile(ctx, m.repo, m.toMend, m.logAt(m.toMend))
	if err != nil {
		return nil, err
	}
	profile, err := findFile(ctx, m.repo, m.toMend, small.InDir(m.Dir, records.ProfileFile))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && m.isWorkspaceLog() {
		if files, err = m.listRecordsLostByCommit(ctx, origins); err != nil {
			return nil, err
		}
	}
	if log.Mode == "" && m.isWorkspaceLog() && profile.Mode == "" {
		for _, a := range small.Artifacts {
			files = append(files, a.Path(m.Dir))
		}
	}
	return files, nil
}
