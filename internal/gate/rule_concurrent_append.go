package gate

import "fmt"

var ruleConcurrentAppend = Rule{
	ID: "divergence/concurrent-append", Severity: SeverityError, Stage: StageHistory,
	Summary: "two branches both appended to one log",
	Tips:    checkConcurrentAppend,
}

func checkConcurrentAppend(t *tipsView, r *reporter) {
	if t.outcome != tipsDiverged {
		return
	}
	f := t.finding()
	f.Message = fmt.Sprintf("both branches recorded work since they parted: %s has %s (%s); %s has %s (%s)",
		t.targetName, count(len(t.targetOnly), "entry"), entryList(t.targetOnly),
		t.headName, count(len(t.headOnly), "entry"), entryList(t.headOnly))
	f.Fix = fmt.Sprintf("git merge %s, then %s; git add %s && git commit", short(t.targetName), reconcileHint, shellQuote(t.path))
	r.add(f)
}
