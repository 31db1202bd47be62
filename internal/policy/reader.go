package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// maxAdvised bounds how many problems get a suggestion, and so the work on a
// file that is wrong from end to end.
const maxAdvised = 200

// reader turns a document into a policy and collects what is wrong with it. The
// schema has judged the document before; the reader adds what no schema can say,
// and reports nothing about a place that the schema has already reported.
type reader struct {
	known    *Known
	problems []Problem
	// reported holds what a problem has been reported for.
	reported map[location]bool
	// schemas are those of logs, nil if they are not to be read; given are those that have been read, and cause why one could not be.
	schemas *SchemaFiles
	given   map[string]*schema.Given
	cause   error
}

// location is what a problem is about: a subject and its position. A key and
// its value share the subject.
type location struct {
	pos     small.Pos
	subject string
}

// fail reports a problem, unless its place has one already.
func (r *reader) fail(pos small.Pos, subject, format string, args ...any) {
	r.report(Problem{Pos: pos, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) report(p Problem) {
	at := location{p.Pos, p.Subject}
	if r.reported[at] {
		return
	}
	r.reported[at] = true
	r.problems = append(r.problems, p)
}

// strict refuses what a schema over JSON takes for something else: a fraction
// such as 1.0 for a whole number, binary data for text, a number for a key. Such
// keys are removed from the document.
func (r *reader) strict(v *small.Value, path string) {
	switch truth := strings.ToLower(v.Text); {
	case v.Tag == small.BinaryTag:
		r.fail(v.Pos, path, "%q is %s, not a string", path, v.Kind)
	case v.Kind == small.Bool && truth != "true" && truth != "false":
		r.fail(v.Pos, path, "%q is not true or false", path)
	case v.Kind == small.Number && v.Tag != small.IntTag:
		r.fail(v.Pos, path, "%q is not a whole number", path)
	}
	if r.reported[location{v.Pos, path}] {
		return // it is not what the schema asks for
	}
	for i, item := range v.Items {
		r.strict(item, join(path, strconv.Itoa(i)))
	}
	v.Fields = slices.DeleteFunc(v.Fields, func(f small.Field) bool {
		if !f.Named() {
			r.fail(f.KeyPos, join(path, f.Key), "the key %q is not a string; quote it", f.Key)
		}
		return !f.Named()
	})
	for _, f := range v.Fields {
		if !r.reported[location{f.KeyPos, join(path, f.Key)}] { // a key that the schema knows
			r.strict(f.Value, join(path, f.Key))
		}
	}
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// find returns the value at a dotted path, nil if there is none.
func find(v *small.Value, path string) *small.Value {
	for step := range strings.SplitSeq(path, ".") {
		next := v.At([]string{step})
		if next == v {
			return nil
		}
		v = next
	}
	return v
}

// onto replaces a policy's settings by those of the document's root, each list and mapping as a whole.
func (r *reader) onto(p *Policy, root *small.Value) {
	settings := map[string]any{
		"strict": &p.Strict, "mode": &p.Mode, "rules": &p.Rules, "extensions": &p.Extensions,
		"workspaces.include": &p.Include, "workspaces.exclude": &p.Exclude,
		"append_only.scope": &p.Scope, "limits.file_size": &p.MaxFileSize,
		"agents.authors": &p.AgentAuthors, "agents.trailers": &p.AgentTrailers, "agents.ignore": &p.Robots,
		"logs": &p.Logs,
	}
	p.Sections = maps.Clone(p.Sections)
	var own []Section
	for _, section := range r.known.sections {
		if root.Get(section.Key) == nil {
			continue
		}
		if p.Sections == nil {
			p.Sections = map[string]Settings{}
		}
		p.Sections[section.Key], own = section.New(), append(own, section)
		for key, into := range p.Sections[section.Key].Values() {
			settings[strings.TrimSuffix(section.Key+"."+key, ".")] = into
		}
	}
	valid := len(r.problems) == 0
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		v := find(root, path)
		if v == nil {
			continue
		}
		if _, is := settings[path].(*word); !is {
			reflect.ValueOf(settings[path]).Elem().SetZero() // otherwise JSON adds to a map, and writes into a list that another policy shares
		}
		if err := json.Unmarshal([]byte(v.Canonical()), settings[path]); err != nil && valid {
			r.fail(v.Pos, path, "%q cannot be read: %v", path, err)
		}
	}
	if v := root.Get("logs"); v != nil {
		r.logs(p.Logs, v)
	}
	if v := root.Get("waivers"); v != nil {
		p.Waivers = r.waivers(v, p.Logs)
	}
	if v := root.Get("baseline"); v != nil {
		p.Baselines = r.baselines(v, p.Logs)
	}
	for _, section := range own {
		p.Sections[section.Key].Check(SectionReader{r, section.Key, root})
	}
	SectionReader{r, "", root}.CheckRuleIDs("rules")
	r.checkPatterns(root)
}
