package html

import (
	"bytes"
	"github.com/small-gate/small-gate/internal/report/content"

	"github.com/small-gate/small-gate/internal/report/reporttest"

	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gittest"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/google/go-cmp/cmp"
	nethtml "golang.org/x/net/html"
)

func render(t testing.TB, r *finding.Report, version string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Render(&out, r, version); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// shown are the findings that a report's page shows.
func shown(r *finding.Report) []numbered {
	findings, _ := new(page).number(r)
	return findings
}

// collapse is a text as a browser shows it.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// browserPage is an HTML report as a browser reads it.
type browserPage struct {
	tags map[string]int
	// texts are those of headings and paragraphs.
	texts  []string
	ids    []string
	links  []string
	policy string
	style  string
	faults []string
}

// The elements that a page has, and the attributes that they may have.
var pageElements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "header": "class", "footer": "class",
	"section": "class", "article": "class id", "div": "class", "span": "class aria-hidden", "h1": "", "h2": "", "h3": "", "h4": "", "p": "class", "br": "",
	"strong": "", "code": "", "pre": "class", "a": "href rel", "dl": "", "dt": "", "dd": "", "ul": "class", "li": "", "table": "", "thead": "", "tbody": "",
	"tr": "", "th": "", "td": "", "details": "", "summary": "", "svg": "class viewbox preserveaspectratio aria-label aria-hidden", "line": "class x1 x2 y1 y2",
	"path": "class d", "circle": "class cx cy r", "rect": "class width height",
}

