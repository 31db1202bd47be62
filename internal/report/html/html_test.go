package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func render(t testing.TB, r *finding.Report, version string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Render(&out, r, version); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// pageOf is a page with a report's findings.
func pageOf(t testing.TB, r *finding.Report) *page {
	t.Helper()
	parts, err := pageTemplate()
	if err != nil {
		t.Fatal(err)
	}
	p := &page{report: r, parts: parts, fixes: map[string]string{}}
	if err := p.findings(); err != nil {
		t.Fatal(err)
	}
	return p
}

// collapse is a text as a browser shows it.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// browserPage is an HTML report as a browser reads it.
type browserPage struct {
	tags map[string]int
	// texts are headings and paragraphs.
	texts  []string
	ids    []string
	links  []string
	policy string
	style  string
	// level is the last heading's level.
	level  int
	faults []string
}

// A page's possible elements, and their attributes.
var pageElements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "header": "class", "main": "", "footer": "class",
	"nav": "aria-label", "section": "", "article": "class id", "div": "class id", "span": "class aria-hidden", "h1": "", "h2": "id", "h3": "",
	"h4": "", "p": "class", "strong": "", "code": "", "pre": "class", "a": "href rel class title", "dl": "", "dt": "", "dd": "", "ol": "", "ul": "class", "li": "class",
	"table": "", "thead": "", "tbody": "", "tr": "id class", "th": "scope", "td": "", "details": "class open", "summary": "",
}

// readPage parses a page and demands that elements are nested correctly and are all in the template.
func readPage(t testing.TB, text string) browserPage {
	t.Helper()
	p := browserPage{tags: map[string]int{}}
	tokens := nethtml.NewTokenizer(strings.NewReader(text))
	var open []string
	var words strings.Builder
	for {
		kind := tokens.Next()
		token := tokens.Token()
		switch kind {
		case nethtml.ErrorToken:
			if len(open) > 0 {
				p.faults = append(p.faults, fmt.Sprintf("left open: %v", open))
			}
			return p
		case nethtml.CommentToken:
			p.faults = append(p.faults, "a comment: "+token.Data)
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			p.start(token)
			if kind == nethtml.StartTagToken && !slices.Contains([]string{"meta", "br"}, token.Data) {
				open = append(open, token.Data)
			}
			if token.Data[0] == 'h' || token.Data == "p" {
				words.Reset()
			}
		case nethtml.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				p.faults = append(p.faults, fmt.Sprintf("</%s> closes %v", token.Data, open))
				return p
			}
			open = open[:len(open)-1]
			if isHeading(token.Data) || token.Data == "p" {
				p.texts = append(p.texts, collapse(words.String()))
			}
		case nethtml.TextToken:
			if len(open) > 0 && open[len(open)-1] == "style" {
				p.style = token.Data
				continue
			}
			words.WriteString(token.Data)
		}
	}
}

// isHeading reports whether an element is h1 to h6.
func isHeading(name string) bool {
	return len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6'
}

func (p *browserPage) start(token nethtml.Token) {
	p.tags[token.Data]++
	if isHeading(token.Data) {
		level := int(token.Data[1] - '0')
		if level > p.level+1 {
			p.faults = append(p.faults, fmt.Sprintf("%s below h%d", token.Data, p.level))
		}
		p.level = level
	}
	allowed, known := pageElements[token.Data]
	if !known {
		p.faults = append(p.faults, "an element "+token.Data)
	}
	isPolicy := false
	for _, a := range token.Attr {
		if !slices.Contains(strings.Fields(allowed), a.Key) {
			p.faults = append(p.faults, fmt.Sprintf("the attribute %s=%q of %s", a.Key, a.Val, token.Data))
		}
		switch a.Key {
		case "id":
			p.ids = append(p.ids, a.Val)
		case "href":
			p.links = append(p.links, a.Val)
		case "http-equiv":
			isPolicy = a.Val == "Content-Security-Policy"
		case "content":
			if isPolicy {
				p.policy = a.Val
			}
		}
	}
}

