package edit

import (
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/rules/lanes"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// Switched is the result of SwitchLane.
type Switched struct {
	Appended
	// Evidence is the new entry's evidence.
	Evidence string
	Lane     lane.Lane
	// RequiredBefore and RequiredAfter are the entries that the lane requires before and after the work.
	RequiredBefore, RequiredAfter []string
}

// SwitchLane appends the entry that claims another lane to the log of the workspace in the request's directory or the nearest above it, up to the
// root of the work tree. It stages nothing.
func SwitchLane(ctx context.Context, req session.Request, locking Locking, to, reason string) (Switched, error) {
	target, ok := lane.Parse(to)
	out := Switched{Lane: target}
	if !ok {
		return out, &failure.Error{Message: fmt.Sprintf("there is no lane %q", to), Remedy: "use --switch " + session.LaneList}
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		return out, &failure.Error{Message: "--switch needs --reason", Remedy: fmt.Sprintf("small-hook lane --switch %s --reason \"why\"", target)}
	}
	req = req.WithEnvironmentLane()
	req.Dir = session.WorkspaceRoot(req.Dir)
	if err := refuseProfile2(req.Dir, "lane --switch"); err != nil {
		return out, err
	}
	if _, err := req.InRepository(ctx, "lane", func(s *session.Session) error { return planSwitch(ctx, s, &out, reason) }); err != nil {
		return out, err
	}
	entry := combine.NewEntry{{"task_id", lane.LaneSwitchTask}, {"status", "completed"}, {"evidence", out.Evidence}}
	var err error
	out.Appended, err = Append(ctx, req, locking, entry)
	return out, err
}

// planSwitch sets what the new lane requires, and the evidence of the entry.
func planSwitch(ctx context.Context, s *session.Session, out *Switched, reason string) error {
	head, parents, err := s.TrustHead(ctx, nil)
	if err != nil {
		return err
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return err
	}
	now, err := lanes.Claimed(ctx, s.Repo, branch.ID, head, parents, s.Opts)
	if err != nil {
		return err
	}
	rigour := lane.SettingsIn(s.Opts.Policy).Rigour(string(out.Lane))
	out.RequiredBefore, out.RequiredAfter = rigour.Before, rigour.After
	out.Evidence = lane.LaneSwitchText(now.Lane, out.Lane, reason)
	return nil
}
