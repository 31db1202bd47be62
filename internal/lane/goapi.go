package lane

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// ReadsAPI reports whether NewNames can say what a file offers: Go's own rules
// make that plain, and for other languages paths have to do. What lies below
// internal, in a command, in testdata or vendor, and tests, offers nothing to
// others (go help packages).
func ReadsAPI(name string) bool {
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if dir == "internal" || dir == "testdata" || dir == "vendor" || strings.HasPrefix(dir, "_") || dir != "." && strings.HasPrefix(dir, ".") {
			return false
		}
	}
	return true
}

// NewNames lists what the new version of a Go file offers to other packages and
// the old one did not: names that are exported, of declarations, methods, fields
// and methods of interfaces, and those whose declaration differs. nil stands
// for a file that is not there. ok is false if the new version cannot be read as
// Go.
func NewNames(before, after []byte) (names []string, ok bool) {
	now, ok := exported(after)
	if !ok {
		return nil, false
	}
	old, _ := exported(before) // what could not be read offered nothing
	for name, text := range now {
		if was, there := old[name]; !there || was != text {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, true
}

// exported maps the names that a file offers to what their declarations say.
func exported(text []byte) (map[string]string, bool) {
	out := map[string]string{}
	if text == nil {
		return out, true
	}
	src := source{text: text, set: token.NewFileSet()}
	file, err := parser.ParseFile(src.set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return out, false
	}
	if file.Name.Name == "main" {
		return out, true
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			addFunc(out, src, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				addSpec(out, src, d.Tok, spec)
			}
		}
	}
	return out, true
}

func addFunc(out map[string]string, src source, d *ast.FuncDecl) {
	name := d.Name.Name
	if !d.Name.IsExported() {
		return
	}
	if d.Recv != nil && len(d.Recv.List) == 1 {
		receiver := receiverName(d.Recv.List[0].Type)
		if !ast.IsExported(receiver) {
			return
		}
		name = receiver + "." + name
	}
	out[name] = src.written(d.Type)
}

// receiverName is the name of a method's type.
func receiverName(expr ast.Expr) string {
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func addSpec(out map[string]string, src source, kind token.Token, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				out[name.Name] = kind.String()
				if s.Type != nil {
					out[name.Name] += " " + src.written(s.Type)
				}
			}
		}
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			addType(out, src, s)
		}
	}
}

// addType adds a type, and what can be reached through it.
func addType(out map[string]string, src source, s *ast.TypeSpec) {
	name := s.Name.Name
	fields := func(kind string, list *ast.FieldList) {
		out[name] = kind + " " + src.parameters(s.TypeParams)
		for _, f := range list.List {
			for _, ident := range f.Names {
				if ident.IsExported() {
					out[name+"."+ident.Name] = src.written(f.Type)
				}
			}
			if len(f.Names) == 0 { // embedded
				out[name+"."+src.written(f.Type)] = "embedded"
			}
		}
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields("struct", t.Fields)
	case *ast.InterfaceType:
		fields("interface", t.Methods)
	default:
		out[name] = src.parameters(s.TypeParams) + " " + src.written(s.Type)
	}
}

// source is a file's text and where its declarations stand in it.
type source struct {
	text []byte
	set  *token.FileSet
}

// written is a piece of a declaration as it is written, white space aside.
func (s source) written(node ast.Node) string {
	from, to := s.set.PositionFor(node.Pos(), false).Offset, s.set.PositionFor(node.End(), false).Offset
	return strings.Join(strings.Fields(string(s.text[from:to])), " ")
}

// parameters is a list of type parameters; empty where there is none.
func (s source) parameters(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	return s.written(list)
}