func checkWebPage(t testing.TB, p browserPage) {
	t.Helper()
	for _, fault := range p.faults {
		t.Error(fault)
	}
	sum := sha256.Sum256([]byte(p.style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	if p.policy != want {
		t.Errorf("the policy is %q, want %q", p.policy, want)
	}
	if strings.Contains(p.style, "url(") || strings.Contains(p.style, "@import") {
		t.Error("the style loads something")
	}
	for _, link := range p.links {
		id, inside := strings.CutPrefix(link, "#")
		page, isPage := strings.CutPrefix(link, "https://git.example.com/example/ledger/commit/")
		if inside && !slices.Contains(p.ids, id) || !inside && !strings.HasPrefix(link, content.RulePages) && (!isPage || strings.Trim(page, "0123456789abcdef") != "") {
			t.Errorf("a link to %s", link)
		}
	}
	if slices.Sort(p.ids); len(slices.Compact(slices.Clone(p.ids))) != len(p.ids) {
		t.Errorf("two elements have one id: %q", p.ids)
	}
	for _, landmark := range []string{"header", "main", "footer", "h1"} {
		if p.tags[landmark] != 1 {
			t.Errorf("%d elements %s", p.tags[landmark], landmark)
		}
	}
}

func TestHTMLPage(t *testing.T) {
	for _, s := range reporttest.Samples() {
		t.Run(s.Name, func(t *testing.T) {
			checkWebPage(t, readPage(t, render(t, s.Report, "v1.2.3")))
		})
	}
	p := readPage(t, render(t, reporttest.Many(), ""))
	for _, want := range []string{
		"✗ small-gate: rejected", "example/ledger, branch feature", "Logs", "Findings", "What was judged", "Waived", "Entry 1 was changed after it was recorded (and 19 more)",
		"1c8dd2390123 Tidy the log up Ada Lovelace, 2026-01-02, compared with eeca68fe0123",
	} {
		if !slices.Contains(p.texts, want) {
			t.Errorf("no heading or paragraph %q in %q", want, p.texts)
		}
	}
	for _, want := range []string{"#g1", "https://git.example.com/example/ledger/commit/" + reporttest.Head} {
		if !slices.Contains(p.links, want) {
			t.Errorf("no link to %s", want)
		}
	}
	if p := readPage(t, render(t, reporttest.Failed(), "")); !slices.Contains(p.texts, "✗ small-gate: could not judge") {
		t.Errorf("a failure's page says %q", p.texts)
	}
}

// Findings of one rule and commit are one group: its fix is shown once, and its findings are folded.
func TestGroups(t *testing.T) {
	r := reporttest.OneFail()
	first := r.Findings[0]
	first.Rule, first.Fix = "append-only/deleted", "what has landed stays: `one`, `two`; then `three`; or ask"
	r.Findings = nil
	for i := range 104 {
		f := first
		f.Message, f.Line = fmt.Sprintf("entry %d was deleted", i+1), i+1
		r.Findings = append(r.Findings, f)
	}
	later := first
	later.Rule = "append-only/reordered"
	r.Findings = append(r.Findings, later)
	text := render(t, r, "")
	p := readPage(t, text)
	checkWebPage(t, p)
	if p.tags["article"] != 2+1 || strings.Count(text, `<div class="finding"`) != 105 || strings.Count(text, "<summary>104 findings</summary>") != 1 {
		t.Errorf("%d articles, %d findings", p.tags["article"], strings.Count(text, `<div class="finding"`))
	}
	steps := "<p>what has landed stays:</p>\n<pre>one</pre>\n<pre>two</pre>\n<pre>three</pre>\n<p>or ask</p>"
	if strings.Count(text, steps) != 1 || strings.Count(text, `<a href="#g1">the same`) != 1 {
		t.Errorf("the fix is not said once, with its commands:\n%s", text)
	}
	r.Findings[3].Fix = "another"
	if text := render(t, r, ""); strings.Count(text, "<p>another</p>") != 1 {
		t.Error("a fix of its own is not said")
	}
	r.Findings[3].Commit = reporttest.Base
	if groups := pageOf(t, r).groups; len(groups) != 3 || groups[0].Commit.Subject != "Tidy the log up" || groups[1].Compared.ID == "" {
		t.Errorf("groups: %+v", groups)
	}
}

func TestHTMLIsBounded(t *testing.T) {
	gittest.Long(t)
	long := strings.Repeat("<b>&\"'long ", 4000)
	var changes []ledger.FieldChange
	for i := range 100 {
		changes = append(changes, ledger.FieldChange{Field: long, From: long, To: fmt.Sprint(i, long), HasFrom: true, HasTo: true})
	}
	r := reporttest.OneFail()
	f := r.Findings[0]
	f.Message, f.Fix, f.Changes, f.Rule, f.Commit = long, long, changes, long, long
	r.Findings = slices.Repeat([]finding.Finding{f}, 2000)
	r.Waived = r.Findings[:10]
	big := make([]finding.LogEntry, 100_000)
	for i := range big {
		big[i] = finding.LogEntry{Line: i, TaskID: long, ReplayID: fmt.Sprint(long[:i%50], i), Timestamp: time.Unix(int64(i), 0).UTC().Format(time.RFC3339Nano)}
	}
	r.Ledgers = nil
	for i := range 100 {
		r.Ledgers = append(r.Ledgers, finding.LedgerState{Path: fmt.Sprint(i, long), Head: reporttest.Digest(i), Entries: 2})
	}
	r.Ledgers[0].Log = big
	out := render(t, r, "")
	if len(out) > maxSize+10_000 {
		t.Errorf("%d bytes", len(out))
	}
	for _, want := range []string{"Not all is shown here:", "more findings and 70 more logs; --format json lists all."} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %q and ends\n%s", want, out[max(0, len(out)-800):])
		}
	}
	checkWebPage(t, readPage(t, out))
}

func FuzzHTML(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+5)%len(reporttest.Texts)])
	}
	for _, s := range []string{
		"<script>alert(1)</script>", "</pre><img src=x onerror=alert(1)>", `" onload="x`, "' x='", "javascript:alert(1)", "</title></style></svg>", "<!--", "-->", "]]>",
		"&lt;&#x3c;", "{{.}}", "2026-01-02T03:04:05.6Z", "0000-01-01T00:00:00Z",
	} {
		f.Add(s, `"`+s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Path, r.Findings[0].Message, r.Findings[1].Fix = b, b+a, b+"\n"+a
		r.Failure.Message, r.Examined.Notes = b, []string{b}
		r.Ledgers[0].Log[0].Timestamp = b
		out := render(t, r, b)
		if fault := reporttest.Unsafe(out); fault != "" {
			t.Fatal(fault)
		}
		p := readPage(t, out)
		checkWebPage(t, p)
		if p.tags["article"] != 4 || p.tags["h2"] != 5 {
			t.Fatalf("%d groups and logs, %d sections", p.tags["article"], p.tags["h2"])
		}
		title, _ := titleOf(b + a)
		if want := collapse(title); !slices.Contains(p.texts, want) {
			t.Fatalf("no heading says %q; there are %q", want, p.texts)
		}
	})
}
