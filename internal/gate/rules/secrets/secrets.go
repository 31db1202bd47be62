// Package secrets holds the rules about credentials in workspaces and logs.
package secrets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about credentials. Package ledger finds them, and base/secret masks them.
var Family = run.Family{
	Name: "secrets",
	Rules: []rule.Rule{
		rule.New("lint/secret", finding.SeverityError, finding.StageLint, rule.On(checkSecret)).InStrictMode(),
		rule.New(credentialRule, finding.SeverityError, finding.StageHistory, rule.On(checkCredential)).ForEdits(ledger.EntryInserted),
	},
}

const credentialRule = "secret/credential"

// checkCredential reports credentials in new entries.
func checkCredential(e *logs.LogChange, r *rule.Reporter) {
	for _, index := range e.NewEntries {
		entry := e.New.Entries[index]
		if !ledger.HasCredential(entry) {
			continue
		}
		f := e.Finding(ledger.Edit{OldIndex: -1, NewIndex: index, Pos: entry.Credentials[0].Pos})
		f.Rule, f.Edits = credentialRule, nil // the fix names the fingerprint, which depends on the rule
		var held []string
		for _, c := range entry.Credentials {
			f.Edits = append(f.Edits, credentialEditKey(e.Path, c.Field, entry))
			if words := describeCredential(c); !slices.Contains(held, words) {
				held = append(held, words)
			}
		}
		f.Message = fmt.Sprintf("%s holds %s", ledger.Describe(entry), strings.Join(held, "; "))
		f.Fix = credentialFix(e, f)
		r.Add(f)
	}
}

// credentialEditKey returns the EditKey of a credential in a field of an entry. Of two findings with the same EditKey only one is reported.
func credentialEditKey(path, field string, e ledger.Entry) finding.EditKey {
	return finding.EditKey{Path: path + "\x00credential", From: field, To: e.Digest.String()}
}

// describeCredential names the vendor, the literal that the value begins with, and the field, and nothing else.
func describeCredential(c ledger.Credential) string {
	words := "a credential (" + c.Kind
	if c.Prefix != "" {
		words += ", " + c.Prefix + "…"
	}
	return words + ") in " + c.Field
}

// credentialFix returns the fix for a credential in a new entry. It depends on who already has the entry.
func credentialFix(e *logs.LogChange, f finding.Finding) string {
	switch s := e.Situation(); {
	case e.Fix != "":
		return e.Fix
	case s.Standing != history.Own:
		return "revoke it where it was issued, before anything else: " + waiverFix(s, f.Fingerprint()[:12])
	}
	return "this masks it, and keeps the rest of the entry: " + e.PutBackFix() // small-hook restore masks credentials in the new entries that it keeps
}

// waiverFix says how a person waives an entry whose credential is revoked, on the branch whose configuration counts.
func waiverFix(s remedy.Situation, fingerprint string) string {
	remote, why := s.Remote, "it was pushed, and what was pushed stays"
	switch {
	case remote.None:
		why = "the log keeps what it has"
	case s.Standing == history.Tagged:
		why = "a tag has it, and what was pushed stays"
	}
	commit := []string{"git add -- :/.small-gate.yml", `git commit -m "Waive a revoked credential" -- :/.small-gate.yml`}
	if !remote.None {
		commit = append(commit, "git push")
	}
	if s.Standing != history.Landed && remote.DefaultBranch != "" {
		commit = slices.Concat([]string{"git switch " + wording.ShellWord(remote.DefaultBranch)}, commit, []string{"git switch -"})
	}
	if s.NoWaiver {
		return why + "; then ask whoever keeps the floor, which forbids waivers"
	}
	return why + "; then a person waives it, and the waiver counts once the target branch has it: " +
		wording.Commands("small-hook waive "+fingerprint+" --reason 'the credential is revoked'", strings.Join(commit, " && "))
}

// secretKeys are parts of keys' names that suggest a secret.
var secretKeys = []string{"api_key", "apikey", "password", "secret", "token", "private_key"}

// encodedSecret matches a whole value of 32 or more characters of the base64
// alphabet.
var encodedSecret = expression.Of(`^[A-Za-z0-9+/]{32,}={0,2}$`)

// commitHash matches a full commit id, which is evidence and not a secret.
var commitHash = expression.Of(`^[0-9a-f]{40}$`)

func checkSecret(w *read.Workspace, r *rule.Reporter) {
	w.EachCanonical(func(a small.Artifact, p read.Node) {
		f := finding.Finding{Path: w.Path(a), Subject: p.Subject}
		if p.Field != nil && announcesSecret(p.Field.Key) {
			f.Line, f.Column = p.Field.KeyPos.Line, p.Field.KeyPos.Column
			f.Message = fmt.Sprintf("the key %q suggests a secret", p.Field.Key)
			f.Fix = w.Correct(a, p.Subject, "keep secrets out of .small/; rename the key if it holds none")
			f.Edits = credentialEditKeys(w, a, p.Subject)
			r.Add(f)
			return
		}
		// Elements of lists have no Field, and are left out: hashes and paths in lists are evidence.
		if text, ok := p.Value.Str(); ok && p.Field != nil && encodedSecret().MatchString(text) && !isExpectedDigest(p, text) {
			f.Line, f.Column = p.Value.Pos.Line, p.Value.Pos.Column
			f.Message = fmt.Sprintf("%s looks like an encoded secret (%d characters of the base64 alphabet)", read.DescribeSubject(p.Subject), len(text))
			f.Fix = w.Correct(a, p.Subject, "if it is one, remove and revoke it; refer to long values by a file or a link")
			f.Edits = credentialEditKeys(w, a, p.Subject)
			r.Add(f)
		}
	})
}

// credentialEditKeys returns the EditKey under which secret/credential reports the same field of an entry; nil outside of entries.
func credentialEditKeys(w *read.Workspace, a small.Artifact, at string) []finding.EditKey {
	index, isEntry := read.EntryIndex(at)
	if a != small.Progress || !isEntry || index >= w.Ledger().Len() {
		return nil
	}
	field := strings.TrimPrefix(at, fmt.Sprintf("entries.%d.", index))
	return []finding.EditKey{credentialEditKey(w.Path(a), field, w.Ledger().Entries[index])}
}

func announcesSecret(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(secretKeys, func(part string) bool { return strings.Contains(key, part) })
}

// isExpectedDigest reports whether a value is where the protocol wants a digest or an id.
func isExpectedDigest(p read.Node, text string) bool {
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
