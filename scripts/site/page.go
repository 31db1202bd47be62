package main

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// page is a page of the site.
type page struct {
	// Source is its path in the repository. A rule's page does not exist there, but has a path as if it did.
	Source, Title    string
	IsRule, isFamily bool
	// text is its Markdown, and twin the same with the site's links.
	text, twin string
	Body       template.HTML
	ids        map[string]bool
	sections   []section
	// intro is the text of its first paragraph.
	intro string
}

// section is a result of the search.
type section struct {
	Address string `json:"address"`
	Title   string `json:"title"`
	Text    string `json:"text"`
}

// Name is the page's path on the site without an extension.
func (p *page) Name() string {
	if p.Source == "README.md" {
		return "index"
	}
	return strings.TrimSuffix(p.Source, ".md")
}

// Root is the relative path from the page to the root of its version.
func (p *page) Root() string { return strings.Repeat("../", strings.Count(p.Source, "/")) }

var (
	markdown   = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))
	inHTML     = regexp.MustCompile(`(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]*)"`)
	inMarkdown = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// render makes a page's HTML and its twin.
func (s *site) render(p *page) error {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(p.text), &out, parser.WithContext(parser.NewContext(parser.WithIDs(anchors{})))); err != nil {
		return err
	}
	links := map[string]bool{} // text that only looks like a link is in code
	p.Body = template.HTML(inHTML.ReplaceAllStringFunc(out.String(), func(tag string) string {
		m := inHTML.FindStringSubmatch(tag)
		links[m[2]] = true
		return m[1] + s.link(p, m[2], ".html") + `"`
	}))
	p.twin = inMarkdown.ReplaceAllStringFunc(p.text, func(link string) string {
		if to := inMarkdown.FindStringSubmatch(link)[1]; links[to] {
			return "](" + s.link(p, to, ".md") + ")"
		}
		return link
	})
	p.take(string(p.Body))
	return nil
}

// take reads the title, the first paragraph, the anchors and the sections of a page. Sections that are on the rules' pages are left out of
// their family's.
func (p *page) take(body string) {
	p.ids = map[string]bool{}
	var in string // the heading, or the first paragraph
	for tokens := nethtml.NewTokenizer(strings.NewReader(body)); ; {
		kind := tokens.Next()
		token := tokens.Token()
		switch {
		case kind == nethtml.ErrorToken:
			return
		case kind == nethtml.EndTagToken && token.Data == in:
			in = ""
		case kind == nethtml.StartTagToken:
			if p.start(token) {
				in = token.Data
			}
		case kind == nethtml.TextToken && len(p.sections) > 0:
			p.words(in, strings.ReplaceAll(token.Data, "\n", " "))
		}
	}
}

// start reads the start of an element, and reports whether it is a heading or the first paragraph.
func (p *page) start(token nethtml.Token) bool {
	var id string
	for _, a := range token.Attr {
		if a.Key == "id" {
			id, p.ids[a.Val] = a.Val, true
		}
	}
	heading := len(token.Data) == 2 && token.Data[0] == 'h' && token.Data != "hr"
	if heading && (!p.isFamily || len(p.sections) == 0) {
		p.sections = append(p.sections, section{Address: p.Name() + ".html#" + id})
	}
	return heading || token.Data == "p" && p.intro == ""
}

// words adds text to the last section. in is the element reported by start.
func (p *page) words(in, text string) {
	last := &p.sections[len(p.sections)-1]
	switch {
	case in == "h1":
		p.Title += text
		last.Title = p.Title
	case in == "p":
		p.intro += text
		last.Text += text
	case p.isFamily:
	case in == "":
		last.Text += text
	case last.Title == "":
		last.Title = p.Title + ": " + text
	default:
		last.Title += text
	}
}

// anchors gives headings the same anchors as GitHub does: it counts how often each was given.
type anchors map[string]int

var inline = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// Generate is the anchor of a heading.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, inline.ReplaceAllString(strings.TrimSpace(string(heading)), "$1"))
	a[id]++
	if n := a[id]; n > 1 {
		return fmt.Appendf(nil, "%s-%d", id, n-1)
	}
	return []byte(id)
}

// Put is for headings with an explicit anchor: there are none.
func (a anchors) Put([]byte) {}
