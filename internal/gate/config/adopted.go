package config

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
)

// Adopted is one stanza of a configuration that a change proposes.
type Adopted struct {
	rule.Place
	Stanza *policy.Log
	// PastFindings are what the stanza finds in the commits before the change, if the change adds or alters it.
	PastFindings []finding.Finding
	// Target is the last commit that landed before the change.
	Target string
	// SinceInChange is true if the stanza's since commit is a commit of the change itself.
	SinceInChange bool
	// ForbidsSince is true if a floor forbids since: for that floor, the earlier commits cannot be accepted.
	ForbidsSince bool
}

// maxNamed is how many findings in earlier commits the message names.
const maxNamed = 3

// reportAdopted reports an added or altered stanza that earlier commits break, and a since commit that only the change has.
func reportAdopted(a *Adopted, r *rule.Reporter) {
	f := finding.Finding{Path: policy.File, Line: a.Stanza.Pos.Line, Column: a.Stanza.Pos.Column, Subject: a.Stanza.Path}
	if len(a.PastFindings) > 0 {
		var named []string
		for _, past := range a.PastFindings {
			named = append(named, fmt.Sprintf("%s:%d: %s in %s (%s)", wording.Printable(past.Path), past.Line, past.Message, history.Short(past.Commit), past.Rule))
		}
		f.Severity = finding.SeverityError
		f.Message = fmt.Sprintf("this change adds or alters the stanza for %s, or its schema, which earlier commits do not keep: %s", wording.Printable(a.Stanza.Path), strings.Join(wording.FirstFew(maxNamed, named), "; "))
		f.Fix = fmt.Sprintf("accept what they did: on line %d of %s give the stanza `since: %s`, as `small-hook baseline` does", a.Stanza.Pos.Line, policy.File, a.Target)
		if a.ForbidsSince {
			f.Fix = "ask whoever keeps the floor what to accept: it forbids since"
		}
		r.Add(f)
	}
	if a.SinceInChange {
		f.Severity = finding.SeverityWarning
		f.Message = fmt.Sprintf("the stanza for %s begins after %s, a commit of this change: if that is squashed or rebased, nobody has the commit, and nothing can be judged", wording.Printable(a.Stanza.Path), history.Short(a.Stanza.Since))
		f.Fix = "merge it with a merge commit, or name a commit that the target has: `since: " + a.Target + "`"
		r.Add(f)
	}
}
