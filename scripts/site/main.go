// Site makes the project's web site from README.md and docs/, and fails if a link or an anchor has no target:
//
//	go run ./scripts/site [-version TAG] [-versions LIST] OUT
//
// Paths are as in the repository, so that the pages' links work in both places: beside each page is its Markdown. Each rule has its own
// page, to which findings link, and llms.txt lists all pages. The root is the main branch; a release has a folder with its tag's name, made
// by this program as of that tag.
package main

import (
	"bytes"
	_ "embed" // the pages' templates
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/report/content"
)

var (
	//go:embed page.html
	pageText string
	//go:embed style.css
	style []byte
	//go:embed search.js
	script []byte

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// site is the result.
type site struct {
	version string // main, or a release's tag
	pages   []*page
	files   map[string][]byte // by path on the site
	wanted  []anchor
	errs    []error
}

// anchor is the target of a link: from a page, on a page.
type anchor struct{ from, on, id string }

func main() {
	s := site{files: map[string][]byte{"style.css": style, "search.js": script}}
	flag.StringVar(&s.version, "version", "main", "make the folder of the release `TAG`")
	versions := flag.String("versions", "", "the `LIST` of the releases' tags, with spaces, for the root's page of them")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "site: name the folder to write to; see -help")
		os.Exit(2)
	}
	if err := s.make(flag.Arg(0), strings.Fields(*versions)); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "%d pages; every link and anchor leads somewhere\n", len(s.pages))
}

func (s *site) make(out string, versions []string) error {
	if err := s.read(versions); err != nil {
		return err
	}
	for _, p := range s.pages {
		if err := s.render(p); err != nil {
			return fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	s.check()
	if err := errors.Join(s.errs...); err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	for name, data := range s.files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var ruleHead = regexp.MustCompile(`(?m)^<a id="[a-z0-9-]+"></a>\n\n## (([a-z-]+)/[a-z0-9-]+)\n`)

// read reads the pages, and extracts the rules' pages from those of their families.
func (s *site) read(versions []string) error {
	files := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := string(data)
		heads := ruleHead.FindAllStringSubmatchIndex(text, -1)
		s.pages = append(s.pages, &page{Source: filepath.ToSlash(file), text: text, isFamily: len(heads) > 0})
		for i, at := range heads {
			end := len(text)
			if i+1 < len(heads) {
				end = heads[i+1][0]
			}
			id, family := text[at[2]:at[3]], text[at[4]:at[5]]
			s.pages = append(s.pages, &page{Source: "docs/rules/" + id + ".md", IsRule: true, text: fmt.Sprintf(
				"# %s\n%s\n[Rules: %s](../%s.md) · [All rules](../../rules.md) · [How to read the examples](../../rules.md#how-to-read-the-examples)\n", id, text[at[1]:end], family, family)})
		}
	}
	if s.version == "main" {
		text := "# Versions\n\n- [main](README.md), which is not released yet\n"
		for _, v := range versions {
			text += fmt.Sprintf("- [%s](%s%s/)\n", v, wording.Site, v)
		}
		s.pages = append(s.pages, &page{Source: "versions.md", text: text})
	}
	return nil
}

func (s *site) page(source string) *page {
	if i := slices.IndexFunc(s.pages, func(p *page) bool { return p.Source == source }); i >= 0 {
		return s.pages[i]
	}
	return nil
}

// link is the target of a page's link: another page, whose name ends in suffix, a file of docs, or a place in the repository.
func (s *site) link(p *page, to, suffix string) string {
	place, id, _ := strings.Cut(to, "#")
	file := path.Join(path.Dir(p.Source), place)
	if inRepository, ok := strings.CutPrefix(place, wording.Project+"/blob/main/"); ok {
		file = inRepository
	} else if strings.Contains(place, ":") {
		return to
	}
	if place == "" {
		file = p.Source
	}
	if id != "" {
		s.wanted, id = append(s.wanted, anchor{p.Source, file, id}), "#"+id
	}
	if on := s.page(file); on != nil {
		if file == p.Source || strings.Contains(place, ":") {
			return to
		}
		if suffix == ".html" {
			place = path.Join(path.Dir(place), path.Base(on.Name()))
		}
		return strings.TrimSuffix(place, ".md") + suffix + id
	}
	info, err := os.Stat(file)
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s links to %s: %w", p.Source, to, err))
		return to
	}
	if strings.HasPrefix(file, "docs/") && !info.IsDir() {
		if s.files[file], err = os.ReadFile(file); err != nil {
			s.errs = append(s.errs, err)
		}
		return to
	}
	return wording.Project + "/blob/" + s.version + "/" + file + id
}

// check demands that the anchors of links exist, and that each rule has the page to which findings link.
func (s *site) check() {
	for _, a := range s.wanted {
		if on := s.page(a.on); on != nil && !on.ids[a.id] {
			s.errs = append(s.errs, fmt.Errorf("%s links to %s#%s, and there is no such heading", a.from, a.on, a.id))
		}
	}
	for _, r := range catalogue.All() {
		if p := s.page("docs/rules/" + r.ID + ".md"); p == nil || content.RulePage(r.ID) != wording.Site+p.Name()+".html" {
			s.errs = append(s.errs, fmt.Errorf("%s has no page at %s", r.ID, content.RulePage(r.ID)))
		}
	}
}

// finish adds the pages, the search's data, and llms.txt. Every page links to the README's pages, in its order, and then to all others
// except the rules'.
func (s *site) finish() error {
	var menu []*page
	var pageList, ruleList strings.Builder
	var sections []section
	for _, m := range inMarkdown.FindAllStringSubmatch(s.pages[0].text, -1) {
		place, _, _ := strings.Cut(m[1], "#")
		if p := s.page(place); p != nil && !slices.Contains(menu, p) {
			menu = append(menu, p)
		}
	}
	base := wording.Site
	if s.version != "main" {
		base += s.version + "/"
	}
	for _, p := range s.pages {
		list := &pageList
		if p.IsRule {
			list = &ruleList
		}
		intro, _, _ := strings.Cut(p.intro, ". ")
		fmt.Fprintf(list, "- [%s](%s%s): %s\n", p.Title, base, p.Source, strings.TrimSuffix(intro, "."))
		if !p.IsRule && !p.isFamily && p.Title != "small-gate" && !slices.Contains(menu, p) {
			menu = append(menu, p)
		}
		sections = append(sections, p.sections...)
	}
	s.files["llms.txt"] = fmt.Appendf(nil, "# small-gate\n\n> %s\n\n## Pages\n\n%s\n## Rules\n\n%s", s.pages[0].intro, &pageList, &ruleList)
	for _, p := range s.pages {
		var out bytes.Buffer
		if err := pageTemplate.Execute(&out, map[string]any{"Page": p, "Version": s.version, "Versions": wording.Site + "versions.html", "Project": wording.Project, "Menu": menu}); err != nil {
			return err
		}
		s.files[p.Name()+".html"], s.files[p.Source] = out.Bytes(), []byte(p.twin)
	}
	var err error
	s.files["search.json"], err = json.Marshal(sections)
	return err
}
