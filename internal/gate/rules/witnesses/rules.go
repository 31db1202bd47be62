package witnesses

import (
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about what a witness has seen. Its command has a pass of its own: see [Judge].
var Family = run.Family{
	Name: "witnesses",
	Rules: []rule.Rule{
		rule.New("witness/rewritten", finding.SeverityError, finding.StageHistory, rule.On(checkWitnessRewritten)).ForEdits(ledger.EntryChanged | ledger.EntryLost | ledger.EntryInserted),
		rule.New("witness/vanished", finding.SeverityError, finding.StageHistory, rule.On(checkWitnessVanished)).ForEdits(ledger.LogEnded),
	},
}

// seenChange is how a log changed since a witness saw it.
type seenChange struct {
	*logs.LogChange
	// Ref is the full name.
	Ref string
	// Seen is the log as the witness knows it.
	Seen witness.Log
	// Survives is true if the commit that was seen is still in the clone: if not, only the digests of the old entries are known.
	Survives bool
	// BuiltOn is true if that commit is an ancestor of what the ref holds now.
	BuiltOn bool
	// Names are the paths of the records that were seen, if the log is a workspace of 2.0.0 and the commit survives.
	Names map[small.Digest]string
}

// loss is a ref or a log that a witness has seen and that is gone.
type loss struct {
	rule.Place
	// Ref is the full name.
	Ref string
	// Path is the log's; empty if the whole ref is gone.
	Path string
	// Logs are the seen logs that are gone: all of the ref, or one.
	Logs []witness.Log
	// Problems say why the log cannot be read, if there is a file at its path.
	Problems []small.Problem
	// Survives is true if the commit that was seen last is still in the clone, BuiltOn if it is an ancestor of what the ref holds now.
	Survives, BuiltOn bool
}

func checkWitnessRewritten(e *seenChange, r *rule.Reporter) {
	report := func(f finding.Finding, what string) {
		f.Message = fmt.Sprintf("%s; a witness saw %s of %s on %s", what, history.Short(e.Seen.Commit), e.Ref, day(e.Seen.Time))
		f.Fix = restoreFix(e)
		reportWitnessed(r, f, e.Ref)
	}
	for kind := ledger.EditModified; kind <= ledger.EditReordered; kind++ {
		for _, x := range e.OfKind(kind) {
			report(e.Finding(x), describeWitnessed(e, x))
		}
	}
	for _, index := range e.Inserted {
		report(e.InsertionFinding(index), ledger.Describe(e.New.Entries[index])+" was put before older entries, and no reconcile entry says so")
	}
}

func describeWitnessed(e *seenChange, x ledger.Edit) string {
	entry := e.Old.Entries[x.OldIndex]
	words := fmt.Sprintf("entry %d (%.19s…)", x.OldIndex+1, entry.WholeDigest())
	switch {
	case isProfilePath(e.Seen.Path) && e.Survives:
		words = e.Names[entry.Digest]
	case isProfilePath(e.Seen.Path):
		words = fmt.Sprintf("a record (%.19s…)", entry.Digest)
	case e.Survives:
		words = ledger.Describe(entry)
	}
	switch x.Kind {
	case ledger.EditDeleted:
		if !e.Survives || e.Names != nil {
			return words + " was deleted or modified"
		}
		return words + " was deleted"
	case ledger.EditReordered:
		return fmt.Sprintf("%s was moved; it is entry %d now", words, x.NewIndex+1)
	}
	return e.DescribeModified(x)
}

func checkWitnessVanished(v *loss, r *rule.Reporter) {
	var all []small.Digest
	entries, last := 0, witness.Latest(v.Logs)
	for _, l := range v.Logs {
		entries += len(l.Entries)
		all = append(all, ledger.HeadOf(l.Entries))
	}
	f := finding.Finding{Path: v.Path, EditFrom: ledger.HeadOf(all).String(), Fix: locationFix(last.Commit, v.Survives, v.BuiltOn) + compareFirst + accept}
	seen := "a witness saw " + wording.Count(entries, "entry")
	if len(v.Logs) > 0 {
		seen += fmt.Sprintf(" in %s on %s", history.Short(last.Commit), day(last.Time))
	}
	switch {
	case v.Path == "":
		f.Fix = "if this clone does not have every branch, take one that does; else " + f.Fix
		f.Path = small.Progress.Path("")
		if len(v.Logs) > 0 {
			f.Path = v.Logs[0].Path
		}
		f.Message = fmt.Sprintf("%s is not in this clone; %s of %s", v.Ref, seen, wording.Count(len(v.Logs), "log"))
	case len(v.Problems) > 0:
		p := v.Problems[0]
		f.EditFrom, f.Line, f.Column = all[0].String(), p.Pos.Line, p.Pos.Column
		f.Message = fmt.Sprintf("the log cannot be read in %s: %s; %s", v.Ref, p.Message, seen)
	default:
		f.EditFrom = all[0].String()
		f.Message = fmt.Sprintf("the log is gone from %s; %s", v.Ref, seen)
	}
	reportWitnessed(r, f, v.Ref)
}

// reportWitnessed reports a finding about one ref. The same entry lost on two refs makes two findings.
func reportWitnessed(r *rule.Reporter, f finding.Finding, ref string) {
	f.Subject, f.Edits = ref, nil
	r.Add(f)
}

// day writes a time for a message.
func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// accept ends every fix: only a person can accept a loss.
const accept = ". If a person knows why it is gone and accepts that, run the witness with --accept and the fingerprint: " +
	wording.Docs + "witness.md"

// compareFirst warns of what accepting a loss means.
const compareFirst = ". Before you accept that it is gone, compare what has taken its place: once accepted, its entries are never reported again"

// restoreFix says how to bring entries back. There are commands for it if dropped commits are all that is missing.
func restoreFix(e *seenChange) string {
	lost := len(e.Inserted) == 0 && !slices.ContainsFunc(e.Edits, func(x ledger.Edit) bool {
		return !x.Waived && (x.Kind == ledger.EditModified || x.Kind == ledger.EditReordered)
	})
	if !e.Survives || e.BuiltOn || !lost {
		return locationFix(e.Seen.Commit, e.Survives, e.BuiltOn) + accept
	}
	seen := history.Short(e.Seen.Commit)
	if e.Names != nil {
		dir, _, _ := small.SplitPath(e.Path)
		return "the records are in the commit " + seen + ", which is no longer part of the branch. In a clone that has this commit, check out the branch and type: " +
			wording.Commands("small-hook restore"+remedy.InDirectory(small.InDir(dir, ""))+" --source "+seen, "git commit -m 'Restore the records of "+seen+"'", "git push") + accept
	}
	return "the entries are in the commit " + seen + ", which is no longer part of the branch. In a clone that has this commit, check out the branch and type: " +
		wording.Commands("small-hook reconcile "+seen, "git commit -m 'Keep the log of "+seen+"'", "git push") + accept
}

// locationFix says where the seen entries still are, and what a person does with them if no commands can bring them back.
func locationFix(commit string, survives, builtOn bool) string {
	at := "what was seen is in the commit " + history.Short(commit)
	switch {
	case commit == "":
		return "nothing was recorded there"
	case builtOn:
		return at + ", and the branch continues from it: keep what has landed, and restore what is missing in a new commit (small-hook restore --source, with that commit); if a hook rejects that as an edit, a person has to waive it"
	case survives:
		return at + ", which this clone still has: reset the branch to it, and append what was recorded since"
	}
	return at + ", which this clone does not have: find a clone that has it, and reset the branch to it there"
}
