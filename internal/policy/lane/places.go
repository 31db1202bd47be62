package lane

import (
	_ "embed"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Workflows is the part of the configuration about workflow files and records.
var Workflows = policy.Section{Key: "workflows", Schema: workflowsSchema, New: func() policy.Settings {
	return &Places{
		Include: []string{"**/workflows/*/workflow.md"},
		Exclude: []string{"**/testdata/**", "**/fixtures/**", "**/vendor/**", "**/node_modules/**"},
	}
}}

//go:embed workflows.json
var workflowsSchema string

// Places says where workflow files and the records of jobs and campaigns are. Paths and patterns are relative to the repository's root.
type Places struct {
	// Include and Exclude are glob patterns for the paths of workflow files. Exclude also applies to records.
	Include, Exclude []string
	// Jobs and Campaigns are glob patterns for the paths of records, which are JSON
	// or YAML. By default there are none.
	Jobs, Campaigns []string
	// Roots are further directories in which a workflow's agent files are looked for, in this order, after the folder that
	// contains the workflow's folder "workflows".
	Roots []string
	// AgentsOptional makes a missing agent file a warning.
	AgentsOptional bool
}

// PlacesIn returns the places of a policy; empty if it has no such section.
func PlacesIn(p *policy.Policy) *Places {
	if w, set := p.Sections[Workflows.Key].(*Places); set {
		return w
	}
	return &Places{}
}

// Values returns pointers to the fields that the configuration sets, by key.
func (w *Places) Values() map[string]any {
	return map[string]any{
		"include": &w.Include, "exclude": &w.Exclude, "jobs": &w.Jobs, "campaigns": &w.Campaigns,
		"roots": &w.Roots, "agents": policy.BoolWord("optional", &w.AgentsOptional),
	}
}

// Check validates patterns and folders, and normalises paths.
func (w *Places) Check(r policy.SectionReader) {
	for _, key := range []string{"include", "exclude", "jobs", "campaigns"} {
		r.Patterns(key, policy.FilePattern)
	}
	for i, text := range w.Roots {
		p := policy.Problem{Pos: r.At("roots").Items[i].Pos, Subject: "roots." + strconv.Itoa(i)}
		w.Roots[i] = path.Clean(text)
		switch {
		case text == "":
			p.Message = "the folder's path is empty; write \".\" for the repository's root"
		case path.IsAbs(text), w.Roots[i] == "..", strings.HasPrefix(w.Roots[i], "../"):
			p.Message, p.Hint = "the folder "+wording.Quote(text)+" is outside the repository", "write its path from the repository's root"
		default:
			continue
		}
		r.Report(p)
	}
}

// Noun returns the word for the files in messages.
func (*Places) Noun() string { return "workflow" }

// Watched returns the patterns of judged workflow files and records. Exclude is not applied.
func (w *Places) Watched() []string { return slices.Concat(w.Include, w.Jobs, w.Campaigns) }

// Watches reports whether a path is a workflow file or a record to be judged.
func (w *Places) Watches(path string) bool { return w.HasWorkflow(path) || w.HasRecord(path) }

// FormatAt says how to read a record as a log; nil if a path is not a record.
func (w *Places) FormatAt(path string) *policy.Format {
	if !w.HasRecord(path) {
		return nil
	}
	return &switches
}

// switches reads a record as a log. Its entries are the job's changes of workflow.
var switches = policy.Format{
	Rule: "workflow/history-rewritten",
	Read: func(path string, data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
		r, problems := ParseRecord(path, data, limits)
		if r == nil {
			return nil, problems
		}
		return &ledger.Log{Ledger: r.Ledger()}, nil
	},
	Values: func(path string, data []byte, limits small.Limits) ([]*small.Value, []small.Problem) {
		r, problems := ParseRecord(path, data, limits)
		if r == nil {
			return nil, problems
		}
		return r.SwitchValues(), nil
	},
}

// HasWorkflow reports whether a path is a workflow file to be judged.
func (w *Places) HasWorkflow(path string) bool {
	return policy.Matches(w.Include, path) && !policy.Matches(w.Exclude, path)
}

// HasJob reports whether a path is a job's record to be judged.
func (w *Places) HasJob(path string) bool {
	return policy.Matches(w.Jobs, path) && w.HasRecord(path)
}

// HasRecord reports whether a path is a record to be judged: a job's or a campaign's. A file in .small never is one, whatever the patterns.
func (w *Places) HasRecord(path string) bool {
	if !policy.Matches(w.Jobs, path) && !policy.Matches(w.Campaigns, path) || policy.Matches(w.Exclude, path) {
		return false
	}
	_, inSmall := small.WorkspaceOf(path)
	return !inSmall
}
