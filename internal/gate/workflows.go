package gate

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// workflowView is one workflow file, or one record of a job or a campaign, as of
// one tree.
type workflowView struct {
	path string
	// object is the id of the file's blob.
	object string
	// problems say why the file cannot be read as what it should be.
	problems []small.Problem

	// workflow is nil where the file cannot be read as one. unknown are keys that
	// no workflow has, missing agent files that do not exist; optional says that
	// they may come from elsewhere.
	workflow *lane.Workflow
	unknown  []small.Problem
	missing  []missingAgent
	optional bool

	// isRecord says that the file is a record, isCampaign that it is a campaign's
	// and no job's; record is nil where it cannot be read.
	isRecord, isCampaign bool
	record               *lane.Record
	// find looks up the workflows that the record names.
	find lane.FindWorkflow
}

// missingAgent is an agent file that a workflow names and that does not exist.
type missingAgent struct {
	lane.AgentRef
	// link is the symbolic link that stands there instead; empty if there is none.
	link string
}

// isWorkflowOrRecord reports whether a path is that of a workflow file or a record
// to be judged.
func (j *judgement) isWorkflowOrRecord(path string) bool {
	return j.opts.Policy.JudgesWorkflow(path) || j.isRecord(path)
}

// workflows judges the workflow files and records of one revision at some paths.
func (j *judgement) workflows(ctx context.Context, tree Tree, revision string, paths map[string]bool) error {
	s := j.workflowScan(tree, revision)
	there, err := s.present(ctx, sortedKeys(paths))
	if err != nil {
		return err
	}
	var files []File
	for _, p := range sortedKeys(paths) {
		if f, is := there[p]; is {
			files = append(files, f)
		}
	}
	return s.judge(ctx, files)
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

// workflowScan judges workflow files and records of one tree.
type workflowScan struct {
	*judgement
	tree     Tree
	revision string
	// all are the workflow files of the tree and paths their paths, once a record
	// has asked.
	all   map[string]File
	paths []string
	// read are the workflows that were read, nil for one that cannot be.
	read map[string]*lane.Workflow
}

func (j *judgement) workflowScan(tree Tree, revision string) *workflowScan {
	return &workflowScan{judgement: j, tree: tree, revision: revision, read: map[string]*lane.Workflow{}}
}

// judge judges those of some files that are workflows or records.
func (s *workflowScan) judge(ctx context.Context, files []File) error {
	var workflows, records []*workflowView
	for _, f := range files {
		var v *workflowView
		var err error
		switch {
		case s.isRecord(f.Path):
			if v, err = s.recordAt(ctx, f); err == nil {
				records = append(records, v)
			}
		case s.opts.Policy.JudgesWorkflow(f.Path):
			if v, err = s.workflow(ctx, f); err == nil {
				workflows = append(workflows, v)
			}
		}
		if err != nil {
			return err
		}
	}
	if err := s.findAgents(ctx, workflows); err != nil {
		return err
	}
	for _, v := range slices.Concat(workflows, records) {
		s.report.Examined.Workflows++
		r := &reporter{commit: s.revision}
		for i := range rules {
			if rules[i].Workflow != nil {
				r.rule = &rules[i]
				rules[i].Workflow(v, r)
			}
		}
		s.add(r.out)
		if v.record != nil {
			s.report.addContracts(v.record.CrossContracts())
		}
	}
	return nil
}

func (s *workflowScan) workflow(ctx context.Context, f File) (*workflowView, error) {
	v := &workflowView{path: f.Path, object: f.Object, optional: s.opts.Policy.Workflows.AgentsOptional}
	data, problem, err := readFile(ctx, s.tree, f, s.opts.limits())
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		v.problems = []small.Problem{*problem}
	default:
		v.workflow, v.problems, v.unknown = lane.ParseWorkflow(f.Path, data, s.opts.limits())
	}
	s.read[f.Path] = v.workflow
	return v, nil
}

