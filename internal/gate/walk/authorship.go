package walk

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
)

// agentOf returns the agent whose work a commit, or the index, is: the one that the commit itself names, or the
// variable in a hook, or else the branch. It is empty for a person's. The message is the commit's, or the one that
// git has prepared for it.
func (r walker) agentOf(ctx context.Context, revision string) (id, message string, err error) {
	id, message = strings.TrimSpace(r.Options.Agent), r.Options.Message
	if revision != history.Index {
		s, err := r.Source.Signature(ctx, revision)
		if err != nil {
			return "", "", err
		}
		id, message = history.NamedAgent(history.TrailersOf(s.Message)), s.Message
	}
	return cmp.Or(id, history.BranchOwner(r.Options.Branch)), message, nil
}

// authorship says what makes a commit an agent's: its author, or the variable in a hook; else a trailer, or the
// branch.
func (r walker) authorship(ctx context.Context, revision string) (subject.AgentAuthorship, error) {
	if id := strings.TrimSpace(r.Options.Agent); revision == history.Index && id != "" {
		return subject.AgentAuthorship{Reason: fmt.Sprintf("SMALL_AGENT_ID is %q", id)}, nil
	}
	s, err := r.Source.Signature(ctx, revision)
	if err != nil {
		return subject.AgentAuthorship{}, err
	}
	for _, text := range []string{s.Name, s.Email, fmt.Sprintf("%s <%s>", s.Name, s.Email)} {
		if r.Options.Policy.IsAgent(text) {
			return subject.AgentAuthorship{Reason: fmt.Sprintf("its author is %q", s.Name)}, nil
		}
	}
	for _, t := range history.TrailersOf(s.Message) {
		if t.IsAgent() || r.Options.Policy.IsAgentTrailer(t.Name, t.Value) {
			return subject.AgentAuthorship{Reason: fmt.Sprintf("it has the trailer %q", t.Name+": "+t.Value), Uncertain: true}, nil
		}
	}
	if owner := history.BranchOwner(r.Options.Branch); owner != "" {
		return subject.AgentAuthorship{Reason: fmt.Sprintf("it is on the branch of agent %q", owner), Uncertain: true}, nil
	}
	return subject.AgentAuthorship{}, nil
}
