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

// Options are what a person or a job asks for in one run.
type Options struct {
	// State is the directory with the witness's state.
	State string
	// Name is the repository's name; empty means origin's address, or else the directory's name.
	Name string
	// Refs are the refs to watch besides those already watched; by default the default branch.
	Refs []string
	// Accept has the fingerprints of findings that a person has accepted.
	Accept []string
	// Sign is the path of the file with the secret key, and Verify that of the file with public keys; empty for none.
	Sign, Verify string
}

// command is the command's name.
const command = "witness"

// JudgeRefs judges what the refs hold now by the witness's state. If nothing is wrong, it writes the new state. first is true if there was no
// state yet.
func JudgeRefs(ctx context.Context, req session.Request, o Options) (report *finding.Report, first bool) {
	old, err := openState(ctx, o)
	if err != nil {
		return run.FailureReport(run.Options{Mode: command}, err), false
	}
	var next *witness.State
	report = req.Judge(ctx, command, func(s *session.Session) (*finding.Report, error) {
		var r *finding.Report
		var err error
		next, r, err = judgeByState(ctx, s, o, old.state)
		return r, err
	})
	switch report.Verdict {
	case finding.Pass:
		var note string
		if note, err = old.write(next); err == nil {
			report.Examined.Notes = append(report.Examined.Notes, note)
		}
	case finding.Fail:
		report.Examined.Notes = append(report.Examined.Notes, "the state has not been changed")
	case finding.Error: // the report says why
	}
	if err = cmp.Or(err, old.unlock()); err != nil {
		report.Verdict, report.Failure = finding.Error, failure.Of(err)
	}
	return report, old.state == nil
}

// judgeByState judges the refs by what was seen of them, nil in the first run, and returns the next state.
func judgeByState(ctx context.Context, s *session.Session, o Options, seen *witness.State) (*witness.State, *finding.Report, error) {
	name, err := repositoryName(ctx, s, o.Name)
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
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return nil, nil, err
	}
	refs, err := listWatched(ctx, s, o, seen, branch)
	if err != nil {
		return nil, nil, err
	}
	source := chooseConfigSource(branch, refs)
	if err := takePolicy(ctx, s, seen, first, source); err != nil {
		return nil, nil, err
	}
	var seenNow []witness.Ref
	report := gate.Do(ctx, s.Repo, s.Opts, witnesses.Judge(refs, o.Accept, &seenNow))
	report.Examined.Head = source.Tip
	if report.Verdict != finding.Pass {
		return nil, report, nil
	}
	if len(seenNow) == 0 {
		return nil, nil, &failure.Error{
			Message: "nothing would be left to witness: every branch that was watched is gone, and that was accepted",
			Remedy:  "name a branch to watch from now on with --ref; `git for-each-ref --format='%(refname)'` lists them",
		}
	}
	next := &witness.State{Repository: name, Refs: seenNow}
	next.Config, err = readConfigLines(ctx, s, source)
	return next, report, err
}

// chooseConfigSource chooses the ref whose configuration is recorded: the default branch, or else the first watched ref that exists.
func chooseConfigSource(branch githistory.Branch, refs []witnesses.Witnessed) witnesses.Witnessed {
	at := slices.IndexFunc(refs, func(w witnesses.Witnessed) bool { return w.Seen.Name == branch.Ref && w.Tip != "" })
	if at < 0 && branch.ID != "" {
		return witnesses.Witnessed{Seen: witness.Ref{Name: branch.Ref}, Tip: branch.ID}
	}
	if at < 0 {
		at = slices.IndexFunc(refs, func(w witnesses.Witnessed) bool { return w.Tip != "" })
	}
	if at < 0 {
		return witnesses.Witnessed{}
	}
	return refs[at]
}

// readConfigLines reads the lines of the configuration to record, without credentials. An invalid configuration is an error, because the next
// run judges by it.
func readConfigLines(ctx context.Context, s *session.Session, source witnesses.Witnessed) ([]string, error) {
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

// takePolicy takes the policy from the configuration in the state, or in the first run from the repository's. Only its exceptions and its list
// of logs count: neither the levels of rules nor the mode can silence a witness.
func takePolicy(ctx context.Context, s *session.Session, seen *witness.State, first bool, source witnesses.Witnessed) error {
	lines, trusted, label := seen.Config, "", "the witness's state"
	if first {
		var err error
		if lines, err = readConfigLines(ctx, s, source); err != nil {
			return err
		}
		label = source.Seen.Name
	}
	switch last := witness.Latest(source.Seen.Logs).Commit; {
	case s.Req.Config != "":
		trusted = source.Tip // the caller vouches for the configuration that it names
	case last != "":
		here, err := hasCommit(ctx, s, last)
		if err != nil {
			return err
		}
		if here {
			trusted = last
		}
	}
	var data []byte
	if lines != nil {
		data = []byte(strings.Join(lines, "\n"))
	}
	if err := s.TrustContent(data, label, trusted); err != nil {
		return err
	}
	enforced := *s.Opts.Policy
	enforced.Mode = policy.Enforce
	s.Opts.Policy = &enforced
	return nil
}