// findAgents looks, for several workflows at once, for the agent files that they
// name. A symbolic link is followed once, to a file of the tree.
func (s *workflowScan) findAgents(ctx context.Context, views []*workflowView) error {
	roots := s.opts.Policy.Workflows.Roots
	agents := map[*workflowView][]lane.AgentRef{}
	var wanted []string
	for _, v := range views {
		if v.workflow == nil {
			continue
		}
		agents[v] = v.workflow.Agents(roots)
		for _, a := range agents[v] {
			wanted = append(wanted, a.Paths...)
		}
	}
	there, err := s.present(ctx, wanted)
	if err != nil {
		return err
	}
	targets := map[string]string{}
	for p, f := range there {
		if f.Mode != modeLink {
			continue
		}
		blob, err := s.tree.Blob(ctx, f.Object, longestTarget)
		if err != nil {
			return err
		}
		if target := string(blob.Data); !path.IsAbs(target) && !strings.Contains(target, "\x00") {
			targets[p] = path.Join(path.Dir(p), target)
		}
	}
	var ends []string
	for _, to := range targets {
		ends = append(ends, to)
	}
	behind, err := s.present(ctx, ends)
	if err != nil {
		return err
	}
	serves := func(p string) bool {
		f, to := there[p], behind[targets[p]]
		return f.Regular() || f.Unmerged || to.Regular() || to.Unmerged
	}
	for _, v := range views {
		for _, a := range agents[v] {
			if slices.ContainsFunc(a.Paths, serves) {
				continue
			}
			m := missingAgent{AgentRef: a}
			for _, p := range slices.Backward(a.Paths) {
				if there[p].Mode == modeLink {
					m.link = p
				}
			}
			v.missing = append(v.missing, m)
		}
	}
	return nil
}

// longestTarget is how long the target of a symbolic link may be.
const longestTarget = 4096

// present looks up which of some paths are files of the tree.
func (s *workflowScan) present(ctx context.Context, paths []string) (map[string]File, error) {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	var patterns []string
	for _, p := range slices.Compact(paths) {
		patterns = append(patterns, policy.LiteralPattern(p))
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	files, err := s.tree.Glob(ctx, s.revision, patterns...)
	there := map[string]File{}
	for _, f := range files {
		there[f.Path] = f
	}
	return there, err
}

func (s *workflowScan) recordAt(ctx context.Context, f File) (*workflowView, error) {
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

// finder looks up the workflows that a record names: workflow files, and other
// files that it names from the root.
func (s *workflowScan) finder(ctx context.Context, r *lane.Record) (lane.FindWorkflow, error) {
	names := r.Workflows()
	if len(names) == 0 {
		return func(string) (*lane.Workflow, bool) { return nil, s.opts.Part }, nil
	}
	var places []string
	for _, name := range names {
		places = append(places, path.Clean(name), path.Join(name, "workflow.md"))
	}
	files, err := s.present(ctx, places)
	if err != nil {
		return nil, err
	}
	if err := s.listAll(ctx); err != nil {
		return nil, err
	}
	known := slices.Concat(s.paths, slices.Sorted(maps.Keys(files)))
	found := map[string]string{}
	for _, name := range names {
		at := r.Nearest(name, known)
		found[name] = at
		if _, read := s.read[at]; at == "" || read {
			continue
		}
		f, is := s.all[at]
		if !is {
			f = files[at]
		}
		if _, err := s.workflow(ctx, f); err != nil {
			return nil, err
		}
	}
	return func(name string) (*lane.Workflow, bool) {
		return s.read[found[name]], found[name] != "" || s.opts.Part
	}, nil
}

// listAll lists the workflow files of the whole tree, once.
func (s *workflowScan) listAll(ctx context.Context) error {
	if s.all != nil {
		return nil
	}
	files, err := s.tree.Glob(ctx, s.revision, s.opts.Policy.Workflows.Include...)
	if err != nil {
		return err
	}
	s.all = map[string]File{}
	for _, f := range files {
		if s.opts.Policy.JudgesWorkflow(f.Path) {
			s.all[f.Path], s.paths = f, append(s.paths, f.Path)
		}
	}
	return nil
}

// quote shows a path in a message.
func quote(p string) string {
	const most = 120
	if r := []rune(p); len(r) > most {
		p = string(r[:most]) + "…"
	}
	return strconv.Quote(p)
}
