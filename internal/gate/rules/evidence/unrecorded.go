package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/owner"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about what entries name, and about work without an entry.
var Family = run.Family{
	Name: "evidence",
	Rules: []rule.Rule{
		rule.New("evidence/unknown-commit", finding.SeverityWarning, finding.StageHistory, rule.Reading(checkUnknownCommit)),
		rule.New("evidence/unrecorded-change", finding.SeverityWarning, finding.StageHistory, rule.On(checkUnrecorded)),
	},
	Passes: func() run.Passes { return run.Passes{run.AfterLogs: judge} },
}

// unrecorded is a change in which agents changed files without any new entry.
type unrecorded struct {
	rule.Place
	log string
	// by made the first of these commits.
	by    owner.Owner
	files []string
	// commits is the number of these commits.
	commits int
}

// judge judges a change as a whole, after its commits.
func judge(ctx context.Context, r *run.Run) error {
	if r.Scope.Whole || r.Learned.BroughtEntries() || len(r.Learned.Commits) == 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Workspaces())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(files, func(f history.File) bool { return read.IsProgress(f.Path) && r.Source.Judges(f.Path) })
	if at < 0 {
		return nil
	}
	u := unrecorded{log: files[at].Path}
	for _, c := range r.Learned.Commits {
		if len(c.Parents) > 1 {
			continue // a merge: the commits that it brings are judged themselves
		}
		if err := u.add(ctx, r, c); err != nil {
			return err
		}
	}
	if u.commits == 0 {
		return nil
	}
	return r.Collector.Judge(ctx, u)
}

// add adds the files outside of workspaces that a commit changes, if an agent made it.
func (u *unrecorded) add(ctx context.Context, r *run.Run, c history.Commit) error {
	s, err := r.Source.Signature(ctx, c.ID)
	if err != nil || r.Source.Policy.IsRobot(s.Name) || r.Source.Policy.IsRobot(s.Email) {
		return err
	}
	by := owner.Of(owner.Signs{Author: s.Name, Email: s.Email, Message: s.Message, Branch: r.Options.Branch}, r.Source.Policy)
	if by.How == "" {
		return nil
	}
	changes, err := r.Source.History.Diff(ctx, history.EdgesOf(c.ID, c.Parents), history.Filter{All: true})
	if err != nil {
		return err
	}
	changed := history.PathsOf(changes, func(path string) bool { _, in := small.WorkspaceOf(path); return !in })
	if len(changed) == 0 {
		return nil
	}
	if u.commits++; u.commits == 1 {
		u.by = by
	}
	u.Commit, u.Parent = c.ID, history.EdgesOf(c.ID, c.Parents)[0].Parent
	u.files = append(u.files, changed...)
	slices.Sort(u.files)
	u.files = slices.Compact(u.files)
	return nil
}

func checkUnrecorded(u unrecorded, r *rule.Reporter) {
	const most = 5
	var named []string
	for _, path := range u.files {
		named = append(named, wording.Printable(path))
	}
	files := strings.Join(wording.FirstFew(most, named), ", ")
	r.Add(finding.Finding{
		Path: u.log, Subject: "unrecorded " + strings.Join(u.files, "\x00"),
		Message: fmt.Sprintf("%s by an agent (%s) changed %s, and no log has a new entry", wording.Count(u.commits, "commit"), u.by.How, files),
		Fix:     appendCommands(u.log, u.Commit, "meta/recorded-late", fmt.Sprintf("changed in %s: %s", history.Short(u.Commit), files)),
	})
}
