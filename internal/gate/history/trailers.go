package history

import (
	"slices"
	"strings"
)

// Trailer is one line at the end of a commit message, such as "Small-Agent: agent-1".
type Trailer struct{ Name, Value string }

// gitTrailers are the beginnings of the lines that git itself adds to the trailers.
var gitTrailers = []string{"Signed-off-by: ", "(cherry picked from commit "}

// TrailersOf reads a message's trailers as git does without configuration (git-interpret-trailers(1), --parse --no-divider --unfold). Trailers stand in
// the last paragraph, which must not be the first. All of its lines have to be trailers; or at least a quarter of them, if one is git's own. A line that
// begins with white space continues the line before. A line that begins with # is a comment, and does not count.
func TrailersOf(message string) []Trailer {
	var out []Trailer
	trailers, others, byGit := 0, 0, false
	afterTrailer, continues := false, false // continues is true if a line may continue the last trailer of out
	for _, line := range lastParagraph(message) {
		t, ok := ParseTrailer(line)
		generated := slices.ContainsFunc(gitTrailers, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
		switch {
		case isComment(line):
			afterTrailer, continues = false, false
		case line[0] == ' ' || line[0] == '\t':
			if !afterTrailer {
				others++
			}
			if continues {
				last := &out[len(out)-1]
				last.Value = strings.TrimSpace(last.Value + " " + strings.TrimSpace(line))
			}
		case ok || generated:
			if ok {
				out = append(out, t)
			}
			trailers, byGit, afterTrailer, continues = trailers+1, byGit || generated, true, ok
		default:
			others, afterTrailer, continues = others+1, false, false
		}
	}
	if others == 0 || byGit && 3*trailers >= others {
		return out
	}
	return nil
}

// isComment reports whether git skips a line when it looks for trailers.
func isComment(line string) bool { return strings.HasPrefix(line, "#") }

// lastParagraph returns the lines of a message's last paragraph; none if it is also the first.
func lastParagraph(message string) []string {
	lines := strings.Split(strings.ReplaceAll(message, "\r\n", "\n"), "\n")
	isBlank := func(i int) bool { return strings.TrimSpace(lines[i]) == "" }
	end := len(lines)
	for end > 0 && (isBlank(end-1) || isComment(lines[end-1])) {
		end--
	}
	title := 0 // the number of lines up to the end of the first paragraph
	for title < end && (isComment(lines[title]) || !isBlank(title)) {
		title++
	}
	begin := end
	for begin > title && !isBlank(begin-1) {
		begin--
	}
	if begin <= title {
		return nil
	}
	return lines[begin:end]
}

// ParseTrailer reads one line. A name consists of letters, digits and hyphens; white space may precede the colon.
func ParseTrailer(line string) (Trailer, bool) {
	name, value, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	if !ok || name == "" || strings.IndexFunc(name, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-'
	}) >= 0 {
		return Trailer{}, false
	}
	return Trailer{Name: name, Value: strings.TrimSpace(value)}, true
}

// AgentTrailer is the commit trailer that names the agent who made the commit. The last one counts, because
// the hook writes after what the message already has.
const AgentTrailer = "Small-Agent"

// AgentBranches is the prefix of branches that belong to an agent; the rest is the agent's id.
const AgentBranches = "small/agent-"

// BranchOwner returns the agent that a branch belongs to; empty if it belongs to none.
func BranchOwner(branch string) string {
	id, ok := strings.CutPrefix(branch, AgentBranches)
	if !ok {
		return ""
	}
	return id
}

// LastAgent returns the agent that the last of several trailers names; empty for none. lines is what
// git interpret-trailers --parse prints, one trailer a line.
func LastAgent(lines string) string {
	var all []Trailer
	for line := range strings.Lines(lines) {
		if t, ok := ParseTrailer(line); ok {
			all = append(all, t)
		}
	}
	return NamedAgent(all)
}

// NamedAgent returns the agent that the last of several trailers names; empty for none.
func NamedAgent(all []Trailer) string {
	for _, t := range slices.Backward(all) {
		if t.IsAgent() {
			return t.Value
		}
	}
	return ""
}

// coAuthor is the trailer in which git hosts name the authors of squashed commits.
const coAuthor = "Co-authored-by"

// Contributors returns the names of those who made the commit, or a commit that was squashed into it, according to its message: the values of
// trailers for agents and co-authors, and of those that isAgent recognizes. The trailer may be on any line, because a squash joins messages. A
// name with an address is also listed as the name alone and as the address alone.
func Contributors(message string, isAgent func(name, value string) bool) []string {
	var out []string
	for line := range strings.Lines(message) {
		t, ok := ParseTrailer(strings.TrimSpace(line))
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
func (t Trailer) IsAgent() bool { return strings.EqualFold(t.Name, AgentTrailer) && t.Value != "" }
