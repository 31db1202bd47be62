package reconcile

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/wording"
)

// halfway refuses what git has not finished if no commit is known for the other side: a patch, or a conflict without a merge. The
// other side's version is only in stage 3 of the index, and its merge base nowhere.
func (o *operation) halfway(ctx context.Context, repo Repository) error {
	patch, err := exists(filepath.Join(repo.Where().GitDir, "rebase-apply", "applying"))
	if err != nil {
		return err
	}
	files, err := repo.List(ctx, history.Index, history.Workspaces())
	if err != nil {
		return err
	}
	var paths, show []string
	for _, f := range files {
		if f.Unmerged {
			paths, show = append(paths, wording.ShellWord(f.Path)), append(show, "`git show "+wording.ShellWord(":3:"+f.Path)+"`")
		}
	}
	slices.Sort(paths)
	slices.Sort(show)
	paths = slices.Compact(paths)
	keep := fmt.Sprintf("%s shows the other side's log; `git checkout --ours -- %[2]s && git add -- %[2]s` keeps yours; then record again what the other side did",
		strings.Join(slices.Compact(show), " and "), strings.Join(paths, " "))
	switch {
	case patch && len(paths) > 0:
		return &failure.Error{
			Message: "git am is under way: the commit that the patch comes from is unknown, and so is whose entries it brings",
			Remedy:  "type `git am --abort`, fetch the branch and merge it; or " + keep + ", and type `git am --continue`",
		}
	case len(paths) > 0:
		return &failure.Error{
			Message: strings.Join(paths, " ") + " is in conflict without a merge (as after git stash pop, git cherry-pick -n or git checkout -m): the other side's commit is unknown",
			Remedy:  keep,
		}
	case len(o.theirs) == 0:
		return &failure.Error{
			Message: "no merge, rebase, cherry-pick or squash is under way here",
			Remedy: "name the branch to reconcile with yours: `small-hook reconcile BRANCH`; " +
				"merge several branches one at a time, since git undoes a merge of several that conflicts",
		}
	}
	return nil
}
