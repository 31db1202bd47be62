// Package owner says who made a commit or an entry of a log. It is the one place that knows what names an agent.
package owner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// Owner is who made something. The zero Owner is unknown.
type Owner struct {
	// Agent is an agent's id; empty for a person's work, and if nothing names the agent's id.
	Agent string
	// Author and Email are those of the commit.
	Author, Email string
	// How says, for a message, by what sign the work is an agent's; empty for a person's work. Uncertain is true if a person may have made
	// it all the same, with the help of an agent.
	How       string
	Uncertain bool
	// Helpers made commits that went into this one, as in a squash.
	Helpers []string
}

// Signs are what tells who made a commit, or is about to make it.
type Signs struct {
	// Variable is SMALL_AGENT_ID in a hook that runs before the commit is made; else empty.
	Variable string
	// Author and Email are empty if they were not looked up. Message is the commit's.
	Author, Email, Message string
	// Prepared is the message that git has prepared for a commit that is about to be made. It joins the messages of squashed commits, and so
	// names only helpers.
	Prepared string
	// Branch is the commit's branch, without refs/heads/.
	Branch string
}

// Of says who made a commit. The first of these signs counts: the variable, the author, the trailers, the branch. The agent's id comes from the
// variable, a trailer or the branch.
func Of(s Signs, p *policy.Policy) Owner {
	trailers, variable, branch := history.TrailersOf(s.Message), strings.TrimSpace(s.Variable), history.BranchOwner(s.Branch)
	out := Owner{
		Agent: cmp.Or(variable, history.NamedAgent(trailers), branch), Author: s.Author, Email: s.Email,
		Helpers: history.Contributors(s.Message+s.Prepared, p.IsAgentTrailer),
	}
	if variable != "" {
		out.How = fmt.Sprintf("SMALL_AGENT_ID is %q", variable)
		return out
	}
	for _, text := range []string{s.Author, s.Email, fmt.Sprintf("%s <%s>", s.Author, s.Email)} {
		if p.IsAgent(text) {
			out.How = fmt.Sprintf("its author is %q", s.Author)
			return out
		}
	}
	for _, t := range trailers {
		if t.IsAgent() || p.IsAgentTrailer(t.Name, t.Value) {
			out.How, out.Uncertain = fmt.Sprintf("it has the trailer %q", t.Name+": "+t.Value), true
			return out
		}
	}
	if branch != "" {
		out.How, out.Uncertain = fmt.Sprintf("it is on the branch of agent %q", branch), true
	}
	return out
}

// OfEntry says who made an entry that this owner's commit added. named is the agent that the entry itself names, as a session's entries
// do. holder is the agent that had leased the task: if it is one of several who made the commit, the entry is its work.
func (o Owner) OfEntry(named, holder string) Owner {
	switch {
	case named != "":
		o.Agent, o.How, o.Uncertain = named, "the entry names it", false
	case holder != "" && holder != o.Agent && o.MadeBy(holder):
		o.Agent, o.How, o.Uncertain = holder, "the commit's message names it, and it had leased the task", false
	}
	return o
}

// MadeBy reports whether the commit is, or may be, an agent's work.
func (o Owner) MadeBy(agent string) bool {
	return agent == o.Agent || slices.Contains(o.Helpers, agent)
}

// Name returns the agent's id or else the author's name or address.
func (o Owner) Name() string { return cmp.Or(o.Agent, o.Author, o.Email) }

// Matches reports whether a text names this owner: it is the agent's id, or a part of the author's name and address. Case does not
// matter.
func (o Owner) Matches(text string) bool {
	text = strings.ToLower(text)
	return strings.ToLower(o.Agent) == text || strings.Contains(strings.ToLower(fmt.Sprintf("%s <%s>", o.Author, o.Email)), text)
}
