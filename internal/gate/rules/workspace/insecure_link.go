package workspace

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// InsecureLink is lint/insecure-link: a link uses http:// where https:// is meant.
var InsecureLink = rule.Rule{
	ID: "lint/insecure-link", Severity: finding.SeverityError, Stage: finding.StageLint, StrictOnly: true,
	Checks: []rule.Check{rule.On(checkInsecureLink)},
}

// insecureLink finds the scheme and the beginning of a host. "(http://)" has
// none.
var insecureLink = expression.Of(`http://(?:[^\s/"'>)]|\)[^\s/"'>]*[\pL\pN])`)

// loopback finds, at the beginning of what follows the scheme, the hosts that
// progress entries may link to without TLS.
var loopback = expression.Of(`^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|0\.0\.0\.0|\[::1\])`)

// hostContinues finds what makes a host a part of another one's name: a Latin letter or a digit, perhaps behind full stops or dashes, or
// any letter behind a full stop. White space, punctuation, quotes, brackets and other scripts end it.
var hostContinues = expression.Of(`^(?:[.。．｡_-]*[\p{Latin}\pN@%]|[.。．｡]+[\pL\pM])`)

// userInfo finds an @ in the rest of an authority (RFC 3986, section 3.2.1): then
// what looks like a host is a user's name.
var userInfo = expression.Of("^[^\\s\\pZ/?#\"'<>`\\\\]*@")

func checkInsecureLink(w *subject.Workspace, r *rule.Reporter) {
	w.EachCanonical(func(a small.Artifact, p subject.Node) {
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
				Message: fmt.Sprintf("%s has the insecure link %s", describeSubject(p.Subject), linkAt(text[at[0]:])),
				Fix:     w.Correct(a, p.Subject, "write https://"),
			})
			return
		}
	})
}

// isLoopback reports whether an authority begins with a loopback host, compared whole: localhost.example.com is
// not localhost.
func isLoopback(authority string) bool {
	host := loopback().FindString(authority)
	rest := authority[len(host):]
	return host != "" && !hostContinues().MatchString(rest) && !userInfo().MatchString(rest)
}

func linkAt(text string) string {
	const scheme = len("http://")
	end := strings.IndexFunc(text[scheme:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/?#"'>`, r) })
	if end < 0 {
		return text
	}
	return text[:scheme+end]
}
