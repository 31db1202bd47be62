package wording

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	pageNamed = regexp.MustCompile(`(\S*?)\bdocs/([\w/-]+\.md)(#[\w-]+)?`)
	addressed = regexp.MustCompile(regexp.QuoteMeta(Docs) + `([\w/-]+\.md)(#[\w-]+)?`)
	headings  = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestPagesAreAddressed demands that no message names one of our pages as docs/NAME, a path that its reader does not have, and that the
// pages of all addresses exist.
func TestPagesAreAddressed(t *testing.T) {
	found := 0
	for _, m := range messages(t) {
		place, text := m[0], m[1]
		for _, m := range pageNamed.FindAllStringSubmatch(addressed.ReplaceAllString(text, ""), -1) {
			if !strings.HasPrefix(m[1], "http") {
				t.Errorf("%s: %s is no address; write wording.Docs + %q", place, m[0], m[2])
			}
		}
		for _, m := range addressed.FindAllStringSubmatch(text, -1) {
			found++
			page, err := os.ReadFile("../../../docs/" + m[1])
			if err != nil || m[2] != "" && !hasAnchor(string(page), m[2][1:]) {
				t.Errorf("%s: %s is not there (%v)", place, m[0], err)
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d addresses", found)
	}
}

// messages are the places and the texts of the program's messages: each string in the code, with Docs in front if it is added to that, and
// the rules' texts up to their examples.
func messages(t *testing.T) (out [][2]string) {
	files := token.NewFileSet()
	read := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(path, "/texts/") && err == nil {
			why, _, _ := strings.Cut(string(data), "\n= wrong\n")
			out = append(out, [2]string{path, why})
		}
		if filepath.Ext(path) != ".go" || err != nil {
			return err
		}
		file, err := parser.ParseFile(files, path, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text := stringOf(n)
			if text != "" {
				out = append(out, [2]string{files.Position(n.Pos()).String(), text})
			}
			return true
		})
		return nil
	}
	for _, root := range []string{"../..", "../../../cmd"} {
		if err := filepath.WalkDir(root, read); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// stringOf is the text of a literal, or of one that is added to Docs.
func stringOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if said, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
			return said
		}
	case *ast.BinaryExpr:
		left := n.X
		if sum, ok := left.(*ast.BinaryExpr); ok {
			left = sum.Y
		}
		if name, ok := left.(*ast.SelectorExpr); ok && name.Sel.Name == "Docs" {
			return Docs + stringOf(n.Y)
		}
	}
	return ""
}

func hasAnchor(page, anchor string) bool {
	if strings.Contains(page, `<a id="`+anchor+`">`) {
		return true
	}
	for _, m := range headings.FindAllStringSubmatch(page, -1) {
		title := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		if regexp.MustCompile(`[^\w-]`).ReplaceAllString(title, "") == anchor {
			return true
		}
	}
	return false
}

var (
	linked = regexp.MustCompile(`\]\(([^)\s]+)\)|<img [^>]*src="([^"]+)"`)
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")
)

// TestPagesLink demands that the targets of our pages' links into this repository exist.
func TestPagesLink(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../../*.md", "../../../docs/*.md", "../../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			target, anchor, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Errorf("%s links to %s: %v", page, m[1]+m[2], err)
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			if there, err := os.ReadFile(file); err != nil || !hasAnchor(string(there), anchor) {
				t.Errorf("%s links to %s, which has no such heading (%v)", page, m[1]+m[2], err)
			}
		}
	}
	if len(pages) < 25 || links < 200 {
		t.Errorf("only %d links on %d pages", links, len(pages))
	}
}
