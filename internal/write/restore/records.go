package restore

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// isOfRecords reports whether At names records of 2.0.0.
func (w *Workspace) isOfRecords() bool { return !w.isWorkspaceLog() && !w.kind().Configured() }

// Key returns the path of the file without which there is nothing to restore from: the log, or the profile of a folder of records.
func (w *Workspace) Key() string {
	if w.isOfRecords() && records.KindOf(w.nameInSmall()) == "" {
		return small.InDir(w.Dir, records.ProfileFile)
	}
	return w.Log()
}

// RestoreRecords restores and stages the 2.0.0 records at or below the log's path from the source commit. Without a source, it takes them from HEAD, and
// those that HEAD lacks from the commits being merged. It also restores missing policy files. It keeps a copy of each overwritten file.
func (w *Workspace) RestoreRecords(ctx context.Context, repo reconcile.Repository, source string, environ []string) (out Restored, err error) {
	out.Log = w.Log()
	r, err := w.begin(repo, environ)
	if err != nil {
		return out, err
	}
	commits, err := SourceCommits(ctx, repo, source)
	if err != nil {
		return out, err
	}
	found, src := false, read.NewSource(repo, nil, read.Basis{})
	for i, id := range commits {
		is, err := src.Profile2At(ctx, id, w.Dir)
		if err != nil || !is && !records.IsImmutable(w.nameInSmall()) {
			if err != nil {
				return out, err
			}
			continue // this commit has a workspace of 1.0.0
		}
		found = true
		lost, err := r.listLostRecords(ctx, id, commits[:i], r.Log(), "", "--cached")
		if err != nil {
			return out, err
		}
		if err := r.putBackRecords(ctx, id, lost, &out); err != nil {
			return out, err
		}
	}
	if !found {
		return out, &failure.Error{
			Message: "the workspace is of SMALL " + records.Version + ", and there are no records of it to restore: beside " + records.ProfileFile + ", files of 1.0.0 do not count",
			Remedy:  "if a migration stopped half-way, finish it: `small migrate --recover`", Err: ErrUnreadable,
		}
	}
	if !out.Staged {
		return out, nil
	}
	err = r.stageAndContinue(ctx, &out)
	return out, err
}

// nameInSmall returns the log's path below .small.
func (w *Workspace) nameInSmall() string {
	_, name, _ := small.SplitPath(w.Log())
	return name
}

// listLostRecords lists the paths of a commit's records, at or below a path, that are missing or changed in at least one of the versions. It also
// lists the commit's policy files that are not on disk. A version is an argument of git diff: a commit, --cached for the index, or "" for the work
// tree. listLostRecords leaves out files that one of the other commits has.
func (r *restoring) listLostRecords(ctx context.Context, id string, others []string, below string, versions ...string) (lost []string, err error) {
	known := map[string]bool{}
	for _, version := range versions {
		args := []string{"diff", "--name-only", "--no-ext-diff", "--no-renames", "--diff-filter=a", "-z", id, version, "--", below}
		names, err := r.git.Run(ctx, slices.DeleteFunc(args, func(arg string) bool { return arg == "" })...)
		if err != nil {
			return nil, err
		}
		for path := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
			if path == "" || known[path] {
				continue
			}
			known[path] = true
			_, name, _ := small.SplitPath(path)
			isLost := records.KindOf(name) != ""
			if !isLost && strings.HasPrefix(name, "policy/") {
				there, err := state.Exists(filepath.Join(r.Place.Top, filepath.FromSlash(path)))
				if err != nil {
					return nil, err
				}
				isLost = !there
			}
			for i := 0; isLost && i < len(others); i++ {
				f, err := findFile(ctx, r.repo, others[i], path)
				if err != nil {
					return nil, err
				}
				isLost = f.Mode == ""
			}
			if isLost {
				lost = append(lost, path)
			}
		}
	}
	return lost, nil
}

// putBackRecords restores and stages the files at some paths as a commit has them. It keeps what was there before.
func (r *restoring) putBackRecords(ctx context.Context, id string, lost []string, out *Restored) error {
	if len(lost) == 0 {
		return nil
	}
	if out.Aside == nil {
		out.Aside = map[string]string{}
	}
	for _, path := range lost {
		one := *r.Workspace
		one.At = path
		link, err := one.setLinkAside()
		if err != nil {
			return err
		}
		there, err := one.Read()
		if err == nil && there != nil {
			link, err = one.workTree().Keep(path, there)
		}
		if err != nil {
			return err
		}
		if link != "" {
			out.Aside[path] = link
		}
	}
	_, err := r.git.RunInput(ctx, strings.NewReader(strings.Join(lost, "\x00")), "restore", "--source="+id, "--staged", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
	if err == nil {
		out.Missing, out.Staged = append(out.Missing, lost...), true
	}
	return err
}

// listRecordsLostByCommit lists the paths of the records that the commit to mend lacks or changes, compared with each commit in origins. A commit of
// 1.0.0 has no records.
func (m *mending) listRecordsLostByCommit(ctx context.Context, origins []string) (paths []string, err error) {
	for i, id := range origins {
		is, err := read.NewSource(m.repo, nil, read.Basis{}).Profile2At(ctx, id, m.Dir)
		if err != nil {
			return nil, err
		}
		if is {
			lost, err := m.listLostRecords(ctx, id, origins[:i], small.InDir(m.Dir, ""), m.toMend)
			if err != nil {
				return nil, err
			}
			paths = append(paths, lost...)
		}
	}
	return paths, nil
}
