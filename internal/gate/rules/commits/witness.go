package commits

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/witness"
	"github.com/small-gate/small-gate/internal/wording"
)

// WitnessRewritten is witness/rewritten: an entry that a witness has seen was changed, deleted or moved, or others were put before it.
var WitnessRewritten = rule.Rule{
	ID: "witness/rewritten", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryChanged | ledger.EntryLost | ledger.EntryInserted,
	Checks: []rule.Check{rule.On(checkWitnessRewritten)},
}

// WitnessVanished is witness/vanished: a ref or a log that a witness has seen is gone.
var WitnessVanished = rule.Rule{
	ID: "witness/vanished", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.LogEnded,
	Checks: []rule.Check{rule.On(checkWitnessVanished)},
}

func checkWitnessRewritten(e *subject.WitnessedChange, r *rule.Reporter) {
	report := func(f finding.Finding, what string) {
		f.Message = fmt.Sprintf("%s; a witness saw %s of %s on %s", what, history.Short(e.Seen.Commit), e.Ref, day(e.Seen.Time))
		f.Fix = bringBack(e)
		reportWitnessed(r, f, e.Ref)
	}
	for kind := ledger.EditModified; kind <= ledger.EditReordered; kind++ {
		for _, x := range e.OfKind(kind) {
			report(e.Finding(x), describeWitnessed(e, x))
		}
	}
	inserted := append([]int{}, e.Inserted...)
	for _, x := range e.OfKind(ledger.EditInserted) {
		inserted = append(inserted, x.NewIndex)
	}
	for _, index := range inserted {
		report(e.Insertion(index), ledger.Describe(e.New.Entries[index])+" was put before older entries, and no reconcile entry says so")
	}
}

func describeWitnessed(e *subject.WitnessedChange, x ledger.Edit) string {
	entry := e.Old.Entries[x.OldIndex]
	words := fmt.Sprintf("entry %d (%.19s…)", x.OldIndex+1, entry.Digest)
	if e.Survives {
		words = ledger.Describe(entry)
	}
	switch x.Kind {
	case ledger.EditDeleted:
		if !e.Survives {
			return words + " was deleted or modified"
		}
		return words + " was deleted"
	case ledger.EditReordered:
		return fmt.Sprintf("%s was moved; it is entry %d now", words, x.NewIndex+1)
	}
	return describeModified(e.LogChange, x)
}

func checkWitnessVanished(v *subject.WitnessedLoss, r *rule.Reporter) {
	var all []small.Digest
	entries, last := 0, witness.Latest(v.Logs)
	for _, l := range v.Logs {
		entries += len(l.Entries)
		all = append(all, ledger.HeadOf(l.Entries))
	}
	f := finding.Finding{Path: v.Path, EditFrom: ledger.HeadOf(all).String(), Fix: takeBack(last.Commit, v.Survives, v.BuiltOn) + compareFirst + accept}
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

// reportWitnessed reports a finding of one ref. What another ref has lost is another loss, even of the same entry.
func reportWitnessed(r *rule.Reporter, f finding.Finding, ref string) {
	f.Subject, f.Edits = ref, nil
	r.Add(f)
}

// day is a time as messages write it.
func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// accept ends every fix. Whether it is right that something is gone, only a person can say.
const accept = ". If a person knows why it is gone and accepts that, the witness goes on past it with --accept and the fingerprint: " +
	wording.Docs + "witness.md"

// compareFirst says what it means to accept that something has vanished.
const compareFirst = ". Before you accept that it is gone, compare what has taken its place: nobody is asked for its entries after that"

// bringBack says how entries come back. Where nothing but dropped commits are missing, commands do it.
func bringBack(e *subject.WitnessedChange) string {
	lost := len(e.OfKind(ledger.EditModified))+len(e.OfKind(ledger.EditReordered))+len(e.OfKind(ledger.EditInserted))+len(e.Inserted) == 0
	if !e.Survives || e.BuiltOn || !lost {
		return takeBack(e.Seen.Commit, e.Survives, e.BuiltOn) + accept
	}
	seen := history.Short(e.Seen.Commit)
	return "the entries are in the commit " + seen + ", which is no part of the branch any more; on the branch, in a work tree of a clone that has the commit: " +
		wording.Commands("small-hook reconcile "+seen, "git commit -m 'Keep the log of "+seen+"'", "git push") + accept
}

// takeBack says where what a witness has seen still is, and what a person does with it: there is nothing for a program to type.
func takeBack(commit string, survives, builtOn bool) string {
	at := "what was seen is in the commit " + history.Short(commit)
	switch {
	case commit == "":
		return "nothing was recorded there"
	case builtOn:
		return at + ", and the branch goes on from there: leave what has landed, and bring what is missing back with a new commit (small-hook restore, with that commit as its --source), which a person has to excuse where a hook takes it for an edit"
	case survives:
		return at + ", which this clone still has: put the branch back there, and what was recorded since on top of it"
	}
	return at + ", which this clone does not have: look for a clone that has it, and put the branch back there"
}
