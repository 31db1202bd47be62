package markdown

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func render(t testing.TB, r *finding.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := Render(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// readerPage is Markdown rendered as GitHub would, and parsed again.
type readerPage struct {
	// tags counts the elements; links are their addresses.
	tags  map[string]int
	links []string
	// blocks are the texts of paragraphs, headings, cells and list items without code; code has the texts in code.
	blocks, code []string
	// faults are the forbidden things found.
	faults []string
}

var reference = regexp.MustCompile(`(^|[^\pL\pN])[@#!&$~%^][\pL\pN]|[A-Z]-[0-9]|(?i:gh)-[0-9]`)

func readMarkdown(t testing.TB, text string) readerPage {
	t.Helper()
	var rendered bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := md.Convert([]byte(text), &rendered); err != nil {
		t.Fatal(err)
	}
	p := readerPage{tags: map[string]int{}}
	tokens := nethtml.NewTokenizer(&rendered)
	depth := 0 // of code
	var block strings.Builder
	end := func() {
		if text := strings.Join(strings.Fields(block.String()), " "); text != "" {
			p.blocks = append(p.blocks, text)
		}
		block.Reset()
	}
	for {
		switch tokens.Next() {
		case nethtml.ErrorToken:
			end()
			return p
		case nethtml.CommentToken:
			if c := string(tokens.Text()); c != " " {
				p.faults = append(p.faults, fmt.Sprintf("the comment %q", c))
			}
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			tag := tokens.Token()
			p.tags[tag.Data]++
			for _, a := range tag.Attr {
				switch {
				case tag.Data == "a" && a.Key == "href":
					p.links = append(p.links, a.Val)
				case tag.Data == "code" && a.Key == "class" && strings.HasPrefix(a.Val, "language-"), a.Key == "style" || a.Key == "align":
				default:
					p.faults = append(p.faults, fmt.Sprintf("the attribute %s=%q of %s", a.Key, a.Val, tag.Data))
				}
			}
			if tag.Data == "code" {
				depth++
			}
		case nethtml.EndTagToken:
			switch name := tokens.Token().Data; name {
			case "code":
				depth--
			case "p", "h2", "h3", "td", "th", "li":
				end()
			}
		case nethtml.TextToken:
			text := string(tokens.Text())
			if depth > 0 {
				p.code = append(p.code, text)
				continue
			}
			// GitHub and GitLab look for names and numbers in each text between two tags or comments.
			if m := reference.FindString(text); m != "" {
				p.faults = append(p.faults, fmt.Sprintf("%q can become a reference in %q", m, text))
			}
			block.WriteString(text)
		default:
			p.faults = append(p.faults, "a document type")
		}
	}
}

var ofCommit = regexp.MustCompile(`^https://git\.example\.com/example/ledger/commit/[0-9a-f]{40}$`)

// checkPage demands that the output has only what the writer intended.
func checkPage(t testing.TB, p readerPage) {
	t.Helper()
	for _, fault := range p.faults {
		t.Error(fault)
	}
	known := []string{"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "a", "code", "pre", "strong", "em", "ul", "li"}
	for tag := range p.tags {
		if !slices.Contains(known, tag) {
			t.Errorf("an element %s", tag)
		}
	}
	for _, link := range p.links {
		if !strings.HasPrefix(link, content.RulePages) && !ofCommit.MatchString(link) {
			t.Errorf("a link to %s", link)
		}
	}
}

// collapsed is a text as a browser shows it.
func collapsed(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestMarkdownPage(t *testing.T) {
	for _, s := range reporttest.Samples() {
		t.Run(s.Name, func(t *testing.T) {
			checkPage(t, readMarkdown(t, render(t, s.Report)))
		})
	}
	p := readMarkdown(t, render(t, reporttest.Many()))
	want := []string{
		"Line 6: entry 1 was changed after it was recorded", "append-only/reordered in " + reporttest.Progress,
		"pkg/ünïcode name/.small/intent.small.yml, line 1", "entry 1 was changed after it was recorded (and 19 more)",
	}
	for _, w := range want {
		if !slices.Contains(p.blocks, w) {
			t.Errorf("no block says %q; there are %q", w, p.blocks)
		}
	}
	if p.tags["h3"] != 8 || p.tags["tr"] != 2+8 || len(p.links) != 8+2+13 {
		t.Errorf("%d sections, %d rows, %d links", p.tags["h3"], p.tags["tr"], len(p.links))
	}
}

// A commit is named with its subject, its author and a link; a stranger's text in them stays text.
func TestMarkdownCommits(t *testing.T) {
	r := reporttest.OneFail()
	p := readMarkdown(t, render(t, r))
	checkPage(t, p)
	for _, want := range []string{"Commit (“Tidy the log up”, Ada Lovelace, 2026-01-02), compared with .", "Repository example/ledger, branch feature, head , base .", "1c8dd2390123 Tidy the log up"} {
		if !slices.Contains(p.blocks, want) {
			t.Errorf("no block says %q; there are %q", want, p.blocks)
		}
	}
	if link := r.Examined.CommitLink + reporttest.Head; !slices.Contains(p.links, link) {
		t.Errorf("no link to %s; there are %q", link, p.links)
	}
	const hostile = "[x](javascript:alert(1)) </td><script>alert(1)</script> | @team #1 **x** <!-- `x`\n# y"
	r.Commits[0].Subject, r.Commits[0].Author, r.Examined.Branch, r.Examined.Repository = hostile, hostile, hostile, hostile
	p = readMarkdown(t, render(t, r))
	checkPage(t, p)
	if want := strings.ReplaceAll(reporttest.Head[:12]+" "+hostile, "\n", `\n`); !slices.Contains(p.blocks, want) {
		t.Errorf("no block says %q; there are %q", want, p.blocks)
	}
	for _, link := range []string{"https://evil.example/x)[y](https://z/commit/", "javascript:alert(1)//", "https://a/ b/commit/", "https://a/|/commit/"} {
		r.Examined.CommitLink = link
		p := readMarkdown(t, render(t, r))
		if checkPage(t, p); len(p.links) != 1 { // the rule's
			t.Errorf("%s: links to %q", link, p.links)
		}
	}
}

// Each command of a fix is one piece of code, unchanged, and all prose is text.
func TestMarkdownFix(t *testing.T) {
	r := reporttest.OneFail()
	r.Findings[0].Fix = "what was published stays: `small-hook reconcile 'a*b'`, `git commit -m \"Keep  the log\"`, then commit again; # 1. a correction is a new entry\n1. `- x`"
	p := readMarkdown(t, render(t, r))
	checkPage(t, p)
	for _, want := range []string{"small-hook reconcile 'a*b'", `git commit -m "Keep  the log"`, "- x"} {
		if !slices.Contains(p.code, want) {
			t.Errorf("no code is %q; there is %q", want, p.code)
		}
	}
	for _, want := range []string{"What to do:", "what was published stays:", "then commit again; # 1. a correction is a new entry", "1."} {
		if !slices.Contains(p.blocks, want) {
			t.Errorf("no block says %q; there are %q", want, p.blocks)
		}
	}
	if p.tags["li"] != 6 || p.tags["pre"] != 1 { // the changes are in the only block of code
		t.Errorf("%d items, %d blocks of code", p.tags["li"], p.tags["pre"])
	}
}

// Every rule's explanation is a page of paragraphs and examples.
func TestRule(t *testing.T) {
	for _, rule := range catalogue.All() {
		text := Rule(&rule)
		p := readMarkdown(t, text)
		checkPage(t, p)
		for _, paragraph := range content.Paragraphs(rule.Why) {
			if !slices.Contains(p.blocks, paragraph) {
				t.Errorf("%s: no block says %q", rule.ID, paragraph)
			}
		}
		if !strings.Contains(text, "**Wrong**\n") || !strings.Contains(text, "**Right**\n") {
			t.Errorf("%s: it lacks an example", rule.ID)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain words, 50 % of it - done.", "plain words, 50 % of it - done."},
		{"*a* _b_ `c` [d](e) <f> \\", "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) &lt;f\\> \\\\"},
		{"a|b", "a&#124;b"},
		{"@name #12 !3 &lt; $x$ ~~y~~ %m ^z", "@<!-- -->name #<!-- -->12 !<!-- -->3 \\&<!-- -->lt; \\$<!-- -->x\\$ \\~<!-- -->\\~<!-- -->y\\~<!-- -->\\~ %<!-- -->m ^<!-- -->z"},
		{"GH-1 gh-2 ABC-3 task-4 2026-03-01", "GH-<!-- -->1 gh-<!-- -->2 ABC-<!-- -->3 task-4 2026-03-01"},
		{"https://example.com www.example.com a@b.c", "https\\://example.com www\\.example.com a@<!-- -->b.c"},
		{"at 10:30: now:x", "at 10:30: now\\:x"},
		{"a\n\x1b", `a\\n\\x1b`},
	} {
		if got := escape(tt.in); got != tt.want {
			t.Errorf("escape(%q)\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestEscapeLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "": "", "- x": `\- x`, "+ x": `\+ x`, "=== x": `\=== x`, "# x": `\#<!-- --> x`, "12. x": `12\. x`, "1) x": `1\) x`, "12": "12", "  - x": `\- x`,
	} {
		if got := escapeLine(in); got != want {
			t.Errorf("escapeLine(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a": "`a`", "a`b": "``a`b``", "`": "`` ` ``", "``` x": "```` ``` x ````", "": "`(empty)`", "  ": "`(empty)`", " a ": "`  a  `", "a\nb": "`a\\nb`",
	} {
		if got := codeSpan(in); got != want {
			t.Errorf("codeSpan(%q) = %s, want %s", in, got, want)
		}
	}
	if got := fenced("text", "a\n````\n::x\n\n"); got != "`````text\na\n````\n\\::x\n`````\n" {
		t.Errorf("fenced = %q", got)
	}
}

// Omissions are stated, nothing is left open, and what matters is first.
func TestMarkdownIsBounded(t *testing.T) {
	gittest.Long(t)
	long := strings.Repeat("@#[long](x)|`` ", 4000)
	var changes []ledger.FieldChange
	for i := range 100 {
		changes = append(changes, ledger.FieldChange{Field: long, From: long, To: fmt.Sprint(i, long), HasFrom: true, HasTo: true})
	}
	for _, tt := range []struct {
		name   string
		number int
		change func(f *finding.Finding, i int)
		want   string
	}{
		{"many files", 3000, func(f *finding.Finding, i int) { f.Path = fmt.Sprintf("w%d/%s", i, reporttest.Progress) }, "Not all is shown here: 2950 more findings; `--format json` lists all."},
		{"one file", 3000, func(f *finding.Finding, i int) { f.Line = i }, "… and 2997 more of this rule in this file."},
		{"long texts", 200, func(f *finding.Finding, i int) {
			f.Path, f.Message, f.Fix, f.Commit = fmt.Sprint(i, long), long, strings.Repeat(long+"\n", 20), long
			f.Changes, f.Entry = changes, &finding.EntryRef{TaskID: long, Timestamp: long}
			f.Rule = long
		}, "more findings; `--format json` lists all."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reporttest.OneFail()
			one := r.Findings[0]
			r.Findings = make([]finding.Finding, tt.number)
			for i := range r.Findings {
				r.Findings[i] = one
				tt.change(&r.Findings[i], i)
			}
			r.Waived = r.Findings[:100]
			for range 50 {
				r.Ledgers = append(r.Ledgers, finding.LedgerState{Path: long})
			}
			out := render(t, r)
			if len(out) > maxSize {
				t.Errorf("%d bytes", len(out))
			}
			if !strings.Contains(out, tt.want) {
				t.Errorf("the output lacks %q and ends\n%s", tt.want, out[max(0, len(out)-1000):])
			}
			if !strings.HasPrefix(out, "## ❌ small-gate: rejected\n") {
				t.Errorf("the output begins %.100q", out)
			}
			checkPage(t, readMarkdown(t, out))
		})
	}
}

// A fork shows both sides, whatever their names.
func TestMarkdownFork(t *testing.T) {
	r := reporttest.OneFail()
	f := reporttest.Forked()
	f.Sides[0].Name = `x"]; click A "javascript:alert(1)"` + "\n```\nend"
	r.Findings = []finding.Finding{f}
	p := readMarkdown(t, render(t, r))
	checkPage(t, p)
	text := strings.Join(p.blocks, "\n")
	for _, want := range []string{"7 entries in common", "2 more entries"} {
		if !strings.Contains(text, want) {
			t.Errorf("the fork lacks %q:\n%s", want, text)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+5)%len(reporttest.Texts)])
	}
	for _, s := range []string{
		"```", "~~~\n", "</details><script>", "![x](y)", "[x]: y", "| a | b |", "\\|", "a\\", "<!--", "-->", "@user/team", "#1", "org/repo#2", "GH-3",
		"http://x.y", "www.x.y", "WWW.x.y", "mailto:a@b.c", "a@b.c", "xmpp:a@b.c/d", "ftp://x.y", "- [ ] x", "# x", "1. x", "> x", "===", "---", "    x", "&amp;&#64;x", "[^1]", "$x$", "**a**", ":+1:", "``` `` `",
	} {
		f.Add(s, "`"+s+"`")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Path, r.Findings[0].Message, r.Findings[0].Fix, r.Findings[1].Fix = b, b+a, a, b+"\n"+a
		r.Commits = append(r.Commits, finding.Commit{ID: r.Findings[0].Commit, Author: b, Subject: b, Date: b})
		r.Failure.Message, r.Examined.Notes = b, []string{b}
		out := render(t, r)
		if fault := reporttest.Unsafe(out); fault != "" {
			t.Fatal(fault)
		}
		p := readMarkdown(t, out)
		checkPage(t, p)
		if t.Failed() {
			t.Fatalf("%q %q gives\n%s", a, b, out)
		}
		// The report's own structure, independent of its texts.
		groups := len(content.Groups(r.Findings))
		if p.tags["h2"] != 1 || p.tags["h3"] != 2+groups || p.tags["tr"] != 2+1+groups {
			t.Fatalf("%d titles, %d sections, %d rows\n%s", p.tags["h2"], p.tags["h3"], p.tags["tr"], out)
		}
		want := "Finding: "
		if b != "" {
			want = "Line 3: "
		}
		if want = collapsed(want + content.Text(b+a)); !slices.Contains(p.blocks, want) {
			t.Fatalf("no block says %q; there are %q", want, p.blocks)
		}
	})
}
