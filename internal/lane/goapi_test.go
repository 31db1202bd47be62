package lane

import (
	"slices"
	"strings"
	"testing"
)

func TestNewNames(t *testing.T) {
	for _, tt := range []struct{ name, before, after, want string }{
		{"nothing", "package x\n", "package x\n", ""},
		{"a new file", "", "package x\nfunc F() {}\nfunc f() {}\nvar V, w = 1, 2\nconst C = 1\n", "C F V"},
		{"a body", "package x\nfunc F() {}\n", "package x\nfunc F() { println() }\n", ""},
		{"white space", "package x\nfunc F(a int, b int) {}\n", "package x\n\n// F does it.\nfunc F(a  int,\tb int) {}\n", ""},
		{"a signature", "package x\nfunc F() {}\n", "package x\nfunc F(a int) {}\n", "F"},
		{"a type parameter", "package x\nfunc F(a int) {}\n", "package x\nfunc F[T any](a int) {}\n", "F"},
		{"less than before", "package x\nfunc F() {}\nfunc G() {}\n", "package x\nfunc F() {}\n", ""},
		{"a method", "package x\ntype T int\ntype t int\n", "package x\ntype T int\ntype t int\nfunc (T) M() {}\nfunc (*T) N() {}\nfunc (t) O() {}\nfunc (T) p() {}\n", "T.M T.N"},
		{"a method of a generic type", "package x\ntype T[A, B any] struct{}\n", "package x\ntype T[A, B any] struct{}\nfunc (*T[A, B]) M() {}\n", "T.M"},
		{"fields", "package x\ntype T struct{ A int }\n", "package x\ntype T struct{ A, B int; c int; E }\n", "T.B T.E"},
		{"an interface", "package x\ntype I interface{ A() }\n", "package x\ntype I interface{ A(); B(); io.Reader }\n", "I.B I.io.Reader"},
		{"an alias", "package x\ntype T = int\n", "package x\ntype T int\n", ""},
		{"another type", "package x\ntype T int\n", "package x\ntype T string\n", "T"},
		{"a variable's type", "package x\nvar V int\n", "package x\nvar V string\n", "V"},
		{"a command", "", "package main\nfunc F() {}\n", ""},
		{"what was no Go", "package x\nfunc F( {\n", "package x\nfunc F() {}\n", "F"},
		{"line directives", "package x\n//line a.go:1000\nfunc F() {}\n", "package x\n//line b.go:7\nfunc F() {}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before []byte
			if tt.before != "" {
				before = []byte(tt.before)
			}
			got, ok := NewNames(before, []byte(tt.after))
			if want := strings.Fields(tt.want); !ok || !slices.Equal(got, want) {
				t.Errorf("%q, %v; want %q", got, ok, want)
			}
		})
	}
	if names, ok := NewNames(nil, []byte("package x\nfunc F( {\n")); ok {
		t.Errorf("what is no Go offers %q", names)
	}
}

func TestReadsAPI(t *testing.T) {
	for name, want := range map[string]bool{
		"a.go": true, "pkg/a.go": true, "a_test.go": false, "internal/a.go": false, "x/internal/y/a.go": false, "internals/a.go": true,
		"testdata/a.go": false, "vendor/x/a.go": false, "_old/a.go": false, ".git/a.go": false, "a.py": false,
	} {
		if ReadsAPI(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func FuzzNewNames(f *testing.F) {
	f.Add([]byte("package x\n"), []byte("package x\n//line :9999999\ntype T struct{ A int; io.Reader }\nfunc (t *T) M() {}\n"))
	f.Add([]byte("package x\ntype I interface{ ~int | F() }"), []byte("\ufeffpackage x\nvar A, B = 1, 2"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if names, ok := NewNames(after, after); ok && len(names) > 0 {
			t.Errorf("the same file offers %q anew", names)
		}
		NewNames(before, after)
	})
}
