package lane

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"
)

// Two types are written alike where go/types, which is large, writes them alike.
func TestSource(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	texts := [][]byte{[]byte("package x\ntype T[K, V any, I interface{ ~int | ~string; M(a, b int) }] struct{ m map[K]*V; f func(...int) <-chan V; s struct{ A int `x` } }\n" +
		"type U[K any] struct{ T[K, int, int]; s struct{ A int `y` }; a [2]int; e [3]int; i interface{}; g func(a, b int); h func(a int, b int) }\n")}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	ours, theirs := map[string]string{}, map[string]string{}
	for _, text := range texts {
		file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var of ast.Expr
			switch n := n.(type) {
			case *ast.Field:
				of = n.Type
			case *ast.TypeSpec:
				of = n.Type
			default:
				return true
			}
			want := types.ExprString(of)
			got := source(of)
			if before, known := ours[want]; known && before != got {
				t.Errorf("%s is written %q and %q", want, before, got)
			}
			if before, known := theirs[got]; known && before != want {
				t.Errorf("%q stands for %s and %s", got, before, want)
			}
			ours[want], theirs[got] = got, want
			return true
		})
	}
	if len(ours) < 100 {
		t.Errorf("only %d types", len(ours))
	}
}
