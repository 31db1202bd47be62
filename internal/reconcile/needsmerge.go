package reconcile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/wording"
)

// ErrNeedsMerge is in the chain of the error of a rebase, cherry-pick or squash that has to be a merge instead: its commits cannot be put on
// top with one parent each.
var ErrNeedsMerge = errors.New("a merge is needed")

// needsMerge is the failure of an operation that has to be a merge instead. Its remedy undoes the operation and merges.
func (o *operation) needsMerge(ctx context.Context, repo Repository, git *workTree, why string) error {
	other, err := o.other(ctx, repo, git)
	if err != nil {
		return err
	}
	return &failure.Error{
		Message: why + ": this has to be a merge",
		Remedy:  "`" + o.undo() + "`; `git merge --no-edit " + other + "`; `small-hook reconcile`; `git commit --no-edit`",
		Err:     ErrNeedsMerge,
	}
}

// other names what to merge instead once the operation is undone, quoted for a shell.
func (o *operation) other(ctx context.Context, repo Repository, git *workTree) (string, error) {
	id, name := o.theirs[0].id, o.theirs[0].name
	if o.word == opRebase { // there, theirs is the branch's own commit: merge what it was rebased onto
		for _, dir := range []string{"rebase-merge", "rebase-apply"} {
			onto, err := os.ReadFile(filepath.Join(repo.Where().GitDir, dir, "onto"))
			switch {
			case err == nil:
				id, name = strings.TrimSpace(string(onto)), ""
			case !errors.Is(err, fs.ErrNotExist):
				return "", &failure.Error{Message: "cannot read what the rebase is onto: " + wording.Printable(err.Error()), Err: err}
			}
		}
	}
	var err error
	if name == "" {
		name, err = git.nameOf(ctx, id)
	}
	return wording.ShellWord(cmp.Or(name, history.Short(id))), err
}
