package run

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
)

// Family is what plugs into the core: one folder below internal/gate/rules, which only the list there and the family's own command
// import.
type Family struct {
	// Name is the folder's name. The texts of the rules are in its subfolder texts.
	Name string
	// Rules are the family's own, in documented order. Those of one prefix are documented together.
	Rules []rule.Rule
	// Checks are further checks of other rules, by id.
	Checks map[string]rule.Check
	// Sections are the family's part of the configuration.
	Sections []policy.Section
	// Workspace judges, as of a revision, a workspace to which the core's rules do not apply; nil if the family has no such workspaces.
	Workspace func(ctx context.Context, r *Run, revision, dir string, files []history.File) error
	// Passes begins a judgement; nil if the family has no passes.
	Passes func() Passes
}

// Passes are a family's passes in one judgement, by when they run.
type Passes map[Moment]Pass

// Moment says when in a judgement the passes of families run.
type Moment int

// The moments, in their order.
const (
	// BeforeLogs is before any log of a change is judged.
	BeforeLogs Moment = iota
	// AfterLogs is when all commits of a change, or of a whole history, were judged.
	AfterLogs
	// AtTip is for the files of the tip that the change touches; also of each commit, if all are judged.
	AtTip
	// AtDirectory is for all files in a directory that is checked.
	AtDirectory
	// AfterFiles is when a change's files were judged.
	AfterFiles
)

// Begin gives the run the passes of some families.
func (r *Run) Begin(families []Family) {
	for _, f := range families {
		if f.Workspace != nil {
			r.Profile2 = f.Workspace
		}
		if f.Passes != nil {
			r.families = append(r.families, f.Passes())
		}
	}
}

// Families is the pass that runs the families' passes of one moment.
func Families(now Moment) Pass {
	return func(ctx context.Context, r *Run) error {
		for _, f := range r.families {
			if p := f[now]; p != nil {
				if err := p(ctx, r); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
