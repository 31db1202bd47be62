package gate

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// workflowView is one workflow file or one record of a job or a campaign, as of
// one tree; or what became of a record on one edge. Rules about workflows read
// whatever of it is there.
type workflowView struct {
	path string
	// workflow is nil where the file cannot be read as one; then problems say
	// why. missing are the agent files that it names and that are not there.
	workflow *lane.Workflow
	missing  []missingAgent
	// record is nil where the file cannot be read as one; isRecord says that it
	// should be, and isCampaign that it is a campaign's and no job's.
	record               *lane.Record
	isRecord, isCampaign bool
	problems             []small.Problem
	// object is the id of the file's blob.
	object string
	// find looks up the workflows that the record names.
	find lane.FindWorkflow

	// edge is a switch history's way from a parent to a child.
	edge *edgeView
	// loosened is what a record held to before an edge, and does not after it;
	// undone are children that had ended and have not any more, and gone are those
	// of a record that is gone. parents are the child's.
	loosened []lane.Loosening
	// was is the record's path before the edge.
	was          string
	undone, gone []lane.Undone
	parents      []string
}

// runWorkflowRules runs every rule about workflows.
func runWorkflowRules(v *workflowView, r *reporter) []Finding {
	for i := range rules {
		if rules[i].Workflow != nil {
			r.rule = &rules[i]
			rules[i].Workflow(v, r)
		}
	}
	return r.out
}

// isFlow reports whether a path is that of a workflow or a record to be judged.
func (j *judgement) isFlow(path string) bool {
	return j.isRecord(path) || j.opts.Policy.JudgesWorkflow(path)
}

// isRecord reports whether a path is that of a job's or a campaign's record.
func (j *judgement) isRecord(path string) bool {
	w := &j.opts.Policy.Workflows
	return len(w.Jobs)+len(w.Campaigns) > 0 && j.opts.Policy.JudgesRecord(path)
}

// isLog reports whether a path is that of anything append-only that is judged.
func (j *judgement) isLog(path string) bool {
	return isLedger(path) && j.judges(path) || j.isRecord(path)
}

// logs reads what is append-only at a path.
func (j *judgement) logs(path string) *ledgers {
	if j.isRecord(path) {
		return j.switches
	}
	return j.ledgers
}

// workflows judges the workflow files and records of one revision at some paths.
// A repository that has no workspace, and does not configure workflows, is left
// alone.
func (j *judgement) workflows(ctx context.Context, tree Tree, revision string, paths map[string]bool) error {
	if len(paths) == 0 {
		return nil
	}
	if uses, err := j.usesWorkflows(ctx, tree, revision); err != nil || !uses {
		return err
	}
	s := j.flowTree(tree, revision)
	files, err := s.all(ctx)
	if err != nil {
		return err
	}
	return s.judge(ctx, slices.DeleteFunc(files, func(f File) bool { return !paths[f.Path] }))
}

// policyIn is the policy with the workflow files and records that belong to one
// directory: of a pattern that begins with **/ those in the directory itself. Of
// another it still has those that lie elsewhere.
func (j *judgement) policyIn(dir string) *policy.Policy {
	own := *j.opts.Policy
	w := &own.Workflows
	for _, list := range []*[]string{&w.Include, &w.Jobs, &w.Campaigns} {
		patterns := slices.Clone(*list)
		for i, p := range patterns {
			if rest, anywhere := strings.CutPrefix(p, "**/"); anywhere {
				patterns[i] = path.Join(policy.LiteralPattern(dir), rest)
			}
		}
		*list = patterns
	}
	return &own
}

// usesWorkflows reports whether workflows are judged in a tree at all.
func (j *judgement) usesWorkflows(ctx context.Context, tree Tree, revision string) (bool, error) {
	if j.opts.Policy.Workflows.Configured || len(j.touched) > 0 || j.report.Examined.Workspaces > 0 {
		return true, nil
	}
	files, err := tree.Files(ctx, revision)
	return slices.ContainsFunc(files, func(f File) bool { return j.judges(f.Path) }), err
}

// flowTree judges the workflow files and records of one tree.
type flowTree struct {
	*judgement
	tree     Tree
	revision string
	// narrow, if not nil, is the policy with patterns for one directory alone.
	narrow *policy.Policy
	// files are those that the patterns match; listed says that they are known.
	files  []File
	listed bool
	// elsewhere are the workflow files of the whole tree, where one was looked for
	// that is not among files; nil until then.
	elsewhere []File
	// read are the workflows that were read, nil for one that cannot be.
	read map[string]*lane.Workflow
}

func (j *judgement) flowTree(tree Tree, revision string) *flowTree {
	return &flowTree{judgement: j, tree: tree, revision: revision, read: map[string]*lane.Workflow{}}
}

// all lists the files that the patterns match.
func (s *flowTree) all(ctx context.Context) ([]File, error) {
	p := s.opts.Policy
	if s.narrow != nil {
		p = s.narrow
	}
	if !s.listed {
		files, err := s.tree.Glob(ctx, s.revision, p.Workflows.Watched()...)
		if err != nil {
			return nil, err
		}
		s.found(files)
	}
	return slices.Clone(s.files), nil
}

