package main

import (
	"errors"
	"strings"
	"testing"
)

// A link without a target is an error, and a link out of the pages goes to the repository.
func TestLinks(t *testing.T) {
	t.Chdir("../..")
	s := site{version: "v1.2.3", files: map[string][]byte{}}
	p := &page{Source: "docs/a.md", text: "# A *page* of [ours](b.md)\n\nText. More.\n\n## One `two`, three_four\n\n## One two three_four\n\n" +
		"[1](#a-page-of-ours) [2](b.md#one-two-three_four-1) [3](../LICENSE) [4](https://example.com/x.md) [5](rejection.svg) `[6](%s)`\n\n" +
		"[7](../README.md#install) [8](nothing.md) [9](#nothing) [10](b.md#nothing) ![11](nothing.svg)\n"}
	b := &page{Source: "docs/b.md", text: "## One two three_four\n\n## One two three_four\n"}
	s.pages = []*page{{Source: "README.md", text: "# small-gate\n\n## Install\n"}, p, b}
	for _, p := range s.pages {
		if err := s.render(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range s.wanted {
		if on := s.page(a.on); !on.ids[a.id] && a.id != "nothing" {
			t.Errorf("%+v is not among %v", a, on.ids)
		}
	}
	for _, want := range []string{
		`href="b.html#one-two-three_four-1"`, `href="https://github.com/small-gate/small-gate/blob/v1.2.3/LICENSE"`, `href="https://example.com/x.md"`,
		`href="rejection.svg"`, `href="../index.html#install"`, `<code>[6](%s)</code>`, `id="one-two-three_four-1"`,
	} {
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("no %s in\n%s", want, p.Body)
		}
	}
	if !strings.Contains(p.twin, "(b.md#one-two-three_four-1) [3](https://github.com/small-gate/small-gate/blob/v1.2.3/LICENSE)") {
		t.Errorf("the Markdown is\n%s", p.twin)
	}
	if p.Title != "A page of ours" || p.intro != "Text. More." || len(p.sections) != 3 {
		t.Errorf("%q %q %+v", p.Title, p.intro, p.sections)
	}
	s.check()
	said := errors.Join(s.errs...).Error()
	for _, want := range []string{
		"docs/a.md links to docs/a.md#nothing, and", "docs/a.md links to docs/b.md#nothing, and", "links to nothing.md:", "links to nothing.svg:",
		"append-only/modified has no page at https://",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
}
