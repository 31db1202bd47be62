package run

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
)

// Family is what one folder below internal/gate/rules adds to the core. Only the list in that folder and the family's own command import it.
type Family struct {
	// Name is the folder's name. The texts of the rules are in its subfolder texts.
	Name string
	// Rules are the family's rules, in the order of the documentation. Rules with the same prefix are documented together.
	Rules []rule.Rule
	// Checks are checks that the family adds to other rules, by the rule's id.
	Checks map[string]rule.Check
	// Sections are the family's sections of the configuration.
	Sections []policy.Section
	// Workspace judges a workspace of 2.0.0, to which the core's rules do not apply, as of a revision; nil if the family does not do that.
	Workspace func(ctx context.Context, r *Run, revision, dir string, files []history.File) error
	// Passes makes the family's passes for one judgement; nil if the family has none.
	Passes func() Passes
}

// Passes holds the passes of a family in one judgement, by the moment at which they run.
type Passes map[Moment]Pass

// Moment is a point in a judgement at which passes of families run.
type Moment int

// The moments, in their order.
const (
	// BeforeLogs passes run before any log of a change is judged.
	BeforeLogs Moment = iota
	// AfterLogs passes run after all commits of a change, or of a whole history, were judged.
	AfterLogs
	// AtTip passes judge the files of the tip that the change touches. If every commit's files are judged, they run for each commit.
	AtTip
	// AtDirectory passes judge all files in a directory that is checked.
	AtDirectory
	// AfterFiles passes run after the files of a change were judged.
	AfterFiles
)

// AddFamilies adds the passes of families to a run.
func (r *Run) AddFamilies(families []Family) {
	for _, f := range families {
		if f.Workspace != nil {
			r.Profile2 = f.Workspace
		}
		if f.Passes != nil {
			r.families = append(r.families, f.Passes())
		}
	}
}

// Families returns the pass that runs all passes of families for one moment.
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
