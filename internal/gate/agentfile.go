package gate

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
)

// missingAgent is an agent file that a workflow names and that is not there.
type missingAgent struct {
	lane.AgentRef
	fate fate
	// since is a commit that has the file, where it is the change that took it
	// away; was is the file's path there, empty where a link leads to it.
	since, was string
}

// missingAgents finds, for several workflows at once, the agent files that are
// nowhere.
func (s *flowTree) missingAgents(ctx context.Context, views []*workflowView) error {
	agents := map[*workflowView][]lane.AgentRef{}
	wanted := map[string]bool{}
	for _, v := range views {
		if v.workflow == nil {
			continue
		}
		agents[v] = v.workflow.Agents(s.opts.Policy.Workflows.Roots)
		for _, a := range agents[v] {
			for _, at := range a.Paths {
				wanted[at] = true
			}
		}
	}
	fates, err := s.open(ctx, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return err
	}
	for _, v := range views {
		for _, a := range agents[v] {
			if slices.ContainsFunc(a.Paths, func(at string) bool { return fates[at] == fate{} }) {
				continue
			}
			// What stands at a place and does not serve says more than a place
			// where nothing is.
			missing := missingAgent{AgentRef: a, fate: absent}
			for _, at := range a.Paths {
				if missing.fate == absent {
					missing.fate = fates[at]
				}
			}
			v.missing = append(v.missing, missing)
		}
	}
	return nil
}

// open says what becomes of those who open paths of the tree, symbolic links
// followed as far as they lead inside it.
func (s *flowTree) open(ctx context.Context, paths []string) (map[string]fate, error) {
	there, err := s.present(ctx, slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return unheardOf(p) || p == "." || p != path.Clean(p)
	}))
	if err != nil {
		return nil, err
	}
	out := map[string]fate{}
	f := &follower{
		flowTree: s, files: there, asked: map[string]bool{}, dirs: map[string]bool{}, targets: map[string]string{},
	}
	var rest []string
	for _, p := range paths {
		f.asked[p] = true
		switch {
		case unheardOf(p):
			out[p] = impossible
		case there[p].Regular() || there[p].Unmerged:
			out[p] = fate{}
		default:
			rest = append(rest, p)
		}
	}
	f.noteDirs()
	if err := f.readLinks(ctx); err != nil {
		return nil, err
	}
	for len(rest) > 0 {
		ask := map[string]bool{}
		rest = slices.DeleteFunc(rest, func(p string) bool {
			got, need := f.follow(p)
			for _, at := range need {
				ask[at] = true
			}
			if len(need) == 0 {
				out[p] = got
			}
			return len(need) == 0
		})
		if err := f.ask(ctx, slices.Sorted(maps.Keys(ask))); err != nil {
			return nil, err
		}
	}
	return out, nil
}
