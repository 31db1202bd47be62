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

// maxAdvised bounds how many problems get a suggestion, which bounds the work on
// a file that is wrong from end to end.
const maxAdvised = 200

// reader turns a document into a policy and collects its problems. The schema
// checks the document first; the reader then checks what no schema can express,
// and reports nothing about a place that already has a problem.
type reader struct {
	known    *Known
	problems []Problem
	// reported holds the locations that have a problem.
	reported map[location]bool
	// schemas is where the schemas of logs are read; nil if they are not to be read.
	schemas *SchemaFiles
	// given are the schemas that have been read, by path.
	given map[string]*schema.Given
	// cause is the error of reading a schema.
	cause error
}

// location is what a problem is about: a subject and its position. A key and
// its value share the subject.
type location struct {
	pos     small.Pos
	subject string
}

// fail reports a problem without a hint, unless its location already has one.
func (r *reader) fail(pos small.Pos, subject, format string, args ...any) {
	r.report(Problem{Pos: pos, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

// report adds a problem, unless its location already has one.
func (r *reader) report(p Problem) {
	at := location{p.Pos, p.Subject}
	if r.reported[at] {
		return
	}
	r.reported[at] = true
	r.problems = append(r.problems, p)
}

// checkTypes refuses YAML values that the JSON Schema accepts as another type: a
// fraction such as 1.0 as a whole number, binary data as a string, a number as a
// key. It removes keys that are not strings from the document.
func (r *reader) checkTypes(v *small.Value, path string) {
	switch truth := strings.ToLower(v.Text); {
	case v.Tag == small.BinaryTag:
		r.fail(v.Pos, path, "%q is %s, not a string", path, v.Kind)
	case v.Kind == small.Bool && truth != "true" && truth != "false":
		r.fail(v.Pos, path, "%q is not true or false", path)
	case v.Kind == small.Number && v.Tag != small.IntTag:
		r.fail(v.Pos, path, "%q is not a whole number", path)
	}
	if r.reported[location{v.Pos, path}] {
		return // the value already has a problem
	}
	for i, item := range v.Items {
		r.checkTypes(item, join(path, strconv.Itoa(i)))
	}
	v.Fields = slices.DeleteFunc(v.Fields, func(f small.Field) bool {
		if !f.HasStringKey() {
			r.fail(f.KeyPos, join(path, f.Key), "the key %q is not a string; quote it", f.Key)
		}
		return !f.HasStringKey()
	})
	for _, f := range v.Fields {
		if !r.reported[location{f.KeyPos, join(path, f.Key)}] { // otherwise the key is unknown
			r.checkTypes(f.Value, join(path, f.Key))
		}
	}
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// find returns the value at a dotted path; nil if there is none.
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

// applySettings overwrites a policy's settings with those that the document has. A list or mapping replaces the old one as a whole.
func (r *reader) applySettings(p *Policy, root *small.Value) {
	settings := map[string]any{
		"strict": &p.Strict, "mode": &p.Mode, "rules": &p.Rules, "extensions": &p.Extensions,
		"workspaces.include": &p.Include, "workspaces.exclude": &p.Exclude,
		"append_only.scope": &p.Scope, "limits.file_size": &p.MaxFileSize,
		"agents.authors": &p.AgentAuthors, "agents.trailers": &p.AgentTrailers, "agents.ignore": &p.Robots,
		"logs": &p.Logs,
	}
	p.Sections = maps.Clone(p.Sections)
	var present []Section
	for _, section := range r.known.sections {
		if root.Get(section.Key) == nil {
			continue
		}
		if p.Sections == nil {
			p.Sections = map[string]Settings{}
		}
		p.Sections[section.Key], present = section.New(), append(present, section)
		for key, into := range p.Sections[section.Key].Values() {
			settings[strings.TrimSuffix(section.Key+"."+key, ".")] = into
		}
	}
	valid := len(r.problems) == 0 // otherwise a value that cannot be read probably has a problem already
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		v := find(root, path)
		if v == nil {
			continue
		}
		if _, is := settings[path].(*boolWord); !is {
			// json.Unmarshal would add to an existing map, and overwrite a list that another policy shares.
			reflect.ValueOf(settings[path]).Elem().SetZero()
		}
		if err := json.Unmarshal([]byte(v.Canonical()), settings[path]); err != nil && valid {
			r.fail(v.Pos, path, "%q cannot be read: %v", path, err)
		}
	}
	if v := root.Get("logs"); v != nil {
		r.completeLogs(p.Logs, v)
	}
	if v := root.Get("waivers"); v != nil {
		p.Waivers = r.readWaivers(v, p.Logs)
	}
	if v := root.Get("baseline"); v != nil {
		p.Baselines = r.readBaselines(v, p.Logs)
	}
	for _, section := range present {
		p.Sections[section.Key].Check(SectionReader{r, section.Key, root})
	}
	SectionReader{r, "", root}.CheckRuleIDs("rules")
	r.checkPatterns(root)
}
