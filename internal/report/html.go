package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"html/template"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

const (
	// maxPage is how many bytes of findings and logs a page has.
	maxPage = 4 << 20
	// maxPageFindings is how many findings are told in full.
	maxPageFindings = 300
	// maxPageLogs is how many logs are drawn.
	maxPageLogs = 30
)

var (
	//go:embed page/report.html
	pageText string
	//go:embed page/style.css
	pageStyle string
)

// pageTemplate is parsed when the first page is made: most runs make none.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) { return template.New("page").Parse(pageText) })

// htmlPage gathers the parts of a page. A part that does not fit is left out.
type htmlPage struct {
	buf   *bytes.Buffer
	parts *template.Template
}

// renderHTML writes the report as one page that needs neither network nor
// script: the verdict, each log as a timeline, each finding with what stood
// there before. The page's own policy lets nothing in but its style.
func renderHTML(buf *bytes.Buffer, r *finding.Report, opts Options) error {
	parts, err := pageTemplate()
	if err != nil {
		return err
	}
	p := &htmlPage{buf: buf, parts: parts}
	if err := p.write("head", pageHeadOf(r)); err != nil {
		return err
	}
	errors := numbered(r)
	hiddenLogs, err := p.logs(r, errors)
	if err != nil {
		return err
	}
	hidden, err := p.findings("Findings", errors.shown, "")
	if err != nil {
		return err
	}
	hidden += errors.hidden
	more, err := p.findings("Waived", errors.waived, "waived")
	if err != nil {
		return err
	}
	return p.write("tail", pageTail{Version: clip(opts.Version, maxName), Left: leftWords(r, hidden+more+errors.hiddenWaived, hiddenLogs)})
}

// write appends a part.
func (p *htmlPage) write(part string, data any) error {
	return p.parts.ExecuteTemplate(p.buf, part, data)
}

// fits appends a part if there is room for it.
func (p *htmlPage) fits(part string, data any) (bool, error) {
	var text bytes.Buffer
	if err := p.parts.ExecuteTemplate(&text, part, data); err != nil {
		return false, err
	}
	if p.buf.Len()+text.Len() > maxPage {
		return false, nil
	}
	p.buf.Write(text.Bytes())
	return true, nil
}

// logs writes the logs of the tip and returns how many it left out.
func (p *htmlPage) logs(r *finding.Report, found findingNumbers) (hidden int, err error) {
	type key struct {
		path string
		head [sha256.Size]byte
	}
	seen := map[key]bool{}
	shown := 0
	for i := range r.Ledgers {
		l := &r.Ledgers[i]
		if k := (key{l.Path, l.Head}); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		if shown == 0 {
			if err := p.write("key", nil); err != nil {
				return 0, err
			}
		}
		if shown++; shown > maxPageLogs {
			hidden++
			continue
		}
		ok, err := p.fits("log", pageLogOf(r, l, found))
		if err != nil {
			return 0, err
		}
		if !ok {
			hidden++
		}
	}
	return hidden, nil
}

// findings writes findings under a title and returns how many it left out.
func (p *htmlPage) findings(title string, list []numberedFinding, class string) (hidden int, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	if err := p.write("findings", title); err != nil {
		return 0, err
	}
	for _, f := range list {
		ok, err := p.fits("finding", pageFindingOf(f, class))
		if err != nil {
			return 0, err
		}
		if !ok {
			hidden++
		}
	}
	return hidden, nil
}

// contentPolicy allows the page its own style and nothing else.
var contentPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
})
