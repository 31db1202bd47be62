package policy

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Workflows says where workflow files and the records of jobs and campaigns
// lie. Paths and patterns count from the repository's root.
type Workflows struct {
	// Configured is true if the configuration has the section. Without it nothing
	// of the rest counts.
	Configured bool
	// Include and Exclude are glob patterns for the paths of workflow files.
	// Exclude holds for records as well.
	Include, Exclude []string
	// Jobs and Campaigns are glob patterns for the paths of records, in JSON or
	// YAML. None is the default.
	Jobs, Campaigns []string
	// Roots are directories in which a workflow's agent files are looked for
	// too, in this order, after the folder that holds the workflow's own.
	Roots []string
	// AgentsOptional makes a warning of an agent file that does not exist.
	AgentsOptional bool
}

func defaultWorkflows() Workflows {
	return Workflows{
		Include: []string{"**/workflows/*/workflow.md"},
		Exclude: []string{"**/testdata/**", "**/fixtures/**", "**/vendor/**", "**/node_modules/**"},
	}
}

// Watched are the patterns of all files beside workspaces that are judged.
// Exclude is not in it.
func (w *Workflows) Watched() []string {
	if !w.Configured {
		return nil
	}
	return slices.Concat(w.Include, w.Jobs, w.Campaigns)
}

// Matches reports whether a path matches one of some patterns of a
// configuration.
func Matches(patterns []string, path string) bool { return matchesAny(patterns, path) }

// LiteralPattern is the pattern that matches a path and nothing else.
func LiteralPattern(path string) string { return patternSpecial.Replace(path) }

// patternSpecial takes away the meaning that characters have in a pattern.
var patternSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// MayConfigureWorkflows reports whether a configuration may have the section
// workflows. False is certain; it is found out without parsing, since most
// configurations have none and every commit asks.
func MayConfigureWorkflows(data []byte) bool {
	return bytes.Contains(data, []byte("workflows")) || bytes.IndexByte(data, '\\') >= 0
}

// JudgesWorkflow reports whether a path is that of a workflow file to be judged.
func (p *Policy) JudgesWorkflow(path string) bool {
	return p.Workflows.Configured && matchesAny(p.Workflows.Include, path) && !matchesAny(p.Workflows.Exclude, path)
}

// JudgesJob reports whether a path is that of a job's record to be judged.
func (p *Policy) JudgesJob(path string) bool {
	return matchesAny(p.Workflows.Jobs, path) && p.JudgesRecord(path)
}

// JudgesRecord reports whether a path is that of a record to be judged: a job's
// or a campaign's. What lies in a workspace is none, whatever a pattern says: a
// log is judged as a log.
func (p *Policy) JudgesRecord(path string) bool {
	w := &p.Workflows
	if !matchesAny(w.Jobs, path) && !matchesAny(w.Campaigns, path) || matchesAny(w.Exclude, path) {
		return false
	}
	_, inWorkspace := small.WorkspaceOf(path)
	return !inWorkspace
}

func (r *reader) workflows(v *small.Value, p *Policy) {
	w := &p.Workflows
	w.Configured = true
	lists := map[string]*[]string{"include": &w.Include, "exclude": &w.Exclude, "jobs": &w.Jobs, "campaigns": &w.Campaigns}
	for _, f := range r.mapping(v, "workflows", "include", "exclude", "jobs", "campaigns", "roots", "agents") {
		subject := "workflows." + f.Key
		switch f.Key {
		case "roots":
			w.Roots = r.folders(f.Value, subject)
		case "agents":
			w.AgentsOptional = r.oneOf(f.Value, subject, "required", "optional") == "optional"
		default:
			*lists[f.Key] = r.patterns(f.Value, subject, filePattern)
		}
	}
}

// filePattern says why a pattern can never match the path of a file.
func filePattern(pattern string) (message, hint string) {
	mended := strings.TrimLeft(strings.TrimPrefix(pattern, "./"), "/")
	if mended == pattern {
		return "", ""
	}
	return "the pattern " + quoted(pattern) + " matches no path; paths begin at the repository's root", "write " + quoted(mended)
}

// folders reads a list of directories, and takes off what a path may do without.
func (r *reader) folders(v *small.Value, subject string) []string {
	var out []string
	for i, item := range r.list(v, subject) {
		at := subject + "." + strconv.Itoa(i)
		text, ok := r.text(item, at)
		if !ok {
			continue
		}
		clean := path.Clean(text)
		switch {
		case text == "":
			r.fail(item.Pos, at, "the folder is empty; write the root as \".\"")
		case path.IsAbs(text), clean == "..", strings.HasPrefix(clean, "../"):
			r.report(Problem{
				Pos: item.Pos, Subject: at, Message: "the folder " + quoted(text) + " is outside the repository",
				Hint: "write its path from the repository's root",
			})
		}
		out = append(out, clean)
	}
	return out
}

func quoted(text string) string { return strconv.Quote(wording.Clip(text)) }
