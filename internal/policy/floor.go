package policy

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// Floor is a configuration that a repository's own cannot weaken: a change is judged by each of the two, and the worse verdict counts.
type Floor struct {
	// Source says where the floor was read.
	Source string
	// Text is the floor's text, as it was read.
	Text   []byte
	root   *small.Value
	known  *Known
	forbid []string
	// given are the schemas of logs that the floor names, by path.
	given map[string]*schema.Given
}

// The values of the key forbid: means by which a repository accepts findings, or leaves workspaces out.
const (
	forbidWaivers  = "waivers"
	forbidBaseline = "baseline"
	forbidSince    = "since"
	forbidExclude  = "exclude" // of workspaces
)

// ParseFloor reads a floor as [ParseWhole] reads a configuration. A floor may also have the key forbid, a list of the words waivers, baseline,
// since and exclude. Its logs take no since, which names a commit of one repository.
func ParseFloor(source string, data []byte, known *Known, schemas *SchemaFiles) (*Floor, error) {
	f := &Floor{Source: source, Text: data, known: known}
	_, err := parse(source, data, f.known, f, schemas)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ForbidsWaivers reports whether a repository's waivers do not count. A nil floor forbids nothing.
func (f *Floor) ForbidsWaivers() bool { return f.forbids(forbidWaivers) }

// ForbidsBaselines reports whether a repository's baselines do not count. A nil floor forbids nothing.
func (f *Floor) ForbidsBaselines() bool { return f.forbids(forbidBaseline) }

// ForbidsSince reports whether a repository's since commits do not count. A nil floor forbids nothing.
func (f *Floor) ForbidsSince() bool { return f.forbids(forbidSince) }

func (f *Floor) forbids(word string) bool { return f != nil && slices.Contains(f.forbid, word) }

// takeForbid reads the key forbid, which only floors have, and removes it from the document.
func (f *Floor) takeForbid(r *reader, root *small.Value) {
	f.root = root
	at := slices.IndexFunc(root.Fields, func(field small.Field) bool { return field.Key == "forbid" })
	if at < 0 {
		return
	}
	list := root.Fields[at].Value
	if list.Kind != small.List {
		r.fail(list.Pos, "forbid", `"forbid" is %s, not a list`, list.Kind)
	}
	known := []string{forbidWaivers, forbidBaseline, forbidSince, forbidExclude}
	for i, item := range list.Items {
		subject := fmt.Sprintf("forbid.%d", i)
		word, ok := item.Str()
		if !ok {
			r.fail(item.Pos, subject, "%q is %s, not a string", subject, item.Kind)
		} else if !slices.Contains(known, word) {
			r.report(Problem{Pos: item.Pos, Subject: subject, Message: fmt.Sprintf("%q is not one of %q", word, known), Suggestion: nearestWord(word, known)})
		}
		f.forbid = append(f.forbid, word)
	}
	root.Fields = slices.Delete(root.Fields, at, at+1)
}

// PolicyFor returns the policy by which the floor judges a repository; p is the repository's own policy. A key that the floor leaves out has its
// built-in default. There are two exceptions. What is judged (workspaces, agents, logs, and the sections of rule families) comes from p for each
// key that the floor leaves out; for workspaces, the floor can forbid that. Waivers, baselines and since commits of p count too, unless the floor forbids
// them.
func (f *Floor) PolicyFor(p *Policy) *Policy {
	out := *Default()
	out.Source, out.OutsideRepo, out.Logs, out.Sections = p.Source, p.OutsideRepo, p.Logs, p.Sections
	if f.root.Get("workspaces") == nil && !f.forbids(forbidExclude) {
		out.Include, out.Exclude = p.Include, p.Exclude
	}
	if f.root.Get("agents") == nil {
		out.AgentAuthors, out.AgentTrailers, out.Robots = p.AgentAuthors, p.AgentTrailers, p.Robots
	}
	var waivers []Waiver
	var baselines []Baseline
	if !f.ForbidsWaivers() {
		waivers = p.Waivers
	}
	if !f.ForbidsBaselines() {
		baselines = p.Baselines
	}
	r := &reader{known: f.known, reported: map[location]bool{}, given: f.given}
	if f.given != nil {
		r.schemas = &SchemaFiles{OutsideRepo: true} // Read is never called: all of the schemas are in given
	}
	r.applySettings(&out, f.root) // the root was read before, and is valid
	out.Waivers, out.Baselines = slices.Concat(waivers, out.Waivers), slices.Concat(baselines, out.Baselines)
	out.Logs = slices.Clone(out.Logs)
	for i := range out.Logs {
		out.Logs[i].Since = f.sinceOf(p, out.Logs[i])
	}
	return &out
}

// sinceOf returns the since commit of the repository's stanza that names the same files as a stanza or, if none does, of the first one with its path;
// empty if there is none, or if the floor forbids it.
func (f *Floor) sinceOf(p *Policy, of Log) string {
	at := slices.IndexFunc(p.Logs, of.Names)
	if at < 0 {
		at = slices.IndexFunc(p.Logs, func(l Log) bool { return l.Path == of.Path })
	}
	if at < 0 || f.ForbidsSince() {
		return ""
	}
	return p.Logs[at].Since
}

// refuseSince reports the since commits of a floor's logs.
func (r *reader) refuseSince(logs []Log) {
	for i, l := range logs {
		if l.Since != "" {
			r.report(Problem{Pos: l.Pos, Subject: fmt.Sprintf("logs.%d.since", i), Message: `a floor's log takes no "since", which names a commit of one repository`, Hint: "leave it out; the repository's own since counts for a log of the same path"})
		}
	}
}
