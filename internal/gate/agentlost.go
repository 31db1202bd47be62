package gate

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// What a change does to the workflows that it touches, [judgement.workflows]
// sees. The rest is here: a workflow that stays as it is names agents' files, and
// a change that deletes one, or a link on the way to it, breaks the workflow as
// surely as if it had edited it.
//
// Most changes take nothing away, and then nobody looks for workflows: to list a
// large tree is dearer than to judge a small change. Where something is taken
// away, and nothing says that there are workflows at all, it is looked for them
// from there.

// Beginnings are the commits from which some others go on: their parents that
// are not among them.
func Beginnings(commits []Commit) []string {
	own := map[string]bool{}
	for _, c := range commits {
		own[c.ID] = true
	}
	var out []string
	for _, c := range commits {
		for _, p := range c.Parents {
			if !own[p] {
				own[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// lostAgents judges the workflows at the tip of a change that it does not touch,
// and that are the same in all of its beginnings therefore: an agent's file that
// each of these has, and the tip has not, was taken away by the change. What is
// missing in one of them is missing without it, such as in the branch that it
// merges. usual is the beginning that was compared with the tip already, if it is
// one.
func (j *judgement) lostAgents(ctx context.Context, before []string, usual, tip string) error {
	if len(before) == 0 {
		return nil // all of the tip came with the change
	}
	first := before[0]
	if slices.Contains(before, usual) {
		first = usual
	}
	taken, err := j.history.Taken(ctx, Edge{Parent: first, Child: tip})
	if err != nil || len(taken) == 0 {
		return err
	}
	s := j.flowTree(j.history, tip)
	views, err := s.untouched(ctx, taken)
	if err != nil || len(views) == 0 {
		return err
	}
	if uses, err := j.usesWorkflows(ctx, j.history, tip); err != nil || !uses {
		return err
	}
	if err := s.missingAgents(ctx, views); err != nil {
		return err
	}
	for _, v := range views {
		for _, from := range before {
			if err := j.flowTree(j.history, from).keepLost(ctx, v); err != nil {
				return err
			}
		}
		if len(v.missing) > 0 {
			v.workflow, v.problems = nil, nil // the rest of it is not this change's
			s.tell(v)
		}
	}
	return nil
}

// mostFolders bounds how many folders are looked into one by one for workflows.
const mostFolders = 100

// whereNamed are the patterns of the workflow files that may name what is taken
// away at some paths. A workflow names files below the folder that holds
// "workflows", so they are looked for in each folder on the way to what is taken.
// It may name a file elsewhere too: by way of a link, or where the configuration
// says so. Then they are looked for everywhere: in the index, of which it costs
// little to know all; where the configuration has a section for them; and where
// a folder is called "agents".
func (s *flowTree) whereNamed(taken []string) []string {
	w := &s.opts.Policy.Workflows
	if w.Configured || s.revision == Index {
		return w.Include
	}
	folders := map[string]bool{"": true}
	for _, p := range taken {
		for dir := parent(p); dir != "" && !folders[dir]; dir = parent(dir) {
			folders[dir] = true
			if path.Base(dir) == "agents" || len(folders) > mostFolders {
				return w.Include
			}
		}
	}
	var out []string
	for _, dir := range sortedKeys(folders) {
		for _, pattern := range w.Include {
			rest, anywhere := strings.CutPrefix(pattern, "**/")
			if !anywhere {
				return w.Include
			}
			out = append(out, path.Join(policy.LiteralPattern(dir), rest))
		}
	}
	return out
}

// untouched reads the workflows of a tree that what is judged does not touch, and
// that may name what is taken away at some paths.
func (s *flowTree) untouched(ctx context.Context, taken []string) ([]*workflowView, error) {
	files, err := s.tree.Glob(ctx, s.revision, s.whereNamed(taken)...)
	if err != nil {
		return nil, err
	}
	var views []*workflowView
	for _, f := range files {
		if s.flows[f.Path] || !s.opts.Policy.JudgesWorkflow(f.Path) || s.isRecord(f.Path) {
			continue
		}
		v, err := s.workflow(ctx, f)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// keepLost keeps of the agent files that a workflow misses those that the tree,
// an earlier one, has.
func (s *flowTree) keepLost(ctx context.Context, v *workflowView) error {
	if len(v.missing) == 0 {
		return nil
	}
	var paths []string
	for _, a := range v.missing {
		paths = append(paths, a.Paths...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	fates, err := s.open(ctx, paths)
	if err != nil {
		return err
	}
	there, err := s.present(ctx, slices.DeleteFunc(paths, func(p string) bool { return fates[p] != fate{} }))
	if err != nil {
		return err
	}
	var lost []missingAgent
	for _, a := range v.missing {
		i := slices.IndexFunc(a.Paths, func(p string) bool { return fates[p] == fate{} })
		if i < 0 {
			continue
		}
		if a.since == "" {
			a.since = s.revision
			if there[a.Paths[i]].Regular() {
				a.was = a.Paths[i]
			}
		}
		lost = append(lost, a)
	}
	v.missing = lost
	return nil
}
