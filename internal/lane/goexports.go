package lane

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// goExports are what a file of Go declares for other packages, by name: functions
// and methods with the types of their parameters and results, types with their
// fields and methods, variables and constants. A file that does not parse declares
// what was understood of it.
func goExports(text []byte) map[string]declaration {
	fset := token.NewFileSet()
	out := map[string]declaration{}
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil && file == nil || file.Name.Name == "main" {
		return out
	}
	add := func(name string, at ast.Node, form string) {
		out[name] = declaration{form: form, line: fset.Position(at.Pos()).Line}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, receiver := d.Name.Name, ""
			if d.Recv != nil && len(d.Recv.List) == 1 {
				receiver = source(d.Recv.List[0].Type)
				base, _, _ := strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
				if !ast.IsExported(base) {
					continue
				}
				name = base + "." + name
			}
			if d.Name.IsExported() {
				add(name, d, receiver[:min(len(receiver), 1)]+goSignature(d.Type))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							add(n.Name, n, goType(s.Type))
						}
					}
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						addGoType(s, add)
					}
				}
			}
		}
	}
	return out
}

// addGoType adds a type and its fields and methods that are exported.
func addGoType(s *ast.TypeSpec, add func(string, ast.Node, string)) {
	var members *ast.FieldList
	form := "" // what it is of, where it is not of members
	switch t := s.Type.(type) {
	case *ast.StructType:
		members, form = t.Fields, "struct"
	case *ast.InterfaceType:
		members, form = t.Methods, "interface"
	default:
		form = source(t)
	}
	form += goFields(s.TypeParams)
	if s.Assign.IsValid() {
		form = "= " + form
	}
	add(s.Name.Name, s, form)
	if members == nil {
		return
	}
	for _, m := range members.List {
		of := source(m.Type)
		if f, is := m.Type.(*ast.FuncType); is {
			of = goSignature(f)
		}
		for _, n := range m.Names {
			if n.IsExported() {
				add(s.Name.Name+"."+n.Name, n, of)
			}
		}
		if len(m.Names) == 0 { // it is embedded
			add(s.Name.Name+"."+of, m, "")
		}
	}
}

// goSignature is a function's type without the names of its parameters and results.
func goSignature(t *ast.FuncType) string {
	return goFields(t.TypeParams) + goFields(t.Params) + goFields(t.Results)
}

// goFields are the types of a list of parameters.
func goFields(list *ast.FieldList) string {
	var out strings.Builder
	if list != nil {
		for _, field := range list.List {
			out.WriteString(strings.Repeat(source(field.Type)+",", max(1, len(field.Names))))
		}
	}
	return "(" + out.String() + ")"
}

// goType is a type as it is written, empty where none is.
func goType(t ast.Expr) string {
	if t == nil {
		return ""
	}
	return source(t)
}

// source is how a type is written, without the tags of its fields.
func source(t ast.Expr) string {
	ast.Inspect(t, func(n ast.Node) bool {
		if field, is := n.(*ast.Field); is {
			field.Tag = nil
		}
		return true
	})
	var out strings.Builder
	if err := printer.Fprint(&out, token.NewFileSet(), t); err != nil {
		return err.Error() // of a text that is not Go, and the same each time
	}
	return out.String()
}
