package lane

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
)

// exportsOf are expressions for one line that declares something for others, by
// the extension of the file. Their groups are what names it.
var exportsOf = map[string]*regexp.Regexp{
	".go": regexp.MustCompile(`^(func|type|var|const) (?:\((?:\w+ )?\*?([A-Z]\w*)(?:\[[^\]]*\])?\) )?([A-Z]\w*)`),
	".rs": regexp.MustCompile(`^\s*pub (?:async |unsafe |const )*(fn|struct|enum|trait|type|static|mod|macro) (\w+)`),
}

// declaresValue is a line of Go that declares no function and no type.
var declaresValue = regexp.MustCompile(`^(var|const) `)

// export is what a line declares for other packages, empty for nothing.
func export(line Line) string {
	expression := exportsOf[extension(line.Path)]
	if expression == nil {
		return ""
	}
	groups := expression.FindStringSubmatch(line.Text)
	if groups == nil {
		return ""
	}
	return path.Dir(line.Path) + ": " + strings.Join(groups[1:], " ")
}

// signature is what a line declares, without what makes no difference to others:
// white space, the names of parameters and results, and what follows in the line.
func signature(line Line) string {
	text := string(normal([]byte(line.Text)))
	if extension(line.Path) != ".go" || !strings.HasPrefix(text, "func ") {
		return text
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+strings.TrimSuffix(text, "{"), parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	function, ok := file.Decls[0].(*ast.FuncDecl)
	if !ok {
		return text
	}
	var out strings.Builder
	for _, list := range []*ast.FieldList{function.Type.TypeParams, function.Type.Params, function.Type.Results} {
		if list == nil {
			continue
		}
		out.WriteString("(")
		for _, field := range list.List {
			out.WriteString(strings.Repeat(types.ExprString(field.Type)+",", max(1, len(field.Names))))
		}
		out.WriteString(")")
	}
	return out.String()
}

// Declares reports whether the lines of a file declare something for others.
func (f *File) Declares() bool { return len(f.exports) > 0 }

// DropPrograms forgets what files declare that belong to a program: below a
// directory of the tree that holds main.go or main.rs, where nobody imports it.
func DropPrograms(files []File, tree []string) {
	programs := map[string]bool{}
	for _, name := range tree {
		if base := path.Base(name); base == "main.go" || base == "main.rs" {
			programs[path.Dir(name)+path.Ext(name)] = true
		}
	}
	for i := range files {
		for dir := path.Dir(files[i].Path); ; dir = path.Dir(dir) {
			if programs[dir+path.Ext(files[i].Path)] {
				files[i].exports = nil
			}
			if dir == "." {
				break
			}
		}
	}
}
