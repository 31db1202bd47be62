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
	if errors.Is(err, splice.ErrOrder) && (r.op.word == opRebase || r.op.word == opPick) {
		return r.op.needsMerge(ctx, r.repo, r.git, failure.Of(err).Message)
	}
	var t *splice.Tie
	if !errors.As(err, &t) || len(r.op.theirs) != 1 || !r.op.theirs[0].isCommit() {
		return err
	}
	ours, theirs := r.op.ours, r.op.theirs[0]
	published := map[string]bool{}
	for i, e := range t.Entries {
		s := ours
		if t.Sides[i] == theirs.id {
			s = theirs
		}
		var asked error
		if published[s.id], asked = r.published(ctx, s, path, e); asked != nil {
			return asked
		}
	}
	undo := ""
	if r.op.word != "" {
		undo = "`" + r.op.undo() + "`; "
	}
	name := wording.ShellWord(theirs.name)
	const again = "; then, for each stop, `small-hook reconcile` and `git -c core.editor=true %s --continue`"
	f := *failure.Of(err)
	switch {
	case !published[ours.id]:
		f.Remedy = undo + "give the entry that is not published yet a later time: `git rebase " + name + "`" + fmt.Sprintf(again, opRebase)
	case !published[theirs.id]:
		f.Remedy = undo + "give the entry that is not published yet a later time: `git cherry-pick HEAD.." + name + "`" + fmt.Sprintf(again, opPick)
	default:
		mine := t.Entries[0]
		if t.Sides[0] == theirs.id {
			mine = t.Entries[1]
		}
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

// published reports whether an entry of a side's log is in a commit that was fetched or pushed.
func (r *resolving) published(ctx context.Context, s side, path string, e ledger.Entry) (bool, error) {
	commits, err := r.git.publishedOf(ctx, s.id)
	if err != nil {
		return false, err
	}
	for _, id := range commits {
		data, err := r.read(ctx, side{name: s.name, id: id}, path)
		if err != nil {
			return false, err
		}
		for _, known := range entriesOf(data, r.limits()).Entries {
			if known.Digest == e.Digest {
				return true, nil
			}
		}
	}
	return false, nil
}

// publishedOf lists the newest commits of a history that were fetched or pushed.
func (g *workTree) publishedOf(ctx context.Context, id string) ([]string, error) {
	out, err := g.run(ctx, nil, "rev-list", "--boundary", id, "--not", "--remotes", "--")
	if err != nil || len(out) == 0 {
		return []string{id}, err
	}
	var known []string
	for line := range strings.Lines(string(out)) {
		if boundary, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
			known = append(known, boundary)
		}
	}
	return known, nil
}
