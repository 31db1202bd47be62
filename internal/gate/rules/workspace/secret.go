package workspace

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// Secret is lint/secret: a key or a value looks like a secret.
var Secret = rule.Rule{
	ID: "lint/secret", Severity: finding.SeverityError, Stage: finding.StageLint, StrictOnly: true,
	Checks: []rule.Check{rule.On(checkSecret)},
}

// secretKeys are parts of keys' names that suggest a secret.
var secretKeys = []string{"api_key", "apikey", "password", "secret", "token", "private_key"}

// encodedSecret is a whole value of 32 or more characters of the base64
// alphabet. Elements of lists are not looked at: there, hashes and paths are
// evidence.
var encodedSecret = expression.Of(`^[A-Za-z0-9+/]{32,}={0,2}$`)

// commitHash is a full commit id, which is evidence and no secret.
var commitHash = expression.Of(`^[0-9a-f]{40}$`)

func checkSecret(w *subject.Workspace, r *rule.Reporter) {
	w.EachCanonical(func(a small.Artifact, p subject.Node) {
		f := finding.Finding{Path: w.Path(a), Subject: p.Subject}
		if p.Field != nil && announcesSecret(p.Field.Key) {
			f.Line, f.Column = p.Field.KeyPos.Line, p.Field.KeyPos.Column
			f.Message = fmt.Sprintf("the key %q suggests a secret", p.Field.Key)
			f.Fix = w.Correct(a, p.Subject, "keep secrets out of .small/; rename the key if it holds none")
			f.Edits = credentialOf(w, a, p.Subject)
			r.Add(f)
			return
		}
		if text, ok := p.Value.Str(); ok && p.Field != nil && encodedSecret().MatchString(text) && !knownDigest(p, text) {
			f.Line, f.Column = p.Value.Pos.Line, p.Value.Pos.Column
			f.Message = fmt.Sprintf("%s looks like an encoded secret (%d characters of the base64 alphabet)", describeSubject(p.Subject), len(text))
			f.Fix = w.Correct(a, p.Subject, "if it is one, remove and revoke it; refer to long values by a file or a link")
			f.Edits = credentialOf(w, a, p.Subject)
			r.Add(f)
		}
	})
}

// credentialOf is the key under which secret/credential reports the same field of an entry.
func credentialOf(w *subject.Workspace, a small.Artifact, at string) []finding.EditKey {
	index, isEntry := subject.EntryIndex(at)
	if a != small.Progress || !isEntry || index >= w.Ledger().Len() {
		return nil
	}
	field := strings.TrimPrefix(at, fmt.Sprintf("entries.%d.", index))
	return []finding.EditKey{subject.CredentialKey(w.Path(a), field, w.Ledger().Entries[index])}
}

func announcesSecret(key string) bool {
	key = strings.ToLower(key)
	for _, part := range secretKeys {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

// knownDigest reports whether a value is where the protocol wants a digest or an id.
func knownDigest(p subject.Node, text string) bool {
	n := len(p.Keys)
	if n == 0 {
		return false
	}
	switch p.Keys[n-1] {
	case "replayId", "replay_id", "previous_replay_id", "command_sha256":
		return true
	case "value":
		return n > 1 && p.Keys[n-2] == "replayId"
	case "commit":
		return commitHash().MatchString(text)
	}
	return false
}
