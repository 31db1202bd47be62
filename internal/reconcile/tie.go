package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/wording"
)

// untie says what to type about two entries with the same time. No merge may change an entry of a parent, but a rebase of what nobody
// else has makes new commits, and gives its entries later times. What is published on both sides needs a waiver.
func (r *resolving) untie(ctx context.Context, path string, err error) error {
	var t *splice.Tie
	if !errors.As(err, &t) || len(r.op.theirs) != 1 || !r.op.theirs[0].isCommit() {
		return err
	}
	theirs := r.op.theirs[0]
	mine, other := t.Entries[0], t.Entries[1]
	if (t.Sides[0] == theirs.id) != (r.op.word == opRebase) { // there the commit that is applied is one's own
		mine, other = other, mine
	}
	published, asked := r.published(ctx, path, t.Entries[:])
	if asked != nil {
		return asked
	}
	undo := ""
	if r.op.word != "" {
		undo = "`" + r.op.undo() + "`; "
	}
	name, asked := r.op.other(ctx, r.repo, r.git)
	if asked != nil {
		return asked
	}
	const again = "; then, for each stop, `small-hook reconcile` and `git -c core.editor=true %s --continue`"
	f := *failure.Of(err)
	switch {
	case !published[mine.Digest]:
		f.Remedy = undo + "give the entry that is not published yet a later time: `git rebase " + name + "`" + fmt.Sprintf(again, opRebase)
	case !published[other.Digest]:
		f.Remedy = undo + "give the entry that is not published yet a later time: `git cherry-pick HEAD.." + name + "`" + fmt.Sprintf(again, opPick)
	default:
		f.Message += "; both are published"
		f.Remedy = undo + moveWaived(path, mine.Timestamp) + "`git merge --no-edit " + name + "`; `small-hook reconcile`; `git commit --no-edit`"
	}
	return &f
}

// moveWaived are the commands that move an entry by a nanosecond, under a waiver that is published before.
func moveWaived(path, was string) string {
	at, _ := ledger.ParseInstant(was)
	to := at.Add(time.Nanosecond).UTC().Format(splice.TimestampForm)
	file := wording.TopPath(path)
	// Only a timestamp, not evidence that quotes one.
	move := `s/\(timestamp["']\{0,1\}: *["']\{0,1\}\)` + basicRegexp.Replace(strings.TrimSpace(was)) + `/\1` + to + "/"
	var text strings.Builder
	text.WriteString("a person has to let one entry move by a nanosecond, with a waiver that is pushed first: ")
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

// basicRegexp writes text as a pattern of POSIX sed between slashes, in which + stands for itself.
var basicRegexp = strings.NewReplacer(`\`, `\\`, `/`, `\/`, `.`, `\.`, `[`, `\[`, `*`, `\*`, `^`, `\^`, `$`, `\$`)
