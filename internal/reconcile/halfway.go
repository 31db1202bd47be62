package reconcile

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/wording"
)

// halfway refuses what git is in the midst of without a commit to name the other
// side by: a patch, or a conflict that no merge under way explains. The other
// side's version is in stage 3 of the index alone, and where it parted nowhere.
func (o *operation) halfway(ctx context.Context, repo Repository) error {
	patch, err := exists(filepath.Join(repo.Where().GitDir, "rebase-apply", "applying"))
	if err != nil {
		return err
	}
	files, err := repo.Files(ctx, gate.Index)
	if err != nil {
		return err
	}
	var paths, show []string
	for _, f := range files {
		if f.Unmerged {
			paths, show = append(paths, wording.ShellWord(f.Path)), append(show, "git show "+wording.ShellWord(":3:"+f.Path))
		}
	}
	slices.Sort(paths)
	slices.Sort(show)
	paths = slices.Compact(paths)
	keep := fmt.Sprintf("%s shows what the other side has; git checkout --ours -- %[2]s && git add -- %[2]s keeps yours; then record what the other side did anew, with the time of recording",
		strings.Join(slices.Compact(show), " and "), strings.Join(paths, " "))
	switch {
	case patch && len(paths) > 0:
		return &gate.Failure{
			Message: "git am is under way: nothing says which commit the patch comes from, and so whose entries it brings",
			Remedy:  "git am --abort, fetch the branch and merge it; or " + keep + ", and git am --continue",
		}
	case len(paths) > 0:
		return &gate.Failure{
			Message: "no merge is under way that explains the conflict in " + strings.Join(paths, " ") + " (git stash pop, git cherry-pick -n and git checkout -m leave such ones): nothing says whose entries the other side is",
			Remedy:  keep,
		}
	case len(o.theirs) == 0:
		return &gate.Failure{
			Message: "no merge, rebase, cherry-pick or squash is under way here",
			Remedy: "name the branch whose entries are to be brought together with yours: small-hook reconcile THEIRS; " +
				"several branches are merged one at a time, since git takes back a merge of several that conflicts",
		}
	}
	return nil
}
