package lane

import (
	"fmt"
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
		{"what was no Go", "func F( {\n", "package x\nfunc F() {}\n", "F"},
		{"a parameter's name", "package x\nfunc F(a, b int) (n int, err error) { return }\n", "package x\nfunc F(c int, _ int) (int, error) { return 0, nil }\n", ""},
		{"a parameter of a parameter", "package x\nfunc F(f func(a int)) {}\ntype T func(a int)\n", "package x\nfunc F(g func(int)) {}\ntype T func(b int)\n", ""},
		{"types of all kinds", "package x\nfunc F(a []int, b [2]map[string]*T, c <-chan int, d struct{A, B int}, e interface{ M(a int) }, f G[int], g ...pkg.T) {}\n", "package x\nfunc F(_ []int, _ [2]map[string]*T, _ <-chan int, _ struct{\nA int\nB int}, _ interface{ M(b int) }, _ G[int], h ...pkg.T) {}\n", ""},
		{"another direction", "package x\nfunc F(c <-chan int) {}\nfunc G(a []int) {}\nfunc H(a ...int) {}\nfunc I(a [2]int) {}\n", "package x\nfunc F(c chan<- int) {}\nfunc G(a ...int) {}\nfunc H(a []int) {}\nfunc I(a [3]int) {}\n", "F G H I"},
		{"what it gives", "package x\nfunc F() {}\n", "package x\nfunc F() (err error) { return }\n", "F"},
		{"one parameter less", "package x\nfunc F(a, b int) {}\n", "package x\nfunc F(a int) {}\n", "F"},
		{"a receiver's name", "package x\ntype T int\nfunc (t T) M() {}\n", "package x\ntype T int\nfunc (u T) M() {}\n", ""},
		{"a type that the value tells", "package x\nvar A, B int\nvar C *T\nvar D string\nvar E func()\n", "package x\nvar A, B = 2, 3\nvar C = &T{}\nvar D = \"\"\nvar E = func() {}\n", ""},
		{"another type that the value tells", "package x\nvar V int\n", "package x\nvar V = 2.5\n", "V"},
		{"a type that cannot be seen", "package x\nvar V int\n", "package x\nvar V = f()\n", "V"},
		{"line directives", "package x\n//line a.go:1000\nfunc F() {}\n", "package x\n//line b.go:7\nfunc F() {}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before []byte
			if tt.before != "" {
				before = []byte(tt.before)
			}
			files := compared(before, []byte(tt.after))
			if want := strings.Fields(tt.want); !files[0].Looked || !slices.Equal(files[0].API, want) {
				t.Errorf("%q, %v; want %q", files[0].API, files[0].Looked, want)
			}
		})
	}
}

// compared compares versions of files of one package, given in turns.
func compared(versions ...[]byte) []File {
	var files []File
	for pair := range slices.Chunk(versions, 2) {
		f := File{Path: fmt.Sprintf("p/%d.go", len(files)), Added: pair[0] == nil, Deleted: pair[1] == nil}
		f.Before, _ = ReadSurface(pair[0])
		f.After, f.Looked = ReadSurface(pair[1])
		files = append(files, f)
	}
	ComparePackages(files)
	return files
}

// TestPackages: files of a package are compared together.
func TestPackages(t *testing.T) {
	const f, g, both, broken = "package x\nfunc F() {}\n", "package x\nfunc G() {}\n", "package x\nfunc F() {}\nfunc G() {}\n", "package x\nfunc G() {}\nfunc H( {\nfunc I() {}\n"
	for _, tt := range []struct {
		name, files, added, gone string
	}{
		{"a file that moves", f + "|||" + f, "", ""},
		{"a name that moves", both + "|" + f + "|" + g[:10] + "|" + g, "", ""},
		{"a name that is gone", both + "|" + f, "", "0:G"},
		{"a file that is gone", f + "|", "", "0:F"},
		{"one comes, one goes", f + "|" + g, "0:G", "0:F"},
		{"one for each platform", f + "|" + f + "||" + f, "", ""},
		{"an error further down", "|" + broken, "0:G", ""},
		{"what an error hides is not gone", both + "|" + "package x\nfunc F( {\n", "", ""},
		{"what was no Go", broken + "|" + g, "", ""},
		{"left out of builds", "|//go:build ignore\n\n" + f, "", ""},
		{"left out of builds now", f + "|//go:build linux && ignore\n\n" + f, "", "0:F"},
		{"left out of one system's builds", "|//go:build !linux\n\n" + f, "0:F", ""},
		{"left out of builds, as it was said once", "|// +build ignore\n\n" + f, "", ""},
	} {
		var versions [][]byte
		for _, text := range strings.Split(tt.files, "|") {
			versions = append(versions, nil)
			if text != "" {
				versions[len(versions)-1] = []byte(text)
			}
		}
		var added, gone []string
		for i, file := range compared(versions...) {
			for _, name := range file.API {
				added = append(added, fmt.Sprintf("%d:%s", i, name))
			}
			for _, name := range file.Gone {
				gone = append(gone, fmt.Sprintf("%d:%s", i, name))
			}
		}
		// A parser is free in what it makes of the rest of a broken file.
		added = slices.DeleteFunc(added, func(name string) bool { return name == "0:H" || name == "0:I" })
		gone = slices.DeleteFunc(gone, func(name string) bool { return name == "0:H" || name == "0:I" })
		if strings.Join(added, " ") != tt.added || strings.Join(gone, " ") != tt.gone {
			t.Errorf("%s: new %q, gone %q; want %q, %q", tt.name, added, gone, tt.added, tt.gone)
		}
	}
}

func TestReadsAPI(t *testing.T) {
	for name, want := range map[string]bool{
		"a.go": true, "pkg/a.go": true, "a_test.go": false, "internal/a.go": false, "x/internal/y/a.go": false, "internals/a.go": true,
		"p/test_z.go": true, "p/z.spec.go": true, "spec/z.go": true, "test/z.go": true, "_a.go": false, "p/.a.go": false,
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
		if same := compared(after, after)[0]; len(same.API) > 0 || len(same.Gone) > 0 {
			t.Errorf("the same file offers %q anew, and lacks %q", same.API, same.Gone)
		}
		one, other := compared(before, after, after, before), compared(before, after)
		if len(one[0].API) > 0 || len(one[0].Gone) > 0 {
			t.Errorf("files that swap offer %q anew, and lack %q", one[0].API, one[0].Gone)
		}
		if len(other[0].API) > len(other[0].After) || len(other[0].Gone) > len(other[0].Before) {
			t.Errorf("new %q, gone %q", other[0].API, other[0].Gone)
		}
	})
}