// readPage reads a page and demands that elements are closed in order and that
// none is there that the template does not have.
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
			if len(token.Data) == 2 && token.Data[0] == 'h' || token.Data == "p" {
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

func (p *browserPage) start(token nethtml.Token) {
	p.tags[token.Data]++
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
		if inside && !slices.Contains(p.ids, id) || !inside && !strings.HasPrefix(link, content.RulePages) {
			t.Errorf("a link to %s", link)
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
	for _, want := range []string{"✗ small-gate: rejected", "Logs", "Findings", "Waived", "2. Entry 2 was changed after it was recorded"} {
		if !slices.Contains(p.texts, want) {
			t.Errorf("no heading %q in %q", want, p.texts)
		}
	}
	if r := reporttest.Many(); p.tags["article"] != len(r.Findings)+len(r.Waived) {
		t.Errorf("%d findings shown of %d", p.tags["article"], len(r.Findings)+len(r.Waived))
	}
	if p := readPage(t, render(t, reporttest.Failed(), "")); !slices.Contains(p.texts, "✗ small-gate: could not judge") {
		t.Errorf("a failure's page says %q", p.texts)
	}
}

// drawn lists a drawing's lanes with their marks: the place, the class, what
// it stands for.
func drawn(t *timeline) []string {
	var out []string
	for _, l := range t.Strips {
		out = append(out, l.Name+": "+l.Note)
		for _, m := range l.Marks {
			out = append(out, strings.TrimRight(fmt.Sprintf("  %d %s %s %s", m.X, m.Class, m.Title, m.Href), " "))
		}
	}
	return append(out, strings.Join(t.Axis, " | "))
}

func TestTimeline(t *testing.T) {
	at := func(minute int) string {
		return time.Date(2026, 3, 1, 9, minute, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
	}
	l := finding.LedgerState{Path: reporttest.Progress, Entries: 5, Log: []finding.LogEntry{
		{Line: 4, TaskID: "meta/init", Timestamp: at(0)},
		{Line: 7, TaskID: "a", Timestamp: at(30), ReplayID: "1111111111111111"},
		{Line: 10, TaskID: "b", Timestamp: "soon", ReplayID: "1111111111111111"},
		{Line: 13, TaskID: "c", Timestamp: at(300), ReplayID: "2222"},
		{Line: 16, TaskID: "d", Timestamp: at(600), ReplayID: "1111111111111111"},
	}}
	ref := func(task, timestamp string) *finding.EntryRef {
		return &finding.EntryRef{TaskID: task, Timestamp: timestamp}
	}
	r := &finding.Report{Verdict: finding.Fail, Examined: finding.Examined{Head: reporttest.Head}, Ledgers: []finding.LedgerState{l}, Findings: []finding.Finding{
		{Rule: "r/edited", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("c", at(300)), EntryAfter: ref("c", at(300))},
		{Rule: "r/moved", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("c", at(299)), EntryAfter: ref("c", at(300))},
		{Rule: "r/gone", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("x", at(450))},
		{Rule: "r/line", Severity: finding.SeverityWarning, Path: reporttest.Progress, Line: 8, Commit: reporttest.Head},
		{Rule: "r/before", Severity: finding.SeverityWarning, Path: reporttest.Progress, Line: 8, Commit: reporttest.Base},
		{Rule: "r/elsewhere", Severity: finding.SeverityWarning, Path: "other", Line: 8},
	}}
	want := []string{
		"entries without a run: 1 entry, 2026-03-01 09:00",
		"  0 entry entry 1: meta/init, 2026-03-01T09:00:00.000Z",
		"run 111111111111…: 3 entries, 2026-03-01 09:30 to 2026-03-01 19:00",
		"  50 entry entry 2: a, 2026-03-01T09:30:00.000Z and others",
		"  1000 entry entry 5: d, 2026-03-01T19:00:00.000Z",
		"  50 warn finding 4: r/line #f4",
		"run 2222: 1 entry, 2026-03-01 14:00",
		"  500 entry entry 4: c, 2026-03-01T14:00:00.000Z",
		"  500 bad finding 1: r/edited and others #f1",
		"entries that are not in this log: 1 entry, 2026-03-01 16:30",
		"  750 gone entry as it was: 1: x, 2026-03-01T16:30:00.000Z",
		"  750 bad finding 3: r/gone #f3",
		"2026-03-01 09:00 | 2026-03-01 14:00 | 2026-03-01 19:00",
	}
	if diff := cmp.Diff(want, drawn(logOf(r, &l, shown(r)).Timeline)); diff != "" {
		t.Errorf("drawing differs (-want +got):\n%s", diff)
	}
}

func TestTimelineAtTheEdges(t *testing.T) {
	log := func(timestamps ...string) finding.LedgerState {
		l := finding.LedgerState{Log: []finding.LogEntry{}}
		for _, at := range timestamps {
			l.Log = append(l.Log, finding.LogEntry{Timestamp: at})
		}
		l.Entries = len(l.Log)
		return l
	}
	for _, tt := range []struct {
		name string
		log  finding.LedgerState
		want []string
	}{
		{"one", log("2026-03-01T09:00:00.5Z"), []string{
			"entries without a run: 1 entry, 2026-03-01 09:00:00", "  500 entry entry 1: (no task_id), 2026-03-01T09:00:00.5Z", "2026-03-01 09:00:00",
		}},
		{"no times", log("", "x"), []string{
			"entries without a run: 2 entries", "  500 entry entry 1: (no task_id), (no timestamp) and others", "no entry has a time",
		}},
		{"all of time", log("0001-01-01T00:00:01Z", "9999-12-31T23:59:59.999999999Z"), []string{
			"entries without a run: 2 entries, 0001-01-01 00:00 to 9999-12-31 23:59",
			"  0 entry entry 1: (no task_id), 0001-01-01T00:00:01Z", "  1000 entry entry 2: (no task_id), 9999-12-31T23:59:59.999999999Z",
			"0001-01-01 00:00 | 5000-07-02 12:00 | 9999-12-31 23:59",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &finding.Report{Verdict: finding.Pass, Ledgers: []finding.LedgerState{tt.log}}
			if diff := cmp.Diff(tt.want, drawn(logOf(r, &tt.log, shown(r)).Timeline)); diff != "" {
				t.Errorf("drawing differs (-want +got):\n%s", diff)
			}
		})
	}
	empty := log()
	if logOf(&finding.Report{}, &empty, nil).Timeline != nil {
		t.Error("an empty log is drawn")
	}
	if logOf(reporttest.OneFail(), &finding.LedgerState{Path: reporttest.Progress, Entries: 3}, shown(reporttest.OneFail())).Timeline != nil {
		t.Error("a log whose entries are not known is drawn")
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
		if p.tags["article"] != 3 || p.tags["h1"] != 1 || p.tags["h2"] != 4 {
			t.Fatalf("%d findings, %d titles, %d sections", p.tags["article"], p.tags["h1"], p.tags["h2"])
		}
		if want := collapse("1. " + content.UpperFirst(content.Text(b+a))); !slices.Contains(p.texts, want) {
			t.Fatalf("no heading says %q; there are %q", want, p.texts)
		}
	})
}
