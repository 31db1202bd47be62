// Package html writes a report as one page that needs neither network nor script:
// the outcome, each log as a timeline, each finding with what was there before.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"html/template"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// maxSize is how many bytes of findings and logs a page has.
	maxSize = 4 << 20
	// maxFindings is how many findings are shown in full.
	maxFindings = 300
	// maxLogs is how many logs are drawn.
	maxLogs = 30
)

var (
	//go:embed report.html
	pageText string
	//go:embed style.css
	pageStyle string
)

// pageTemplate is parsed when the first page is made: most runs make none.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) { return template.New("page").Parse(pageText) })

// contentPolicy allows the page its own style and nothing else.
var contentPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
})

// page gathers the parts of a page. A part that does not fit is left out.
type page struct {
	buf   *bytes.Buffer
	parts *template.Template
	// hiddenFindings and hiddenLogs count what is left out.
	hiddenFindings, hiddenLogs int
}

// Render appends the report. version is that of the program.
func Render(buf *bytes.Buffer, r *finding.Report, version string) error {
	parts, err := pageTemplate()
	if err != nil {
		return err
	}
	p := &page{buf: buf, parts: parts}
	findings, waived := p.number(r)
	if err := p.write("head", headOf(r)); err != nil {
		return err
	}
	if err := p.logs(r, findings); err != nil {
		return err
	}
	if err := p.findings("Findings", findings); err != nil {
		return err
	}
	if err := p.findings("Waived", waived); err != nil {
		return err
	}
	return p.write("tail", map[string]string{"Version": content.Name(version), "Left": p.left(r)})
}

// write appends a part.
func (p *page) write(part string, data any) error {
	return p.parts.ExecuteTemplate(p.buf, part, data)
}

// fit appends a part, or counts it as hidden if there is no room for it.
func (p *page) fit(part string, data any, hidden *int) error {
	size := p.buf.Len()
	if err := p.write(part, data); err != nil {
		return err
	}
	if p.buf.Len() > maxSize {
		p.buf.Truncate(size)
		*hidden++
	}
	return nil
}

// logs writes the logs of the tip.
func (p *page) logs(r *finding.Report, found []numbered) error {
	type key struct {
		path string
		head small.Digest
	}
	seen := map[key]bool{}
	for i := range r.Ledgers {
		l := &r.Ledgers[i]
		if k := (key{l.Path, l.Head}); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		if len(seen) == 1 {
			if err := p.write("key", nil); err != nil {
				return err
			}
		}
		if len(seen) > maxLogs {
			p.hiddenLogs++
			continue
		}
		if err := p.fit("log", logOf(r, l, found), &p.hiddenLogs); err != nil {
			return err
		}
	}
	return nil
}

// findings writes findings under a title.
func (p *page) findings(title string, list []numbered) error {
	if len(list) == 0 {
		return nil
	}
	if err := p.write("findings", title); err != nil {
		return err
	}
	for _, f := range list {
		if err := p.fit("finding", findingOf(f), &p.hiddenFindings); err != nil {
			return err
		}
	}
	return nil
}

// left says what the page does not show; empty if it shows all.
func (p *page) left(r *finding.Report) string {
	var parts, sentences []string
	if p.hiddenFindings > 0 {
		parts = append(parts, wording.Count(p.hiddenFindings, "more finding"))
	}
	if p.hiddenLogs > 0 {
		parts = append(parts, wording.Count(p.hiddenLogs, "more log"))
	}
	if len(parts) > 0 {
		sentences = append(sentences, content.And(parts)+"; "+content.SeeRest(r)+".")
	}
	if words := content.Unlisted(r); words != "" {
		sentences = append(sentences, content.UpperFirst(words)+".")
	}
	return strings.Join(sentences, " ")
}
