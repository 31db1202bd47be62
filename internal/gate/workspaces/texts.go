package workspaces

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// checkBlank reports blank strings where the protocol requires a text.
func checkBlank(w *read.Workspace, r *rule.Reporter) {
	blank := func(a small.Artifact, v *small.Value, subject string) {
		if s, ok := v.Str(); !ok || strings.TrimSpace(s) != "" {
			return
		}
		r.Add(finding.Finding{
			Path: w.Path(a), Line: v.Pos.Line, Column: v.Pos.Column, Subject: subject,
			Message: fmt.Sprintf("%s is blank", read.DescribeSubject(subject)),
			Fix:     w.Correct(a, subject, "fill it in, or remove what it belongs to"),
		})
	}
	items := func(a small.Artifact, list []*small.Value, key string, fields ...string) {
		for i, item := range list {
			for _, f := range fields {
				blank(a, item.Get(f), fmt.Sprintf("%s.%d.%s", key, i, f))
			}
		}
	}
	blank(small.Intent, w.Doc(small.Intent).Get("intent"), "intent")
	items(small.Constraints, w.List(small.Constraints, "constraints"), "constraints", "id", "rule")
	items(small.Plan, w.List(small.Plan, "tasks"), "tasks", "id", "title")
	entries, first := w.Entries()
	for i, e := range entries {
		blank(small.Progress, e.Get("task_id"), fmt.Sprintf("entries.%d.task_id", first+i))
	}
	blank(small.Handoff, w.Doc(small.Handoff).Get("summary"), "summary")
	blank(small.Handoff, w.Doc(small.Handoff).Get("resume").Get("current_task_id"), "resume.current_task_id")
}

// maxTried is how many texts of a file are tried. The rest count as broken.
const maxTried = 1000

const removeWhiteSpace = "remove the leading white space"

func checkRoundTrip(w *read.Workspace, r *rule.Reporter) {
	for _, a := range small.Artifacts {
		var found []finding.Finding
		tried := 0
		if a == small.Progress && w.HasLedger() {
			for _, e := range w.Ledger().Entries {
				if e.Index < w.Baseline {
					continue
				}
				for _, f := range findBrokenTexts(w.Path(a), &e, e.Suspects, &tried) {
					if f.Fix = "leave it: a committed entry is never edited"; e.Index >= w.EntriesBefore {
						f.Fix = w.Correct(a, fmt.Sprintf("entries.%d", e.Index), removeWhiteSpace)
					}
					found = append(found, f)
				}
			}
		} else if doc := w.Doc(a); doc != nil {
			found = findBrokenTexts(w.Path(a), nil, small.Suspects(doc), &tried)
		}
		for _, f := range found {
			r.Add(f)
		}
	}
}

// checkRoundTripOfNew reports new entries in the commit that adds them, as errors. In a whole history, in which every entry is new, it does so
// only in strict mode.
func checkRoundTripOfNew(e *logs.LogChange, r *rule.Reporter) {
	if e.Run.Scope.Whole && !e.Run.Collector.Strict {
		return
	}
	tried := 0
	for _, at := range e.NewEntries {
		entry := e.New.Entries[at]
		for _, f := range findBrokenTexts(e.Path, &entry, entry.Suspects, &tried) {
			f.Severity, f.Fix = finding.SeverityError, e.CorrectFix(removeWhiteSpace)
			r.Add(f)
		}
	}
}

// findBrokenTexts returns findings about those suspects of a file, or of one entry, that change when a program rewrites the file.
func findBrokenTexts(path string, e *ledger.Entry, suspects []small.Suspect, tried *int) (out []finding.Finding) {
	for _, s := range suspects {
		if *tried++; *tried <= maxTried && !s.BreaksOnWrite() {
			continue
		}
		f := finding.Finding{
			Path: path, Line: s.Pos.Line, Column: s.Pos.Column, Subject: s.Subject,
			Message: fmt.Sprintf("%s begins with white space and has several lines: programs that rewrite the file with yaml.v3 corrupt it", read.DescribeSubject(s.Subject)),
			Fix:     removeWhiteSpace,
		}
		if e != nil {
			f.Entry, f.EditTo = finding.RefOf(*e), e.Digest.String()
			f.Edits = []finding.EditKey{{Path: path + "\x00round-trip", From: s.Subject, To: f.EditTo}}
			f.Message = fmt.Sprintf("%s of entry %d begins with white space and has several lines: programs that rewrite the log with yaml.v3 corrupt it", read.DescribeSubject(s.Subject), e.Index+1)
		}
		out = append(out, f)
	}
	return out
}

func checkVersionQuoting(w *read.Workspace, r *rule.Reporter) {
	for _, a := range small.Artifacts {
		v := w.Doc(a).Get("small_version")
		if _, ok := v.Str(); !ok || !v.Plain {
			continue
		}
		r.Add(finding.Finding{
			Path: w.Path(a), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "small_version",
			Message: "small_version is written without quotes; other YAML readers may read it as a number",
			Fix:     remedy.ByProgram(w.Dir, w.Commit, "Quote the version", "small fix --versions"),
		})
	}
}

// insecureLink matches the scheme of a link and the beginning of its host. In "(http://)" there is no host.
var insecureLink = expression.Of(`http://(?:[^\s/"'>)]|\)[^\s/"'>]*[\pL\pN])`)

// loopback matches, after the scheme, the hosts to which progress entries may link without TLS.
var loopback = expression.Of(`^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|0\.0\.0\.0|\[::1\])`)

// hostContinues matches what shows that the name of a host goes on: a Latin letter or a digit, perhaps after full stops or dashes, or any letter
// after a full stop. White space, punctuation, quotes, brackets and other scripts end a name.
var hostContinues = expression.Of(`^(?:[.。．｡_-]*[\p{Latin}\pN@%]|[.。．｡]+[\pL\pM])`)

// userInfo matches an @ in the rest of an authority (RFC 3986, section 3.2.1). If there is one, what looks like a host is the name of a user.
var userInfo = expression.Of("^[^\\s\\pZ/?#\"'<>`\\\\]*@")

func checkInsecureLink(w *read.Workspace, r *rule.Reporter) {
	w.EachCanonical(func(a small.Artifact, p read.Node) {
		text, ok := p.Value.Str()
		if !ok {
			return
		}
		for _, at := range insecureLink().FindAllStringIndex(text, -1) {
			authority := text[at[0]+len("http://"):]
			if a == small.Progress && isLoopback(authority) {
				continue
			}
			r.Add(finding.Finding{
				Path: w.Path(a), Line: p.Value.Pos.Line, Column: p.Value.Pos.Column, Subject: p.Subject,
				Message: fmt.Sprintf("%s has the insecure link %s", read.DescribeSubject(p.Subject), cutLink(text[at[0]:])),
				Fix:     w.Correct(a, p.Subject, "write https://"),
			})
			return
		}
	})
}

// isLoopback reports whether the host of an authority is a loopback host as a whole: localhost.example.com is not.
func isLoopback(authority string) bool {
	host := loopback().FindString(authority)
	rest := authority[len(host):]
	return host != "" && !hostContinues().MatchString(rest) && !userInfo().MatchString(rest)
}

func cutLink(text string) string {
	const scheme = len("http://")
	end := strings.IndexFunc(text[scheme:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/?#"'>`, r) })
	if end < 0 {
		return text
	}
	return text[:scheme+end]
}
