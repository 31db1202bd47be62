package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// addTieRemedy handles an err that says that two entries have the same time: it adds the commands that give one of them another time. A merge may
// not change an entry of a parent, but a rebase of unpublished commits gives their entries later times. If both entries are published, a waiver
// is needed.
func (r *reconciliation) addTieRemedy(ctx context.Context, path string, err error) error {
	var t *combine.Tie
	if !errors.As(err, &t) || len(r.op.theirs) != 1 || !r.op.theirs[0].isCommit() {
		return err
	}
	theirs := r.op.theirs[0]
	own, other := t.Entries[0], t.Entries[1]
	if (t.Sides[0] == theirs.id) != (r.op.kind == state.Rebase) { // in a rebase, the commit being applied is one's own
		own, other = other, own
	}
	published, failed := r.findPublished(ctx, path, t.Entries[:])
	if failed != nil {
		return failed
	}
	undo := ""
	if r.op.kind != "" {
		undo = "`" + r.op.undoCommand() + "`; "
	}
	name, failed := r.op.branchToMerge(ctx, r.repo, r.git)
	if failed != nil {
		return failed
	}
	const again = "; then, for each stop, `small-hook reconcile` and `git -c core.editor=true %s --continue`"
	f := *failure.Of(err)
	switch {
	case !published[own.Digest]:
		f.Remedy = undo + "give the entry that is not published yet a later time: `git rebase " + name + "`" + fmt.Sprintf(again, state.Rebase)
	case !published[other.Digest]:
		f.Remedy = undo + "give the entry that is not published yet a later time: `git cherry-pick HEAD.." + name + "`" + fmt.Sprintf(again, state.Pick)
	default:
		f.Message += "; both are published"
		f.Remedy = undo + waivedMoveRemedy(path, own.Timestamp) + "`git merge --no-edit " + name + "`; `small-hook reconcile`; " + wording.Commands(wording.FinishMerge)
	}
	return &f
}

// waivedMoveRemedy returns the commands that move an entry by a nanosecond, under a waiver that is pushed first.
func waivedMoveRemedy(path, was string) string {
	at, _ := ledger.ParseInstant(was)
	to := at.Add(time.Nanosecond).UTC().Format(combine.TimestampForm)
	file := wording.TopPath(path)
	// The pattern has the field's name, so that evidence that quotes the time stays.
	move := `s/\(timestamp["']\{0,1\}: *["']\{0,1\}\)` + sedEscaper.Replace(strings.TrimSpace(was)) + `/\1` + to + "/"
	var text strings.Builder
	text.WriteString("a person has to move one entry by a nanosecond, under a waiver that is pushed first: ")
	for _, command := range []string{
		"git add -- " + file,
		"git show " + wording.ShellWord(":0:"+path) + " | sed " + wording.ShellQuote(move) + ` > "$(git rev-parse --show-toplevel)"/` + wording.ShellWord(path),
		"git add -- " + file,
		"small-hook waive --rule append-only/timestamp-migrated --reason 'two entries had the same time'",
		"git add -- :/.small-gate.yml",
		"git commit -m 'Let an entry move by a nanosecond' -- :/.small-gate.yml",
		"git push",
		"git commit -m 'Move an entry by a nanosecond' -- " + file,
	} {
		text.WriteString("`" + command + "`; ")
	}
	return text.String()
}

// sedEscaper escapes text for a pattern between slashes in POSIX sed. A + is literal there.
var sedEscaper = strings.NewReplacer(`\`, `\\`, `/`, `\/`, `.`, `\.`, `[`, `\[`, `*`, `\*`, `^`, `\^`, `$`, `\$`)

// ErrNeedsMerge is in the chain of the error if a rebase, cherry-pick or squash must be a merge instead: a commit with one parent cannot have
// the result.
var ErrNeedsMerge = errors.New("a merge is needed")

// needsMerge returns the failure of an operation that must be a merge instead. The remedy undoes the operation and merges.
func (o *operation) needsMerge(ctx context.Context, repo Repository, git *workgit.Tree, why string) error {
	other, err := o.branchToMerge(ctx, repo, git)
	if err != nil {
		return err
	}
	return &failure.Error{
		Message: why + ": this has to be a merge",
		Remedy:  "`" + o.undoCommand() + "`; `git merge --no-edit " + other + "`; `small-hook reconcile`; " + wording.Commands(wording.FinishMerge),
		Err:     ErrNeedsMerge,
	}
}

// branchToMerge returns the branch or commit to merge once the operation is undone, quoted for a shell.
func (o *operation) branchToMerge(ctx context.Context, repo Repository, git *workgit.Tree) (string, error) {
	id, name := o.theirs[0].id, o.theirs[0].name
	if o.kind == state.Rebase { // theirs is one's own commit: merge the branch that it is rebased onto
		for _, dir := range []string{"rebase-merge", "rebase-apply"} {
			onto, err := state.ReadFile(repo.Where().GitDir, dir+"/onto")
			if err != nil {
				return "", err
			}
			if onto != nil {
				id, name = strings.TrimSpace(string(onto)), ""
			}
		}
	}
	var err error
	if name == "" {
		name, err = git.NameOf(ctx, id)
	}
	return wording.ShellWord(cmp.Or(name, history.Short(id))), err
}
