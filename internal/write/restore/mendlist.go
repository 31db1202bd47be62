package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// arguments returns the files as arguments of a command, each after a space. If withOptions is true, the options follow that say how to mend the commit.
func (o MendOptions) arguments(withOptions bool) (out string) {
	for _, file := range o.Files {
		out += " " + wording.TopPath(file)
	}
	if !withOptions {
		return out
	}
	if o.Source != "" {
		out += " --source " + history.Short(o.Source)
	}
	if o.Discard {
		out += " --discard-new"
	}
	if o.Pushed {
		out += " --pushed"
	}
	return out
}

// listCommits lists the commits that may be rewritten, parents first: the one to mend, and HEAD's other unshared commits that are not its ancestors. It
// sets m.unshared and m.parents and, if the commit to mend was rewritten before, m.toMend.
func (m *mending) listCommits(ctx context.Context) ([]string, error) {
	unfinished, err := state.Read(m.Place.GitDir)
	if err != nil {
		return nil, err
	}
	if unfinished.Command != "" {
		unmerged, err := m.git.Unmerged(ctx)
		if err != nil {
			return nil, err
		}
		return nil, &failure.Error{Message: "git " + unfinished.Command + " is not finished", Remedy: "end it first: " + unfinished.Remedy(reconcile.ByHand(m.Policy, unmerged)) + ", then " + m.sameCommand()}
	}
	others, err := m.sharedRefs(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := m.git.Run(ctx, append([]string{"rev-list", "--topo-order", "--reverse", "--parents", "HEAD", "--not"}, others...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(listed)) {
		ids := strings.Fields(line)
		m.unshared = append(m.unshared, ids[0])
		m.parents[ids[0]] = ids[1:]
	}
	if !slices.Contains(m.unshared, m.toMend) {
		rewritten, err := m.findRewritten(m.toMend)
		if err != nil {
			return nil, err
		}
		if rewritten == "" {
			return nil, m.errNotUnshared(ctx)
		}
		m.toMend = rewritten
	}
	return m.nonAncestors(m.toMend), m.refuseHiddenParents(ctx)
}

// errNotUnshared returns the failure to mend a commit that is not among HEAD's unshared commits. It names the refs that have the commit.
func (m *mending) errNotUnshared(ctx context.Context) error {
	refs, err := m.git.Run(ctx, "for-each-ref", "--contains="+m.toMend, "--format=%(refname)", "refs/remotes/", "refs/tags/")
	switch has := strings.Join(strings.Fields(string(refs)), ", "); {
	case err != nil:
		return err
	case has != "":
		return &failure.Error{
			Message: fmt.Sprintf("%s is in %s: shared commits are not rewritten", history.Short(m.toMend), wording.Printable(has)),
			Remedy:  "see what a person can do: `small-hook audit`",
		}
	}
	branches, err := m.git.Run(ctx, "for-each-ref", "--contains="+m.toMend, "--count=1", "--format=%(refname:lstrip=2)%00%(worktreepath)", "refs/heads/")
	if err != nil {
		return err
	}
	branch, tree, _ := strings.Cut(strings.TrimSpace(string(branches)), "\x00")
	out := &failure.Error{Message: history.Short(m.toMend) + " is not in the history of HEAD", Remedy: "if it was rewritten, it has another id now; see which commits are at fault: `small-hook audit`"}
	switch {
	case tree != "":
		out.Remedy = "rewrite it in the work tree of the branch that has it: " + wording.RunIn(tree, m.sameCommand())
	case branch != "":
		out.Remedy = "switch to the branch that has it: " + wording.Commands("git switch "+wording.ShellWord(branch)) + ", " + m.sameCommand()
	}
	return out
}

// refuseHiddenParents returns an error if a shallow clone lacks the parents of a commit that may be rewritten: its copy would have no parents.
func (m *mending) refuseHiddenParents(ctx context.Context) error {
	for _, id := range m.nonAncestors(m.toMend) {
		if m.Place.Shallow && len(m.parents[id]) == 0 {
			if _, err := m.repo.Commits(ctx, []string{id}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// nonAncestors lists the unshared commits that are not ancestors of a commit. The commit itself is listed.
func (m *mending) nonAncestors(id string) []string {
	before := map[string]bool{}
	for _, other := range slices.Backward(m.unshared) {
		if other == id || before[other] {
			for _, p := range m.parents[other] {
				before[p] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.unshared), func(other string) bool { return before[other] })
}

// descendants returns the set of the unshared descendants of a commit, with the commit itself.
func (m *mending) descendants(id string) map[string]bool {
	if m.descendantsOf[id] == nil {
		found := map[string]bool{id: true}
		for _, other := range m.unshared {
			if slices.ContainsFunc(m.parents[other], func(p string) bool { return found[p] }) {
				found[other] = true
			}
		}
		m.descendantsOf[id] = found
	}
	return m.descendantsOf[id]
}

// sameCommand returns the command that mends the commit to mend, with the files and options that were given, quoted for a message.
func (m *mending) sameCommand() string {
	return wording.Commands(m.Command() + m.options.arguments(true) + " --commit " + history.Short(m.toMend))
}

// mendCommand returns the command that mends another commit, quoted for a message.
func (m *mending) mendCommand(id string) string {
	command := m.Command() + " --commit " + history.Short(id)
	if m.options.Pushed {
		command += " --pushed"
	}
	return wording.Commands(command)
}

// errCannotRewrite returns the failure to rewrite a commit because the logs of its parents cannot be combined; err says why. If an earlier unshared
// commit lost entries, the remedy is to begin with that one: mending it rewrites the later commits, too.
func (m *mending) errCannotRewrite(ctx context.Context, id string, err error) error {
	out := &failure.Error{
		Message: history.Short(id) + " cannot be rewritten: " + failure.Of(err).Message,
		Remedy:  "see which side is at fault, and what a person can do: `small-hook audit`", Err: err,
	}
	earlier, err := m.findEarlierLoss(ctx, id)
	if err != nil {
		return err
	}
	if earlier != "" {
		out.Remedy = "begin with the first commit that lost something: " + m.mendCommand(earlier)
	}
	return out
}

// findEarlierLoss finds, among the unshared commits before a given one, the first that lost entries and is not rewritten yet; empty if there is none.
func (m *mending) findEarlierLoss(ctx context.Context, before string) (string, error) {
	earlier := m.unshared[:slices.Index(m.unshared, before)]
	if err := m.findMoves(ctx, earlier); err != nil { // a commit that rotated the log has lost nothing
		return "", err
	}
	for _, id := range earlier {
		if _, rewritten := m.newIDs[id]; rewritten {
			continue
		}
		if _, logs, file, err := m.readSides(ctx, id, m.parents[id]); err != nil || !m.isSound(id, logs, file) {
			return id, err
		}
	}
	return "", nil
}

// sharedRefs returns the options by which git rev-list selects the refs whose commits others have. With the option Pushed, the branch's own upstream
// does not count, unless it is the default branch: landed commits are never rewritten.
func (m *mending) sharedRefs(ctx context.Context) ([]string, error) {
	out := []string{"--remotes", "--tags"}
	branch, err := m.repo.CurrentBranch(ctx)
	if err != nil || !m.options.Pushed || branch == "" {
		return out, err
	}
	name, err := m.git.Run(ctx, "for-each-ref", "--format=%(upstream)", branch)
	if err != nil {
		return nil, err
	}
	upstream := strings.TrimSpace(string(name))
	main, err := githistory.DefaultBranch(ctx, m.repo, "")
	if err != nil || main.Ref == upstream {
		return out, err
	}
	return append([]string{"--exclude=" + strings.TrimPrefix(upstream, "refs/remotes/")}, out...), nil
}