// found notes the files that the patterns match, as a tree lists them.
func (s *flowTree) found(files []File) {
	s.files, s.listed = slices.DeleteFunc(files, func(f File) bool { return !s.isFlow(f.Path) }), true
}

// judge judges files, the workflows first.
func (s *flowTree) judge(ctx context.Context, files []File) error {
	var workflows []*workflowView
	for _, f := range files {
		if s.isRecord(f.Path) {
			continue
		}
		v, err := s.workflow(ctx, f)
		if err != nil {
			return err
		}
		workflows = append(workflows, v)
	}
	if err := s.missingAgents(ctx, workflows); err != nil {
		return err
	}
	for _, v := range workflows {
		s.tell(v)
	}
	for _, f := range files {
		if !s.isRecord(f.Path) {
			continue
		}
		v, err := s.recordAt(ctx, f)
		if err != nil {
			return err
		}
		s.tell(v)
	}
	return nil
}

func (s *flowTree) tell(v *workflowView) {
	s.report.Examined.Workflows++
	s.add(runWorkflowRules(v, &reporter{commit: s.revision}))
}

func (s *flowTree) workflow(ctx context.Context, f File) (*workflowView, error) {
	v := &workflowView{path: f.Path, object: f.Object}
	data, problem, err := readFile(ctx, s.tree, f, s.opts.limits())
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		if problem.Kind == small.ProblemTooLarge {
			problem.Hint = lane.TooLargeHint
		}
		v.problems = []small.Problem{*problem}
	default:
		v.workflow, v.problems = lane.ParseWorkflow(f.Path, data, s.opts.limits())
	}
	s.read[f.Path] = v.workflow
	return v, nil
}

// present looks up which of some paths are files of the tree.
func (s *flowTree) present(ctx context.Context, paths []string) (map[string]File, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	patterns := make([]string, len(paths))
	for i, p := range paths {
		patterns[i] = policy.LiteralPattern(p)
	}
	files, err := s.tree.Glob(ctx, s.revision, patterns...)
	there := map[string]File{}
	for _, f := range files {
		there[f.Path] = f
	}
	return there, err
}

func (s *flowTree) recordAt(ctx context.Context, f File) (*workflowView, error) {
	v := &workflowView{path: f.Path, object: f.Object, isRecord: true, isCampaign: !s.opts.Policy.JudgesJob(f.Path)}
	data, problem, err := readFile(ctx, s.tree, f, s.opts.limits())
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		v.problems = []small.Problem{*problem}
		return v, nil
	}
	if v.record, v.problems = lane.ParseRecord(f.Path, data, s.opts.limits()); v.record == nil {
		return v, nil
	}
	v.find, err = s.finder(ctx, v.record)
	return v, err
}

// finder looks up the workflows that a record names: at the places at which they
// may lie, or, where a workflow is named as seen from the folder that holds
// "workflows", among those that the tree has.
func (s *flowTree) finder(ctx context.Context, r *lane.Record) (lane.FindWorkflow, error) {
	names := map[string]bool{r.WorkflowPath.Text: true}
	for _, w := range r.Switches {
		names[w.From.Text], names[w.To.Text] = true, true
	}
	delete(names, "")
	found := map[string]string{}
	var places []string
	for name := range names {
		places = append(places, r.Places(name, s.opts.Policy.Workflows.Roots)...)
	}
	slices.Sort(places)
	there, err := s.present(ctx, slices.Compact(places))
	if err != nil {
		return nil, err
	}
	files, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	for name := range names {
		for _, at := range r.Places(name, s.opts.Policy.Workflows.Roots) {
			if found[name] == "" && there[at].Path != "" {
				found[name] = at
			}
		}
		f, err := s.named(ctx, name, found[name] == "", files)
		if err != nil {
			return nil, err
		}
		if f.Path != "" {
			found[name], there[f.Path] = f.Path, f
		}
		if at := found[name]; at != "" {
			if _, known := s.read[at]; !known {
				if _, err := s.workflow(ctx, there[at]); err != nil {
					return nil, err
				}
			}
		}
	}
	return func(name string) (*lane.Workflow, bool) {
		at := found[name]
		return s.read[at], at != "" || s.opts.Part
	}, nil
}

// named finds a workflow that is named as seen from the folder that holds
// "workflows": among some files, and then in the whole tree, of which those may
// be a part. It returns the zero File where it is not wanted, or not there.
func (s *flowTree) named(ctx context.Context, name string, wanted bool, files []File) (File, error) {
	if !wanted {
		return File{}, nil
	}
	is := func(f File) bool { return lane.Names(name, f.Path) }
	if i := slices.IndexFunc(files, is); i >= 0 {
		return files[i], nil
	}
	if s.elsewhere == nil {
		all, err := s.tree.Glob(ctx, s.revision, s.opts.Policy.Workflows.Include...)
		if err != nil {
			return File{}, err
		}
		s.elsewhere = append([]File{}, slices.DeleteFunc(all, func(f File) bool { return !s.opts.Policy.JudgesWorkflow(f.Path) })...)
	}
	if i := slices.IndexFunc(s.elsewhere, is); i >= 0 {
		return s.elsewhere[i], nil
	}
	return File{}, nil
}
