// Package workflows judges workflow files, and the records of jobs and campaigns.
package workflows

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// placesOf returns where workflow files and records are.
func placesOf(r *run.Run) *lane.Places { return lane.PlacesIn(r.Source.Policy) }

// atTip judges the changed workflow files and records at the tip.
func atTip(ctx context.Context, r *run.Run) error {
	s, paths := newScan(r), run.SortedKeys(r.Learned.Families)
	there, err := s.filesAt(ctx, paths)
	if err != nil {
		return err
	}
	var files []history.File
	for _, p := range paths {
		if f, is := there[p]; is {
			files = append(files, f)
		}
	}
	return s.judge(ctx, files)
}

// atDirectory judges the workflow files and records of the checked directory or, if the check is recursive, all below it. If it is not
// recursive, **/ at the start of a pattern stands for the directory itself.
func atDirectory(ctx context.Context, r *run.Run) error {
	patterns := placesOf(r).Watched()
	if len(patterns) == 0 {
		return nil
	}
	for i, p := range patterns {
		if rest, anywhere := strings.CutPrefix(p, "**/"); anywhere && !r.Scope.Recursive {
			patterns[i] = path.Join(policy.LiteralPattern(r.Scope.Dir), rest)
		}
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Matching(patterns...))
	if err != nil {
		return err
	}
	if dir := r.Scope.Dir; dir != "" {
		files = slices.DeleteFunc(files, func(f history.File) bool { return !strings.HasPrefix(f.Path, dir+"/") })
	}
	return newScan(r).judge(ctx, files)
}

// scan judges workflow files and records of one tree.
type scan struct {
	run *run.Run
	// read are the workflows that were read, by path; nil for one that cannot be read.
	read map[string]*lane.Workflow
	// there are the files at the paths of the agents that workflows name; links maps those of them that are symbolic links to their targets.
	there map[string]history.File
	links map[string]string
}

func newScan(r *run.Run) *scan {
	return &scan{run: r, read: map[string]*lane.Workflow{}}
}

// judge judges the workflows and records among some files.
func (s *scan) judge(ctx context.Context, files []history.File) error {
	var views []*workflowFile
	for _, f := range files {
		if !placesOf(s.run).Watches(f.Path) {
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
		s.run.Examined().Workflows++
		v.Commit = s.run.Scope.Tip.ID
		if err := s.run.Collector.Judge(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) readFile(ctx context.Context, f history.File) (*workflowFile, error) {
	v := &workflowFile{scan: s, Path: f.Path, Object: f.Object, IsRecord: placesOf(s.run).HasRecord(f.Path)}
	v.IsCampaign = v.IsRecord && !placesOf(s.run).HasJob(f.Path)
	data, problem, err := read.ReadFile(ctx, s.run.Source.Tree, f, s.run.Source.Limits)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		v.Problems = []small.Problem{*problem}
	case v.IsRecord:
		v.Record, v.Problems = lane.ParseRecord(f.Path, data, s.run.Source.Limits)
	default:
		v.Workflow, v.Problems, v.Unknown = lane.ParseWorkflow(f.Path, data, s.run.Source.Limits)
	}
	s.read[f.Path] = v.Workflow
	return v, nil
}

// findAgents looks up the agent files that workflows name, for all workflows at once. A symbolic link is
// followed once, to a file of the tree.
func (s *scan) findAgents(ctx context.Context, views []*workflowFile) (err error) {
	var wanted []string
	for _, v := range views {
		if v.Workflow == nil {
			continue
		}
		v.agents = v.Workflow.Agents(placesOf(s.run).Roots)
		for _, a := range v.agents {
			wanted = append(wanted, a.Paths...)
		}
	}
	if s.there, err = s.filesAt(ctx, wanted); err == nil {
		s.links, err = s.followLinks(ctx, s.there)
	}
	return err
}

// maxTargetSize is how long a symbolic link's target may be.
const maxTargetSize = 4096

// followLinks replaces each symbolic link in there with its target, and returns where the links lead.
func (s *scan) followLinks(ctx context.Context, there map[string]history.File) (links map[string]string, err error) {
	links = map[string]string{}
	for p, f := range there {
		if f.Mode != history.ModeLink {
			continue
		}
		blob, err := s.run.Source.Tree.Blob(ctx, f.Object, maxTargetSize)
		if err != nil {
			return nil, err
		}
		links[p] = ""
		if target := string(blob.Data); !path.IsAbs(target) && !strings.Contains(target, "\x00") {
			links[p] = path.Join(path.Dir(p), target)
		}
	}
	behind, err := s.filesAt(ctx, slices.Collect(maps.Values(links)))
	for p, to := range links {
		there[p] = behind[to]
	}
	return links, err
}

// filesAt looks up which of some paths are files of the tree.
func (s *scan) filesAt(ctx context.Context, paths []string) (map[string]history.File, error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
	if len(paths) == 0 {
		return map[string]history.File{}, nil
	}
	return history.ListByPath(ctx, s.run.Source.Tree, s.run.Scope.Tip.ID, history.At(paths...))
}

// findWorkflows looks up the workflows that records name, for all records at once: a file at the path from the root,
// or else the nearest workflow file of the name.
func (s *scan) findWorkflows(ctx context.Context, views []*workflowFile) error {
	var wanted []string
	names := map[*workflowFile][]string{}
	for _, v := range views {
		if v.Record != nil {
			names[v] = v.Record.Workflows()
		}
		for _, name := range names[v] {
			wanted = append(wanted, lane.WorkflowFiles(name)...)
		}
	}
	files, err := s.filesAt(ctx, wanted)
	if err != nil {
		return err
	}
	var anywhere []string
	if len(wanted) > 0 {
		all, err := s.run.Source.Tree.List(ctx, s.run.Scope.Tip.ID, history.Matching(placesOf(s.run).Include...))
		if err != nil {
			return err
		}
		for _, f := range all {
			if placesOf(s.run).HasWorkflow(f.Path) {
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
			if at := found[name]; at != "" || !s.run.Options.PartOfTree {
				return at, s.read[at]
			}
			return strings.TrimSuffix(path.Clean(name), "/workflow.md"), nil // it may be outside the checked part, where it cannot be seen
		}
	}
	return nil
}

// workflowFile is one workflow file, or one record of a job or a campaign, as of one tree.
type workflowFile struct {
	rule.Place
	scan *scan
	Path string
	// Object is the id of the file's blob.
	Object string
	// Problems say why the file cannot be read.
	Problems []small.Problem
	// Workflow is nil if the file cannot be read as one. Unknown are its unknown keys, agents the agents that it names.
	Workflow *lane.Workflow
	Unknown  []small.Problem
	agents   []lane.AgentRef
	// IsRecord is true for records, IsCampaign for campaigns' records; Record is nil if it cannot be read.
	IsRecord, IsCampaign bool
	Record               *lane.Record
	// Find returns the path of a workflow that the record names, and the workflow.
	Find lane.FindWorkflow
}
