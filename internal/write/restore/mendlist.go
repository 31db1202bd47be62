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

// arguments returns the text to append to a command: the files and, if withOptions is true, the options Source, Discard and Pushed, with a space
// before each.
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

// listCommits lists the commits that may be rewritten, parents first: the commit to mend, and HEAD's other unshared commits that are not ancestors of
// that commit. It sets m.unshared and m.parents. If HEAD has only a copy of the commit to mend, which an earlier run made, it sets m.toMend to the
// copy.
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
	shared, err := m.sharedRefs(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := m.git.Run(ctx, append([]string{"rev-list", "--topo-order", "--reverse", "--parents", "HEAD", "--not"}, shared...)...)
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
			return nil, m.errCannotMend(ctx)
		}
		m.toMend = rewritten
	}
	return m.nonAncestors(m.toMend), m.refuseHiddenParents(ctx)
}

// errCannotMend returns the failure to mend a commit that HEAD does not have or that is shared. It names refs that have the commit.
func (m *mending) errCannotMend(ctx context.Context) error {
	refs, err := m.git.Run(ctx, "for-each-ref", "--contains="+m.toMend, "--format=%(refname)", "refs/remotes/", "refs/tags/")
	switch names := strings.Join(strings.Fields(string(refs)), ", "); {
	case err != nil:
		return err
	case names != "":
		return &failure.Error{
			Message: fmt.Sprintf("%s is in %s: shared commits are not rewritten", history.Short(m.toMend), wording.Printable(names)),
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

// refuseHiddenParents returns an error if a commit that may be rewritten has parents that a shallow clone lacks: the copy would have no parents.
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

// nonAncestors lists a commit and the unshared commits that are not ancestors of it, parents first.
func (m *mending) nonAncestors(id string) []string {
	isAncestor := map[string]bool{}
	for _, other := range slices.Backward(m.unshared) {
		if other == id || isAncestor[other] {
			for _, p := range m.parents[other] {
				isAncestor[p] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.unshared), func(other string) bool { return isAncestor[other] })
}

// descendants returns a set: a commit and its unshared descendants.
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

// sameCommand returns the command of this run, with its files and options, quoted for a message.
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

// errCannotRewrite returns the failure to rewrite a commit, with its cause. If the log of an earlier unshared commit is not sound, the remedy is to
// mend that commit: then the later commits are rewritten, too.
func (m *mending) errCannotRewrite(ctx context.Context, id string, cause error) error {
	out := &failure.Error{
		Message: history.Short(id) + " cannot be rewritten: " + failure.Of(cause).Message,
		Remedy:  "see which commit is at fault, and what a person can do: `small-hook audit`", Err: cause,
	}
	earlier, err := m.findEarlierUnsound(ctx, id)
	if err != nil {
		return err
	}
	if earlier != "" {
		out.Remedy = "begin with the first commit that is at fault: " + m.mendCommand(earlier)
	}
	return out
}

// findEarlierUnsound returns the first unshared commit before a given one whose log is not sound: see isSound. It skips the commits that this run has
// rewritten or checked. It returns "" if there is none.
func (m *mending) findEarlierUnsound(ctx context.Context, before string) (string, error) {
	earlier := m.unshared[:slices.Index(m.unshared, before)]
	if err := m.findMoves(ctx, earlier); err != nil { // a commit that rotated the log has lost nothing
		return "", err
	}
	for _, id := range earlier {
		if _, visited := m.newIDs[id]; visited {
			continue
		}
		if _, parentLogs, text, err := m.readSides(ctx, id, m.parents[id]); err != nil || !m.isSound(id, parentLogs, text) {
			return id, err
		}
	}
	return "", nil
}

// sharedRefs returns the options of git rev-list that select the refs whose commits are shared: remote-tracking branches and tags. If
// m.options.Pushed is true, it leaves out the branch's own upstream, unless that is the default branch: landed commits are never rewritten.
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
