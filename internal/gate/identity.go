package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// AgentTrailer is the commit trailer that names the agent who made the commit.
// Where it stands there several times the last one counts, as it does where git
// is given a value twice: the hook writes behind what the message brought along.
const AgentTrailer = "Small-Agent"

// AgentBranches begins the names of branches that belong to an agent; the rest
// is its id.
const AgentBranches = "small/agent-"

// agentOf finds out which agent's work a commit is, or the commit that is to be
// made of the index: by what the commit itself says, or the variable in a hook,
// or else the branch that it is made on. It is empty for a person's.
func (r walker) agentOf(ctx context.Context, revision string) (string, error) {
	id := strings.TrimSpace(r.opts.Agent)
	if revision != Index {
		s, err := r.src.signature(ctx, revision)
		if err != nil {
			return "", err
		}
		id = lastAgent(trailersOf(s.Message))
	}
	return cmp.Or(id, branchOwner(r.opts.Branch)), nil
}

// branchOwner is the agent that a branch belongs to; empty for any other branch.
func branchOwner(branch string) string {
	id, ok := strings.CutPrefix(branch, AgentBranches)
	if !ok {
		return ""
	}
	return id
}

// agentSign is what makes a commit an agent's, in words; empty for a person's.
type agentSign struct {
	words string
	// hint is true if that is no more than a hint: people use assistants too.
	hint bool
}

// signOf says what makes a commit an agent's: its author, or the variable in a
// hook; else a trailer, or the branch.
func (r walker) signOf(ctx context.Context, revision string) (agentSign, error) {
	if id := strings.TrimSpace(r.opts.Agent); revision == Index && id != "" {
		return agentSign{words: fmt.Sprintf("SMALL_AGENT_ID is %q", id)}, nil
	}
	s, err := r.src.signature(ctx, revision)
	if err != nil {
		return agentSign{}, err
	}
	for _, text := range []string{s.Name, s.Email, fmt.Sprintf("%s <%s>", s.Name, s.Email)} {
		if r.opts.Policy.IsAgent(text) {
			return agentSign{words: fmt.Sprintf("its author is %q", s.Name)}, nil
		}
	}
	for _, t := range trailersOf(s.Message) {
		if t.isAgent() || r.opts.Policy.IsAgentTrailer(t.name, t.value) {
			return agentSign{words: fmt.Sprintf("it has the trailer %q", t.name+": "+t.value), hint: true}, nil
		}
	}
	if owner := branchOwner(r.opts.Branch); owner != "" {
		return agentSign{words: fmt.Sprintf("it is on the branch of agent %q", owner), hint: true}, nil
	}
	return agentSign{}, nil
}

// LastAgent is the agent that a list of trailers names, one in a line as git
// interpret-trailers --parse prints them; empty if it names none.
func LastAgent(lines string) string {
	var all []trailer
	for line := range strings.Lines(lines) {
		if t, ok := parseTrailer(line); ok {
			all = append(all, t)
		}
	}
	return lastAgent(all)
}

func lastAgent(all []trailer) string {
	for _, t := range slices.Backward(all) {
		if t.isAgent() {
			return t.value
		}
	}
	return ""
}

// isAgent reports whether the trailer names the agent who made the commit.
func (t trailer) isAgent() bool { return strings.EqualFold(t.name, AgentTrailer) && t.value != "" }
