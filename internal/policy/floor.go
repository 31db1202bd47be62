package policy

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// Floor is a configuration that a repository's own cannot go below: it is judged by itself, and the worse verdict counts.
type Floor struct {
	// Source says where it was read.
	Source string
	// Text is what was read.
	Text   []byte
	root   *small.Value
	known  *Known
	forbid []string
	given  map[string]*schema.Given
}

// What a floor can forbid a repository to use to accept something.
const (
	forbidWaivers  = "waivers"
	forbidBaseline = "baseline"
	forbidSince    = "since"
)

// ParseFloor reads a floor as [ParseWhole] reads a configuration. It may also have the key forbid, a list of waivers, baseline and since.
func ParseFloor(source string, data []byte, known *Known, schemas *SchemaFiles) (*Floor, error) {
	f := &Floor{Source: source, Text: data, known: known}
	_, err := parse(source, data, f.known, f, schemas)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ForbidsWaivers reports whether waivers of a repository do not count; nil forbids nothing.
func (f *Floor) ForbidsWaivers() bool { return f.forbids(forbidWaivers) }

// ForbidsBaselines reports whether baselines of a repository do not count; nil forbids nothing.
func (f *Floor) ForbidsBaselines() bool { return f.forbids(forbidBaseline) }

func (f *Floor) forbids(what string) bool { return f != nil && slices.Contains(f.forbid, what) }

// takeForbid reads the key that only floors have, and removes it from the document.
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
	known := []string{forbidWaivers, forbidBaseline, forbidSince}
	for i, item := range list.Items {
		subject := fmt.Sprintf("forbid.%d", i)
		word, ok := item.Str()
		if !ok {
			r.fail(item.Pos, subject, "%q is %s, not a string", subject, item.Kind)
		} else if !slices.Contains(known, word) {
			r.report(Problem{Pos: item.Pos, Subject: subject, Message: fmt.Sprintf("%q is not one of %q", word, known), Suggestion: nearest(word, known)})
		}
		f.forbid = append(f.forbid, word)
	}
	root.Fields = slices.Delete(root.Fields, at, at+1)
}

// PolicyFor is the floor as a policy for a repository. A key that the floor leaves out has its built-in default, so that no repository decides it.
// What is judged (workspaces, agents, logs, and the sections of families) is the repository's unless the floor names it, and so are the waivers
// and baselines that the floor does not forbid.
func (f *Floor) PolicyFor(p *Policy) *Policy {
	out := *Default()
	out.Source, out.OutsideRepo, out.Logs, out.Sections = p.Source, p.OutsideRepo, p.Logs, p.Sections
	if f.root.Get("workspaces") == nil {
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
	if f.forbids(forbidSince) {
		out.Logs = slices.Clone(out.Logs)
		for i := range out.Logs {
			out.Logs[i].Since = ""
		}
	}
	r := &reader{known: f.known, reported: map[location]bool{}, given: f.given}
	if f.given != nil {
		r.schemas = &SchemaFiles{OutsideRepo: true} // all of them are in given
	}
	r.onto(&out, f.root) // the root was read before, and is valid
	out.Waivers, out.Baselines = slices.Concat(waivers, out.Waivers), slices.Concat(baselines, out.Baselines)
	return &out
}
