package gate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleInsecureLink = Rule{
	ID: "lint/insecure-link", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Summary: "a link uses http:// where https:// is meant",
	Why: `A link is evidence only if it leads to what was seen. Over http:// anybody on the way can answer with
something else, and no reader would notice. Such links are mostly copied from an old document or
from a server's log. Write https://; in the log, links to this machine (localhost, 127.0.0.1,
0.0.0.0, [::1]) are allowed, since nobody stands between.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    link: "http://ci.example.com/build/7"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    link: "https://ci.example.com/build/7"
`,
	Snapshot: checkInsecureLink,
}

// insecureLink finds http links with their authority (RFC 3986, section 3.2).
var insecureLink = regexp.MustCompile(`http://([^\s/?#"'<>()]+)`)

// loopback are the hosts that progress entries may link to without TLS.
var loopback = map[string]bool{"localhost": true, "127.0.0.1": true, "0.0.0.0": true, "[::1]": true}

func checkInsecureLink(w *Workspace, r *reporter) {
	w.eachCanonical(func(a small.Artifact, p place) {
		text, ok := p.value.Str()
		if !ok {
			return
		}
		for _, m := range insecureLink.FindAllStringSubmatch(text, -1) {
			if a == small.Progress && loopback[hostOf(m[1])] {
				continue
			}
			r.add(Finding{
				Path: w.path(a), Line: p.value.Pos.Line, Column: p.value.Pos.Column, subject: p.subject,
				Message: fmt.Sprintf("%q has the insecure link %s", p.subject, m[0]),
				Fix:     "use https://",
			})
			return
		}
	})
}

// hostOf is the host of an authority: user information and port removed. It is
// compared whole, so that localhost.example.com is not localhost.
func hostOf(authority string) string {
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if strings.HasPrefix(authority, "[") {
		if i := strings.IndexByte(authority, ']'); i >= 0 {
			return authority[:i+1]
		}
		return authority
	}
	host, _, _ := strings.Cut(authority, ":")
	return strings.TrimRight(host, ".,;!")
}
