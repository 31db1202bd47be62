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
	"github.com/small-gate/small-gate/internal/wording"
)

// WorkflowFile is one workflow file, or one record of a job or a campaign, as of
// one tree.
type WorkflowFile struct {
	Place
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

// judgeWorkflows judges, at the tip, the workflow files and records that changed.
func judgeWorkflows(r *run, ctx context.Context) error {
	return workflowsAt(r, ctx, r.scope.tip.ID, r.scope.workflows)
}

// workflowsAt judges the workflow files and records of one revision at some paths.
func workflowsAt(r *run, ctx context.Context, revision string, paths map[string]bool) error {
	s := newScan(r, revision)
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

// workflowsBelow judges the workflow files and records below the directory that is
// checked whose paths match some patterns.
func workflowsBelow(r *run, ctx context.Context, patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	files, err := r.src.tree.Glob(ctx, r.scope.tip.ID, patterns...)
	if err != nil {
		return err
	}
	return newScan(r, r.scope.tip.ID).judge(ctx, below(files, r.scope.dir))
}

// watchedIn are the patterns of the workflow files and records of one directory: of
// a pattern that begins with **/ those in the directory itself. Other patterns
// match elsewhere as well.
func watchedIn(r *run, dir string) []string {
	patterns := r.opts.Policy.Workflows.Watched()
	for i, p := range patterns {
		if rest, anywhere := strings.CutPrefix(p, "**/"); anywhere {
			patterns[i] = path.Join(policy.LiteralPattern(dir), rest)
		}
	}
	return patterns
}

// workflowScan judges workflow files and records of one tree.
type workflowScan struct {
	*run
	revision string
	// read are the workflows that were read, by path, nil for one that cannot be.
	read map[string]*lane.Workflow
}

func newScan(r *run, revision string) *workflowScan {
	return &workflowScan{run: r, revision: revision, read: map[string]*lane.Workflow{}}
}

// judge judges those of some files that are workflows or records.
func (s *workflowScan) judge(ctx context.Context, files []File) error {
	var views []*WorkflowFile
	for _, f := range files {
		if !s.src.isWorkflowOrRecord(f.Path) {
			continue
		}
		v, err := s.view(ctx, f)
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	if err := s.findAgents(ctx, views); err != nil {
		return err
	}
	if err := s.findWorkflows(ctx, views); err != nil {
		return err
	}
	for _, v := range views {
		s.examined().Workflows++
		v.Commit = s.revision
		s.out.judge(v)
		if v.record != nil {
			s.out.report.addContracts(v.record.CrossContracts())
		}
	}
	return nil
}

// view reads a workflow or a record.
func (s *workflowScan) view(ctx context.Context, f File) (*WorkflowFile, error) {
	v := &WorkflowFile{path: f.Path, object: f.Object, optional: s.src.policy.Workflows.AgentsOptional, isRecord: s.src.isRecord(f.Path)}
	v.isCampaign = v.isRecord && !s.src.policy.JudgesJob(f.Path)
	data, problem, err := readFile(ctx, s.src.tree, f, s.src.limits)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		v.problems = []small.Problem{*problem}
	case v.isRecord:
		v.record, v.problems = lane.ParseRecord(f.Path, data, s.src.limits)
	default:
		v.workflow, v.problems, v.unknown = lane.ParseWorkflow(f.Path, data, s.src.limits)
	}
	s.read[f.Path] = v.workflow
	return v, nil
}

// findAgents looks, for several workflows at once, for the agent files that they
// name. A symbolic link is followed once, to a file of the tree.
func (s *workflowScan) findAgents(ctx context.Context, views []*WorkflowFile) error {
	agents := map[*WorkflowFile][]lane.AgentRef{}
	var wanted []string
	for _, v := range views {
		if v.workflow == nil {
			continue
		}
		agents[v] = v.workflow.Agents(s.src.policy.Workflows.Roots)
		for _, a := range agents[v] {
			wanted = append(wanted, a.Paths...)
		}
	}
	there, err := s.present(ctx, wanted)
	if err != nil {
		return err
	}
	links, err := s.follow(ctx, there)
	if err != nil {
		return err
	}
	isFile := func(p string) bool { return there[p].Regular() || there[p].Unmerged }
	isLink := func(p string) bool { _, is := links[p]; return is }
	for _, v := range views {
		for _, a := range agents[v] {
			if slices.ContainsFunc(a.Paths, isFile) {
				continue
			}
			m := missingAgent{AgentRef: a}
			if i := slices.IndexFunc(a.Paths, isLink); i >= 0 {
				m.link = a.Paths[i]
			}
			v.missing = append(v.missing, m)
		}
	}
	return nil
}

// longestTarget is how long the target of a symbolic link may be.
const longestTarget = 4096

// follow replaces each symbolic link in there with what it leads to, and returns
// where the links lead.
func (s *workflowScan) follow(ctx context.Context, there map[string]File) (links map[string]string, err error) {
	links = map[string]string{}
	for p, f := range there {
		if f.Mode != modeLink {
			continue
		}
		blob, err := s.src.tree.Blob(ctx, f.Object, longestTarget)
		if err != nil {
			return nil, err
		}
		links[p] = ""
		if target := string(blob.Data); !path.IsAbs(target) && !strings.Contains(target, "\x00") {
			links[p] = path.Join(path.Dir(p), target)
		}
	}
	behind, err := s.present(ctx, slices.Collect(maps.Values(links)))
	for p, to := range links {
		there[p] = behind[to]
	}
	return links, err
}

// present looks up which of some paths are files of the tree.
func (s *workflowScan) present(ctx context.Context, paths []string) (map[string]File, error) {
	var patterns []string
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if p != "" {
			patterns = append(patterns, policy.LiteralPattern(p))
		}
	}
	there := map[string]File{}
	if len(patterns) == 0 {
		return there, nil
	}
	files, err := s.src.tree.Glob(ctx, s.revision, patterns...)
	for _, f := range files {
		there[f.Path] = f
	}
	return there, err
}

// findWorkflows looks, for several records at once, for the workflows that they
// name: any file that is named from the root, or else a workflow file.
func (s *workflowScan) findWorkflows(ctx context.Context, views []*WorkflowFile) error {
	var wanted []string
	names := map[*WorkflowFile][]string{}
	for _, v := range views {
		if v.record != nil {
			names[v] = v.record.Workflows()
		}
		for _, name := range names[v] {
			wanted = append(wanted, lane.WorkflowFiles(name)...)
		}
	}
	files, err := s.present(ctx, wanted)
	if err != nil {
		return err
	}
	var anywhere []string
	if len(wanted) > 0 {
		all, err := s.src.tree.Glob(ctx, s.revision, s.src.policy.Workflows.Include...)
		if err != nil {
			return err
		}
		for _, f := range all {
			if s.src.policy.JudgesWorkflow(f.Path) {
				files[f.Path], anywhere = f, append(anywhere, f.Path)
			}
		}
	}
	for _, v := range views {
		found := map[string]string{}
		for _, name := range names[v] {
			at := v.record.Nearest(name, anywhere)
			for _, exact := range lane.WorkflowFiles(name) {
				if _, is := files[exact]; is {
					at = exact
				}
			}
			if _, read := s.read[at]; !read && at != "" {
				if _, err := s.view(ctx, files[at]); err != nil {
					return err
				}
			}
			found[name] = at
		}
		v.find = func(name string) (string, *lane.Workflow) {
			if at := found[name]; at != "" || !s.opts.Part {
				return at, s.read[at]
			}
			return strings.TrimSuffix(path.Clean(name), "/workflow.md"), nil // it cannot be seen
		}
	}
	return nil
}

// quote shows a path in a message.
func quote(p string) string { return strconv.Quote(wording.Clip(p)) }
