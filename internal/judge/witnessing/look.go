package witnessing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rules/witnesses"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/witness"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// LookOptions are what a person or a job asks for.
type LookOptions struct {
	// State is the directory of the state.
	State string
	// Name is the repository's name; empty means origin's address, or else the directory's name.
	Name string
	// Refs are to be watched besides those already watched; if there are none, the default branch is.
	Refs []string
	// Accept are fingerprints of findings that a person has accepted.
	Accept []string
	// Sign and Verify are files with keys; empty for none.
	Sign, Verify string
}

// mode is the command's name.
const mode = "witness"

// Look judges the refs' present content by the state, and if nothing is wrong writes the new state. first is true if there was no state to
// judge by.
func Look(ctx context.Context, req session.Request, o LookOptions) (report *finding.Report, first bool) {
	kept, err := openState(ctx, o)
	if err != nil {
		return run.FailureReport(run.Options{Mode: mode}, err), false
	}
	var next *witness.State
	report = req.Judge(ctx, mode, func(s *session.Session) (*finding.Report, error) {
		var r *finding.Report
		var err error
		next, r, err = look(ctx, s, o, kept.state)
		return r, err
	})
	switch report.Verdict {
	case finding.Pass:
		var note string
		if note, err = kept.write(next); err == nil {
			report.Examined.Notes = append(report.Examined.Notes, note)
		}
	case finding.Fail:
		report.Examined.Notes = append(report.Examined.Notes, "the state has not been changed")
	case finding.Error: // the report says why
	}
	if err = cmp.Or(err, kept.close()); err != nil {
		report.Verdict, report.Failure = finding.Error, failure.Of(err)
	}
	return report, kept.state == nil
}

// look judges by the state seen, nil at the first look, and returns the next state.
func look(ctx context.Context, s *session.Session, o LookOptions, seen *witness.State) (*witness.State, *finding.Report, error) {
	name, err := nameOf(ctx, s, o.Name)
	if err != nil {
		return nil, nil, err
	}
	first := seen == nil
	if first {
		seen = &witness.State{Repository: name}
	}
	if seen.Repository != name {
		return nil, nil, &failure.Error{
			Message: fmt.Sprintf("the state in %s is of the repository %s, and this is %s", o.State, wording.Quote(seen.Repository), wording.Quote(name)),
			Remedy:  "name the directory of this repository's own state with --state; or, if it is the same repository under another address, give the old name with --name",
		}
	}
	standard, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return nil, nil, err
	}
	refs, err := watched(ctx, s, o, seen, standard)
	if err != nil {
		return nil, nil, err
	}
	source := configSource(standard, refs)
	if err := trust(ctx, s, seen, first, source); err != nil {
		return nil, nil, err
	}
	var looked []witness.Ref
	report := gate.Do(ctx, s.Repo, s.Opts, witnesses.Judge(refs, o.Accept, &looked))
	report.Examined.Head = source.Tip
	if report.Verdict != finding.Pass {
		return nil, report, nil
	}
	if len(looked) == 0 {
		return nil, nil, &failure.Error{
			Message: "nothing would be left to witness: every branch that was seen is gone, and accepted",
			Remedy:  "name a branch that is to be watched from now on with --ref; `git for-each-ref --format='%(refname)'` lists them",
		}
	}
	next := &witness.State{Repository: name, Refs: looked}
	next.Config, err = config(ctx, s, source)
	return next, report, err
}

// configSource is the ref whose configuration is recorded: the default branch, or else the first existing ref.
func configSource(standard githistory.Branch, refs []witnesses.Witnessed) witnesses.Witnessed {
	at := slices.IndexFunc(refs, func(w witnesses.Witnessed) bool { return w.Seen.Name == standard.Ref && w.Tip != "" })
	if at < 0 && standard.ID != "" {
		return witnesses.Witnessed{Seen: witness.Ref{Name: standard.Ref}, Tip: standard.ID}
	}
	if at < 0 {
		at = slices.IndexFunc(refs, func(w witnesses.Witnessed) bool { return w.Tip != "" })
	}
	if at < 0 {
		return witnesses.Witnessed{}
	}
	return refs[at]
}

// config reads the lines of the configuration to record, without credentials. It must be valid: the next look is judged by it.
func config(ctx context.Context, s *session.Session, source witnesses.Witnessed) ([]string, error) {
	if source.Tip == "" {
		return nil, nil
	}
	data, found, err := githistory.ReadFile(ctx, s.Repo, source.Tip, policy.File, policy.MaxSize)
	if err != nil || !found {
		return nil, err
	}
	text := secret.Mask(string(data))
	_, err = policy.Parse(policy.File+" in "+source.Seen.Name, []byte(text), catalogue.Known())
	return strings.Split(text, "\n"), err
}

// trust takes the configuration recorded in the state, or at the first look the repository's. Of it, only the exceptions and the list of
// logs count: neither levels of rules nor a mode can silence a witness.
func trust(ctx context.Context, s *session.Session, seen *witness.State, first bool, source witnesses.Witnessed) error {
	lines, at, label := seen.Config, "", "the witness's state"
	if first {
		var err error
		if lines, err = config(ctx, s, source); err != nil {
			return err
		}
		label = source.Seen.Name
	}
	switch last := witness.Latest(source.Seen.Logs).Commit; {
	case s.Req.Config != "":
		at = source.Tip // naming the configuration vouches for its content
	case last != "":
		here, err := isHere(ctx, s, last)
		if err != nil {
			return err
		}
		if here {
			at = last
		}
	}
	var data []byte
	if lines != nil {
		data = []byte(strings.Join(lines, "\n"))
	}
	if err := s.TrustContent(data, label, at); err != nil {
		return err
	}
	if s.Req.Config == "" {
		own := *s.Opts.Policy
		own.Mode = policy.Enforce
		s.Opts.Policy = &own
	}
	return nil
}
