package gate

import "context"

// lastReadable finds, for a commit whose log at path is missing or cannot be
// read, the last ledgers on each way back that can be.
func (j *judgement) lastReadable(ctx context.Context, commit, path string) ([]*ledgerFile, error) {
	commits, err := j.history.Commits(ctx, []string{commit}, nil, path)
	if err != nil {
		return nil, err
	}
	var edges []Edge
	for _, c := range commits {
		edges = append(edges, node{id: c.ID, parents: c.Parents}.edges()...)
	}
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	files := map[string]File{}    // the log in each commit
	last := map[string][]File{}   // its last readable versions
	isParent := map[string]bool{} // commits that have a child in the list
	for _, c := range commits {
		own := max(len(c.Parents), 1)
		var now File
		var inherited []File
		for i := range own {
			parent := ""
			if len(c.Parents) > 0 {
				parent = c.Parents[i]
				isParent[parent] = true
			}
			now = fileAfter(changes[i], path, files[parent])
			gone, err := j.movedAway(ctx, path, files[parent], now, Edge{Parent: parent, Child: c.ID}, changes[i])
			if err != nil {
				return nil, err
			}
			if !gone {
				inherited = appendFiles(inherited, last[parent])
			}
		}
		changes = changes[own:]
		files[c.ID] = now
		there, err := j.logs(path).read(ctx, now, nil)
		if err != nil {
			return nil, err
		}
		if there.readable() {
			inherited = []File{now}
		}
		last[c.ID] = inherited
	}
	var out []*ledgerFile
	var tips []File
	for _, c := range commits {
		if !isParent[c.ID] {
			tips = appendFiles(tips, last[c.ID])
		}
	}
	for _, f := range tips {
		there, err := j.logs(path).read(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, there)
	}
	return out, nil
}

// fileAfter is a path's file in a child, from its file in the parent and what
// changed.
func fileAfter(changes []Change, path string, before File) File {
	for _, c := range changes {
		if c.Path == path {
			return c.New
		}
	}
	return before
}

// appendFiles adds files that are not there yet.
func appendFiles(to, files []File) []File {
	for _, f := range files {
		known := false
		for _, t := range to {
			known = known || t.Object == f.Object && t.Mode == f.Mode
		}
		if !known {
			to = append(to, f)
		}
	}
	return to
}
