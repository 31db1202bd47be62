package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// MaxSize is the largest configuration that is read, in bytes: 1 MiB, which
// holds about three thousand waivers.
const MaxSize = 1 << 20

// version is the one version of the format that exists.
const version = 1

// Parse reads a configuration. Source says where the bytes come from, for
// reports and errors; rules lists the rules that there are.
//
// Reading is strict: whatever is unknown, misspelt, of a wrong type or
// malformed is an error, since a setting that does nothing would be believed
// in. The error is an *InvalidError that holds every problem. What the file
// leaves out is as in Default; a list or mapping of patterns that it gives
// replaces the default one.
func Parse(source string, data []byte, rules []Rule) (*Policy, error) {
	known := catalogue{effects: map[string]ledger.EditEffect{}}
	for _, r := range rules {
		known.ids = append(known.ids, r.ID)
		known.effects[r.ID] = r.Edit
	}
	return parse(source, data, known)
}

// Rule is what a configuration has to know of a rule.
type Rule struct {
	ID string
	// Edit is what a finding says was done to a log.
	Edit ledger.EditEffect
}

// catalogue knows which rules there are.
type catalogue struct {
	ids     []string
	effects map[string]ledger.EditEffect
}

func parse(source string, data []byte, rules catalogue) (*Policy, error) {
	r := &reader{rules: rules, reported: map[location]bool{}}
	doc, problems := small.Parse(data, small.Limits{MaxFileSize: MaxSize})
	if doc == nil {
		for _, p := range problems {
			r.problems = append(r.problems, unreadable(p, len(data)))
		}
		return nil, &InvalidError{Source: source, Problems: r.problems}
	}
	textDays(doc.Root)
	for _, p := range schema().Check(doc) {
		r.schemaProblem(doc, p)
	}
	p := r.policy(doc.Root)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
		})
		return nil, &InvalidError{Source: source, Problems: r.problems}
	}
	p.Source = source
	return p, nil
}

// unreadable is the problem of a file that is no document, in words for a
// configuration rather than for a log.
func unreadable(p small.Problem, size int) Problem {
	out := Problem{Pos: p.Pos, Subject: p.Subject, Message: p.Message, Hint: p.Hint}
	switch {
	case p.Kind == small.ProblemTooLarge && size > MaxSize:
		out.Message = fmt.Sprintf("the file has %d bytes, the limit is %d", size, MaxSize)
		out.Hint = "a baseline accepts a whole log in one stanza"
	case p.Kind == small.ProblemTooLarge:
		out.Hint = ""
	case p.Kind == small.ProblemNotAFile:
		out.Hint = "remove " + File + " from the LFS patterns in .gitattributes and commit the file itself"
	case p.Kind == small.ProblemDocuments:
		out.Message = "a second YAML document begins here; a configuration is exactly one"
	case strings.Contains(p.Message, "conflict marker"):
		out.Hint = "resolve the conflict and remove the markers"
	case size == 0 || strings.Contains(p.Message, "is empty"):
		out.Hint = fmt.Sprintf("write version: %d, or remove the file", version)
	}
	out.Pos = small.Pos{Line: max(p.Pos.Line, 1), Column: max(p.Pos.Column, 1)}
	return out
}

// textDays makes text of the days that waivers name without quotes, which YAML
// reads as dates. The schema can then say that a day is text.
func textDays(root *small.Value) {
	list := root.Get("waivers")
	if list == nil {
		return
	}
	for _, item := range list.Items {
		if day := item.Get("until"); day != nil && day.Kind == small.Other && day.Tag == "!!timestamp" {
			day.Kind = small.String
		}
	}
}

// schemaProblem takes over what the schema found.
func (r *reader) schemaProblem(doc *small.Document, p small.Problem) {
	out := Problem{Pos: p.Pos, Subject: p.Subject, Message: p.Message, Hint: p.Hint}
	if len(r.problems) < maxAdvised {
		out.Suggestion, out.Hint = advice(p.Subject, p.Hint, find(doc.Root, p.Subject))
	}
	if p.Subject == "version" {
		out.Hint = fmt.Sprintf("write version: %d; it is the only one that this program reads", version)
	}
	r.reported[location{p.Pos, p.Subject}] = true
	r.problems = append(r.problems, out)
}

// find returns the value at a dotted path, nil if there is none.
func find(v *small.Value, subject string) *small.Value {
	for step := range strings.SplitSeq(subject, ".") {
		next := v.At([]string{step})
		if next == v {
			return nil
		}
		v = next
	}
	return v
}

// policy reads the document's root.
func (r *reader) policy(root *small.Value) *Policy {
	p := Default()
	if root.Get("version") == nil {
		r.fail(root.Pos, "version", "the version is missing")
	}
	for _, f := range root.Fields {
		switch f.Key {
		case "version":
			r.between(f.Value, f.Key, version, version)
		case "strict":
			p.Strict = r.boolean(f.Value, f.Key)
		case "mode":
			p.Mode = Mode(r.oneOf(f.Value, f.Key, string(Enforce), string(Observe)))
		case "workspaces":
			r.workspaces(f.Value, p)
		case "rules":
			r.levels(f.Value, p)
		case "append_only":
			for _, f := range r.mapping(f.Value, "append_only", "scope") {
				p.Scope = Scope(r.oneOf(f.Value, "append_only.scope", string(Committed), string(Published)))
			}
		case "agents":
			r.agents(f.Value, p)
		case "extensions":
			for i, item := range r.list(f.Value, f.Key) {
				p.Extensions = append(p.Extensions, r.oneOf(item, fmt.Sprintf("extensions.%d", i), small.Extensions...))
			}
		case "waivers":
			p.Waivers = r.waivers(f.Value)
		case "baseline":
			p.Baselines = r.baselines(f.Value)
		case "workflows":
			r.workflows(f.Value, p)
		case "lane":
			p.Lane = r.oneOf(f.Value, f.Key, LaneNames...)
		case "lanes":
			r.lanes(f.Value, p)
		case "limits":
			for _, f := range r.mapping(f.Value, "limits", "file_size") {
				p.MaxFileSize = r.between(f.Value, "limits.file_size", 1, 1<<30)
			}
		default:
			r.fail(f.KeyPos, f.Key, "unknown key %q", f.Key)
		}
	}
	return p
}
