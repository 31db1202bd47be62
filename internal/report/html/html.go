// Package html writes a report as one page that needs neither network nor script: the outcome, the findings by rule and commit, and the
// entries of each log.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"html/template"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/small"
)

const (
	// maxSize is the size limit for the findings and logs of a page, in bytes.
	maxSize = 4 << 20
	// maxFindings is the largest number of findings that are shown.
	maxFindings = 300
	// maxLogs is the largest number of logs that are listed.
	maxLogs = 30
)

var (
	//go:embed report.html
	pageText string
	//go:embed style.css
	pageStyle string
)

// pageTemplate parses the template for the first page; most runs make no page.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) { return template.New("page").Parse(pageText) })

// contentPolicy is the Content-Security-Policy: it allows the page's own style and nothing else.
var contentPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
})

// page collects the parts of a page. A part that does not fit is left out.
type page struct {
	report *finding.Report
	parts  *template.Template
	// body is what follows the index.
	body bytes.Buffer
	// groups are the groups in the index.
	groups []group
	// fixes maps each fix to the id of the group that shows it first.
	fixes map[string]string
	// shown are the findings that are on the page.
	shown []numbered
	// hiddenFindings and hiddenLogs count what was left out.
	hiddenFindings, hiddenLogs int
}

// Render appends the report. version is the program's.
func Render(buf *bytes.Buffer, r *finding.Report, version string) error {
	parts, err := pageTemplate()
	if err != nil {
		return err
	}
	p := &page{report: r, parts: parts, fixes: map[string]string{}}
	if err := p.findings(); err != nil {
		return err
	}
	top := headOf(r)
	if err := p.write("judged", top.Facts); err != nil {
		return err
	}
	if err := p.logs(); err != nil {
		return err
	}
	if err := parts.ExecuteTemplate(buf, "head", top); err != nil {
		return err
	}
	if len(p.groups) > 1 {
		if err := parts.ExecuteTemplate(buf, "index", p.groups); err != nil {
			return err
		}
	}
	buf.Write(p.body.Bytes())
	return parts.ExecuteTemplate(buf, "tail", map[string]string{"Version": content.Name(version), "Left": p.left()})
}

// write appends a part to the body.
func (p *page) write(part string, data any) error {
	return p.parts.ExecuteTemplate(&p.body, part, data)
}

// fit appends a part to the body if there is room.
func (p *page) fit(part string, data any) (fits bool, err error) {
	size := p.body.Len()
	if err := p.write(part, data); err != nil {
		return false, err
	}
	if p.body.Len() > maxSize {
		p.body.Truncate(size)
		return false, nil
	}
	return true, nil
}

// logs writes the logs of the tip.
func (p *page) logs() error {
	type key struct {
		path string
		head small.Digest
	}
	seen := map[key]bool{}
	for i := range p.report.Ledgers {
		l := &p.report.Ledgers[i]
		if k := (key{l.Path, l.Head}); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		if len(seen) == 1 {
			if err := p.write("section", section{"logs", "Logs"}); err != nil {
				return err
			}
		}
		fits := len(seen) <= maxLogs
		if fits {
			var err error
			if fits, err = p.fit("log", p.logOf(l, len(seen))); err != nil {
				return err
			}
		}
		if !fits {
			p.hiddenLogs++
		}
	}
	if len(seen) > 0 {
		return p.write("close", nil)
	}
	return nil
}

// section is a part of the page with a title.
type section struct{ ID, Title string }

// left says what the page leaves out; empty if it shows everything.
func (p *page) left() string {
	var parts, sentences []string
	if p.hiddenFindings > 0 {
		parts = append(parts, wording.Count(p.hiddenFindings, "more finding"))
	}
	if p.hiddenLogs > 0 {
		parts = append(parts, wording.Count(p.hiddenLogs, "more log"))
	}
	if len(parts) > 0 {
		sentences = append(sentences, wording.List(parts, "and")+"; "+content.SeeRest(p.report)+".")
	}
	if words := content.ListedNowhere(p.report); words != "" {
		sentences = append(sentences, content.UpperFirst(words)+".")
	}
	return strings.Join(sentences, " ")
}
