package lane

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// source is a file's text and where its declarations stand in it.
type source struct {
	text []byte
	set  *token.FileSet
}

// written is a type as others see it: neither white space nor the names of
// parameters make a difference. (go/types could write it too, and would make the
// program a twelfth larger for that.)
func (s source) written(expr ast.Expr) string {
	var b bytes.Buffer
	s.write(&b, expr)
	return b.String()
}

func (s source) write(b *bytes.Buffer, expr ast.Expr) {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		b.WriteByte('(')
		s.write(b, e.X)
		b.WriteByte(')')
	case *ast.StarExpr:
		b.WriteByte('*')
		s.write(b, e.X)
	case *ast.Ellipsis:
		b.WriteString("...")
		if e.Elt != nil {
			s.write(b, e.Elt)
		}
	case *ast.ArrayType:
		b.WriteByte('[')
		if e.Len != nil {
			b.WriteString(s.original(e.Len))
		}
		b.WriteByte(']')
		s.write(b, e.Elt)
	case *ast.MapType:
		b.WriteString("map[")
		s.write(b, e.Key)
		b.WriteByte(']')
		s.write(b, e.Value)
	case *ast.ChanType:
		b.WriteString(map[ast.ChanDir]string{ast.SEND: "chan<- (", ast.RECV: "<-chan (", ast.SEND | ast.RECV: "chan ("}[e.Dir])
		s.write(b, e.Value)
		b.WriteByte(')')
	case *ast.FuncType:
		b.WriteString("func(")
		s.fields(b, e.Params, false)
		b.WriteString(") (")
		s.fields(b, e.Results, false)
		b.WriteByte(')')
	case *ast.StructType:
		b.WriteString("struct{")
		s.fields(b, e.Fields, true)
		b.WriteByte('}')
	case *ast.InterfaceType:
		b.WriteString("interface{")
		s.fields(b, e.Methods, true)
		b.WriteByte('}')
	default:
		b.WriteString(s.original(expr))
	}
}

// fields are parameters, or the members of a struct or an interface with their
// names. Types that are the same one after the other are written once, with how
// often: (a, b int) is (int, int), and a list of names makes nothing long.
func (s source) fields(b *bytes.Buffer, list *ast.FieldList, named bool) {
	if list == nil {
		return
	}
	var counts []int
	var names []string
	start, end := 0, 0 // where the last type stands
	for _, f := range list.List {
		from := b.Len()
		s.write(b, f.Type)
		if named && f.Tag != nil {
			b.WriteString(" " + f.Tag.Value)
		}
		if len(counts) > 0 && bytes.Equal(b.Bytes()[from:], b.Bytes()[start:end]) {
			b.Truncate(from)
			counts[len(counts)-1] += max(1, len(f.Names))
		} else {
			start, end = from, b.Len()
			counts = append(counts, max(1, len(f.Names)))
			b.WriteString(", ")
		}
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
		if len(f.Names) == 0 {
			names = append(names, "")
		}
	}
	fmt.Fprint(b, counts)
	if named {
		b.WriteString(strings.Join(names, ","))
	}
}

// original is a piece of a file as it is written, white space aside; empty for
// one that is cut off by an error.
func (s source) original(node ast.Node) string {
	from, to := s.set.PositionFor(node.Pos(), false).Offset, s.set.PositionFor(node.End(), false).Offset
	if from < 0 || to > len(s.text) || from > to {
		return ""
	}
	return strings.Join(strings.Fields(string(s.text[from:to])), " ")
}

// typeOf is the type of a value where that is plain to see, else a question
// mark.
func (s source) typeOf(value ast.Expr) string {
	switch v := value.(type) {
	case *ast.BasicLit:
		return map[token.Token]string{token.INT: "int", token.FLOAT: "float64", token.IMAG: "complex128", token.CHAR: "rune", token.STRING: "string"}[v.Kind]
	case *ast.Ident:
		if v.Name == "true" || v.Name == "false" {
			return "bool"
		}
	case *ast.CompositeLit:
		if v.Type != nil {
			return s.written(v.Type)
		}
	case *ast.FuncLit:
		return s.written(v.Type)
	case *ast.UnaryExpr:
		if of := s.typeOf(v.X); v.Op == token.AND && of != "?" {
			return "*" + of
		}
	}
	return "?"
}

// parameters is a list of type parameters as it is written, white space aside;
// empty where there is none.
func (s source) parameters(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	return s.original(list)
}
