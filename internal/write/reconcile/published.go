package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// findPublished finds the entries that a remote-tracking branch has in the log at a path, or at its former paths. There may be hundreds of
// branches with few versions of the log: each version is read once, and only the part that differs from our version is parsed.
func (r *reconciliation) findPublished(ctx context.Context, path string, entries []ledger.Entry) (map[small.Digest]bool, error) {
	tips, err := r.repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	var edges []history.Edge
	for _, tip := range tips {
		edges = append(edges, history.Edge{Parent: r.op.ours.id, Child: tip})
	}
	changes, err := r.repo.Diff(ctx, edges, history.At(append(r.oldPaths(path), path)...))
	if err != nil {
		return nil, err
	}
	ours := r.files[r.op.ours.id][path]
	var versions []string
	for _, changed := range changes {
		if len(changed) == 0 && ours.Regular() {
			versions = append(versions, ours.Object)
		}
		for _, c := range changed {
			if c.New.Regular() {
				versions = append(versions, c.New.Object)
			}
		}
	}
	slices.Sort(versions)
	found := map[small.Digest]bool{}
	text, err := r.readSide(ctx, r.op.ours, path)
	if err != nil {
		return nil, err
	}
	log, _ := ledger.ReadLog(text, r.limits())
	for _, object := range slices.Compact(versions) {
		blob, err := r.repo.Blob(ctx, object, r.limits().FileSize())
		if err != nil {
			return nil, err
		}
		version, _ := log.Extend(text, blob.Data, r.limits())
		if version == nil {
			continue // unreadable
		}
		all := ledger.DigestSet(version.Ledger)
		for _, e := range entries {
			found[e.Digest] = found[e.Digest] || all[e.Digest]
		}
	}
	return found, nil
}

// Published returns the entries of a commit's log that a remote-tracking branch has.
func Published(ctx context.Context, repo Repository, commit, path string, entries []ledger.Entry, opts Options) (map[small.Digest]bool, error) {
	r := newReconciliation(repo, nil, opts)
	r.op = &operation{ours: side{id: commit}}
	if _, err := r.listFiles(ctx, commit); err != nil {
		return nil, err
	}
	found, err := r.findPublished(ctx, path, entries)
	maps.DeleteFunc(found, func(_ small.Digest, is bool) bool { return !is })
	return found, err
}
