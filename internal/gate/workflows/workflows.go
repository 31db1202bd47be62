package workflows

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Judge judges the changed workflow files and records at the tip.
func Judge(ctx context.Context, r *run.Run) error {
	return At(ctx, r, r.Scope.Tip.ID, r.Scope.Workflows)
}

// At judges the workflow files and records at some paths of a revision.
func At(ctx context.Context, r *run.Run, revision string, paths map[string]bool) error {
	s := newScan(r, revision)
	there, err := s.present(ctx, run.SortedKeys(paths))
	if err != nil {
		return err
	}
	var files []history.File
	for _, p := range run.SortedKeys(paths) {
		if f, is := there[p]; is {
			files = append(files, f)
		}
	}
	return s.judge(ctx, files)
}

// Below judges the workflow files and records below the checked directory that match some patterns.
func Below(ctx context.Context, r *run.Run, patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Matching(patterns...))
	if err != nil {
		return err
	}
	return newScan(r, r.Scope.Tip.ID).judge(ctx, FilesBelow(files, r.Scope.Dir))
}

// WatchedIn are the patterns of the workflow files and records of one directory; a pattern that begins with **/ is
// taken for the directory itself.
func WatchedIn(r *run.Run, dir string) []string {
	patterns := r.Options.Policy.Workflows.Watched()
	for i, p := range patterns {
		if rest, anywhere := strings.CutPrefix(p, "**/"); anywhere {
			patterns[i] = path.Join(policy.LiteralPattern(dir), rest)
		}
	}
	return patterns
}

// workflowScan judges workflow files and records of one tree.
type workflowScan struct {
	*run.Run
	revision string
	// read are the workflows that were read, by path; nil for one that cannot be.
	read map[string]*lane.Workflow
}

func newScan(r *run.Run, revision string) *workflowScan {
	return &workflowScan{Run: r, revision: revision, read: map[string]*lane.Workflow{}}
}

// judge judges the workflows and records among some files.
func (s *workflowScan) judge(ctx context.Context, files []history.File) error {
	var views []*subject.WorkflowFile
	for _, f := range files {
		if !s.Source.IsWorkflowOrRecord(f.Path) {
			continue
		}
		v, err := s.readFile(ctx, f)
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
		s.Examined().Workflows++
		v.Commit = s.revision
		s.Collector.Judge(v)
		if v.Record != nil {
			s.Collector.Report.AddContracts(v.Record.CrossContracts())
		}
	}
	return nil
}

func (s *workflowScan) readFile(ctx context.Context, f history.File) (*subject.WorkflowFile, error) {
	v := &subject.WorkflowFile{Path: f.Path, Object: f.Object, Optional: s.Source.Policy.Workflows.AgentsOptional, IsRecord: s.Source.IsRecord(f.Path)}
	v.IsCampaign = v.IsRecord && !s.Source.Policy.JudgesJob(f.Path)
	data, problem, err := read.ReadFile(ctx, s.Source.Tree, f, s.Source.Limits)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		v.Problems = []small.Problem{*problem}
	case v.IsRecord:
		v.Record, v.Problems = lane.ParseRecord(f.Path, data, s.Source.Limits)
	default:
		v.Workflow, v.Problems, v.Unknown = lane.ParseWorkflow(f.Path, data, s.Source.Limits)
	}
	s.read[f.Path] = v.Workflow
	return v, nil
}

// findAgents looks up the agent files that workflows name, for several workflows at once. A symbolic link is
// followed once, to a file of the tree.
func (s *workflowScan) findAgents(ctx context.Context, views []*subject.WorkflowFile) error {
	agents := map[*subject.WorkflowFile][]lane.AgentRef{}
	var wanted []string
	for _, v := range views {
		if v.Workflow == nil {
			continue
		}
		agents[v] = v.Workflow.Agents(s.Source.Policy.Workflows.Roots)
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
			m := subject.MissingAgent{AgentRef: a}
			if i := slices.IndexFunc(a.Paths, isLink); i >= 0 {
				m.Link = a.Paths[i]
			}
			v.Missing = append(v.Missing, m)
		}
	}
	return nil
}

// maxTargetSize is how long a symbolic link's target may be.
const maxTargetSize = 4096

// follow replaces each symbolic link in there with its target, and returns where the links lead.
func (s *workflowScan) follow(ctx context.Context, there map[string]history.File) (links map[string]string, err error) {
	links = map[string]string{}
	for p, f := range there {
		if f.Mode != history.ModeLink {
			continue
		}
		blob, err := s.Source.Tree.Blob(ctx, f.Object, maxTargetSize)
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
func (s *workflowScan) present(ctx context.Context, paths []string) (map[string]history.File, error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
	there := map[string]history.File{}
	if len(paths) == 0 {
		return there, nil
	}
	files, err := s.Source.Tree.List(ctx, s.revision, history.At(paths...))
	for _, f := range files {
		there[f.Path] = f
	}
	return there, err
}

// findWorkflows looks up the workflows that records name, for several records at once: any file that is named from
// the root, or else a workflow file.
func (s *workflowScan) findWorkflows(ctx context.Context, views []*subject.WorkflowFile) error {
	var wanted []string
	names := map[*subject.WorkflowFile][]string{}
	for _, v := range views {
		if v.Record != nil {
			names[v] = v.Record.Workflows()
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
		all, err := s.Source.Tree.List(ctx, s.revision, history.Matching(s.Source.Policy.Workflows.Include...))
		if err != nil {
			return err
		}
		for _, f := range all {
			if s.Source.Policy.JudgesWorkflow(f.Path) {
				files[f.Path], anywhere = f, append(anywhere, f.Path)
			}
		}
	}
	for _, v := range views {
		found := map[string]string{}
		for _, name := range names[v] {
			at := v.Record.Nearest(name, anywhere)
			for _, exact := range lane.WorkflowFiles(name) {
				if _, is := files[exact]; is {
					at = exact
				}
			}
			if _, read := s.read[at]; !read && at != "" {
				if _, err := s.readFile(ctx, files[at]); err != nil {
					return err
				}
			}
			found[name] = at
		}
		v.Find = func(name string) (string, *lane.Workflow) {
			if at := found[name]; at != "" || !s.Options.Part {
				return at, s.read[at]
			}
			return strings.TrimSuffix(path.Clean(name), "/workflow.md"), nil // it cannot be seen
		}
	}
	return nil
}

// FilesBelow are the files below a directory, "" for the root.
func FilesBelow(files []history.File, dir string) []history.File {
	return slices.DeleteFunc(files, func(f history.File) bool { return dir != "" && !strings.HasPrefix(f.Path, dir+"/") })
}
