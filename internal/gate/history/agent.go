package history

import (
	"slices"
	"strings"
)

// AgentTrailer is the commit trailer that names the agent who made the commit. The last one counts, as in git: the
// hook writes after what the message already has.
const AgentTrailer = "Small-Agent"

// AgentBranches begins the names of branches that belong to an agent; the rest is its id.
const AgentBranches = "small/agent-"

// BranchOwner is the agent that a branch belongs to; empty for any other branch.
func BranchOwner(branch string) string {
	id, ok := strings.CutPrefix(branch, AgentBranches)
	if !ok {
		return ""
	}
	return id
}

// LastAgent is the agent named by trailers in the form of git interpret-trailers --parse, one per line; empty for
// none.
func LastAgent(lines string) string {
	var all []trailer
	for line := range strings.Lines(lines) {
		if t, ok := parseTrailer(line); ok {
			all = append(all, t)
		}
	}
	return NamedAgent(all)
}

// NamedAgent is the agent that the last of several trailers names; empty for none.
func NamedAgent(all []trailer) string {
	for _, t := range slices.Backward(all) {
		if t.IsAgent() {
			return t.Value
		}
	}
	return ""
}

// coAuthor is the trailer by which git hosts say whose work a squash joins.
const coAuthor = "Co-authored-by"

// Contributors are those whom a message names as having made the commit, or one that it was made of: in a line for an agent, a
// co-author, or what else isAgent knows as a trailer for one, wherever the line stands, because a squash joins messages. Of a name with
// an address each is there alone, too.
func Contributors(message string, isAgent func(name, value string) bool) []string {
	var out []string
	for line := range strings.Lines(message) {
		t, ok := parseTrailer(strings.TrimSpace(line))
		if !ok || t.Value == "" || !t.IsAgent() && !strings.EqualFold(t.Name, coAuthor) && !isAgent(t.Name, t.Value) {
			continue
		}
		out = append(out, t.Value)
		if name, address, ok := strings.Cut(strings.TrimSuffix(t.Value, ">"), " <"); ok {
			out = append(out, strings.TrimSpace(name), address)
		}
	}
	return out
}

// IsAgent reports whether the trailer names the agent who made the commit.
func (t trailer) IsAgent() bool { return strings.EqualFold(t.Name, AgentTrailer) && t.Value != "" }
