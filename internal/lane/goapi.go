package lane

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// Surface is what a file of Go offers to other packages: exported names, of
// declarations, methods, fields and methods of interfaces, with what their
// declarations say, as far as others can tell.
type Surface map[string]string

// ReadsAPI reports whether ReadSurface can say what a file offers: Go's own rules
// make that plain, and for other languages paths have to do. What lies below
// internal, in a command, in testdata or vendor, tests, and names that begin with
// _ or a dot offer nothing to others (go help packages).
func ReadsAPI(name string) bool {
	base := path.Base(name)
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || base[0] == '_' || base[0] == '.' {
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if dir == "internal" || dir == "testdata" || dir == "vendor" || strings.HasPrefix(dir, "_") || dir != "." && strings.HasPrefix(dir, ".") {
			return false
		}
	}
	return true
}

// ComparePackages finds the names that are new in what packages of Go offer, and
// those that they lack now. The files of a directory are compared together: what
// moves from one to another is neither.
func ComparePackages(files []File) {
	was, is, unread := map[string]map[string][]string{}, map[string]map[string][]string{}, map[string]bool{}
	for i := range files {
		f := &files[i]
		dir := path.Dir(f.Path)
		collect(was, dir, f.Before)
		collect(is, dir, f.After)
		if f.Before != nil && !f.Looked {
			unread[dir] = true
		}
	}
	for i := range files {
		f := &files[i]
		dir := path.Dir(f.Path)
		for name, text := range f.After {
			if !slices.Contains(was[dir][name], text) {
				f.API = append(f.API, name)
			}
		}
		for name := range f.Before {
			if is[dir][name] == nil && !unread[dir] {
				f.Gone = append(f.Gone, name)
			}
		}
		slices.Sort(f.API)
		slices.Sort(f.Gone)
	}
}

// collect adds what a file offers to what its package does: for each name what
// its declarations say, of which a package can have one for each platform.
func collect(packages map[string]map[string][]string, dir string, offered Surface) {
	if packages[dir] == nil {
		packages[dir] = map[string][]string{}
	}
	for name, text := range offered {
		packages[dir][name] = append(packages[dir][name], text)
	}
}

// ReadSurface reads what a file of Go offers; nil stands for a file that is not
// there. ok is false if there is an error in its syntax: then what could be read
// is told.
func ReadSurface(text []byte) (offered Surface, ok bool) {
	out := Surface{}
	if text == nil {
		return out, true
	}
	src := source{text: text, set: token.NewFileSet()}
	file, err := parser.ParseFile(src.set, "", text, parser.SkipObjectResolution|parser.ParseComments|parser.AllErrors)
	if file == nil || file.Name.Name == "main" || ignored(file) {
		return out, err == nil
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
	return out, err == nil
}

// ignored reports whether a file is left out of every build, by the tag that is
// the custom for that (go help buildconstraint).
func ignored(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() > file.Package || !constraint.IsGoBuild(c.Text) && !constraint.IsPlusBuild(c.Text) {
				continue
			}
			if expr, err := constraint.Parse(c.Text); err == nil && wantsIgnore(expr) {
				return true
			}
		}
	}
	return false
}

// wantsIgnore reports whether a constraint cannot hold without the tag ignore.
func wantsIgnore(expr constraint.Expr) bool {
	switch e := expr.(type) {
	case *constraint.TagExpr:
		return e.Tag == "ignore"
	case *constraint.AndExpr:
		return wantsIgnore(e.X) || wantsIgnore(e.Y)
	case *constraint.OrExpr:
		return wantsIgnore(e.X) && wantsIgnore(e.Y)
	}
	return false
}

func addFunc(out Surface, src source, d *ast.FuncDecl) {
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
	out[name] = src.parameters(d.Type.TypeParams) + src.written(d.Type)
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

func addSpec(out Surface, src source, kind token.Token, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		typed := kind.String()
		if s.Type != nil {
			typed += " " + src.written(s.Type)
		}
		for i, name := range s.Names {
			if !name.IsExported() {
				continue
			}
			out[name.Name] = typed
			if s.Type == nil && kind == token.VAR && len(s.Values) == len(s.Names) {
				out[name.Name] += " " + src.typeOf(s.Values[i])
			}
		}
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			addType(out, src, s)
		}
	}
}

// addType adds a type, and what can be reached through it.
func addType(out Surface, src source, s *ast.TypeSpec) {
	name := s.Name.Name
	fields := func(kind string, list *ast.FieldList) {
		out[name] = kind + " " + src.parameters(s.TypeParams)
		for _, f := range list.List {
			typed := src.written(f.Type)
			for _, ident := range f.Names {
				if ident.IsExported() {
					out[name+"."+ident.Name] = typed
				}
			}
			if len(f.Names) == 0 {
				out[name+"."+typed] = "embedded"
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
