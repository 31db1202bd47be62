package lane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
)

// edit is a file with two texts; an empty one is not there.
func edit(path, before, after string) File {
	f := File{Path: path, Added: before == "", Deleted: after == "", Object: after}
	if after == "" {
		f.Object = before
	}
	f.Read([]byte(before), []byte(after))
	return f
}

func TestSignals(t *testing.T) {
	cfg := policy.Default().Lanes
	long := strings.Repeat("x\n", 10) + strings.Repeat("y\n", 10)
	numbered := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "call(%d)\n", i)
		}
		return text.String()
	}
	for _, tt := range []struct {
		name  string
		files []File
		want  string
		fits  Lane
	}{
		{"nothing", nil, "", Fast},
		{"one line", []File{edit("a.py", "x = 1\n", "x = 2\n")}, "", Fast},
		{"25 lines", []File{edit("a.py", "", numbered(25))}, "", Fast},
		{"26 lines", []File{edit("a.py", "", numbered(26))}, "size=a.py", Standard},
		{"four files", []File{edit("a.py", "", "1"), edit("b.py", "", "2"), edit("c.py", "", "3"), edit("d.py", "", "4")}, "size=a.py,b.py,c.py,d.py", Standard},
		{"lines that do not count", []File{
			edit("docs/a.md", "", numbered(90)), edit("a_test.go", "", numbered(90)), edit(".github/workflows/ci.yml", "", numbered(90)),
			edit("vendor/a/a.go", "", numbered(90)), edit("api.pb.go", "", numbered(90)), edit("go.sum", "", numbered(90)), edit("testdata/a.txt", "", numbered(90)),
		}, "", Fast},
		{"comments and imports", []File{edit("auth/a.py", "", strings.Repeat("# a note\nimport os\n", 40))}, "", Fast},
		{"what only moved", []File{edit("auth/a.py", long, ""), edit("b.py", "", long)}, "", Fast},
		{"white space", []File{edit("auth/a.py", "if x:\n  y()\n", "if x:\n      y()\n")}, "", Fast},

		{"SQL", []File{edit("reports/a.sql", "", "-- a column\nALTER TABLE bills ADD c text;\n")}, "migration=reports/a.sql", Deep},
		{"SQL behind a comment", []File{edit("a.sql.erb", "", "insert into t values (1); /* so */ drop/* */table t;")}, "migration=a.sql.erb", Deep},
		{"SQL that reads", []File{edit("a.sql", "", "select 1;\n-- drop table t;\n/*\ndelete from t;\n*/\n")}, "", Fast},
		{"SQL in tests", []File{edit("testdata/a.sql", "", "create table t (a int);\n")}, "", Fast},
		{"SQL whose comment changes", []File{edit("a.sql", "-- one\ndrop table t;\n", "-- two\ndrop table t;\n")}, "", Fast},
		{"SQL that is gone", []File{edit("a.sql", "drop table t;\n", "")}, "migration=a.sql", Deep},

		{"a contract that grows", []File{edit("a.proto", "message A {\n}\n", "message A {\n  string b = 1;\n}\n")}, "contract=a.proto", Standard},
		{"a contract that changes", []File{edit("a.proto", "message A {\n  string b = 1;\n}\n", "message A {\n  int32 b = 1;\n}\n")}, "contract=a.proto", Deep},

		{"an exported name is new", []File{edit("a.go", "package a\n", "package a\n\nfunc F() {}\n")}, "exported=a.go", Standard},
		{"an exported name is gone", []File{edit("a.go", "package a\n\ntype T int\n", "package a\n")}, "exported=a.go", Deep},
		{"a signature changes", []File{edit("a.go", "func (t *T) M(a int) {\n", "func (t *T) M(a string) {\n")}, "exported=a.go", Deep},
		{"a constant has another value", []File{edit("a.go", "const V = 1\n", "const V = 2\n")}, "", Fast},
		{"a receiver has another name", []File{edit("a.go", "func (t *T) M(a int) { x() }\n", "func (u *T) M(a int) { x() }\n")}, "exported=a.go", Deep},
		{"a name moves within its package", []File{edit("p/a.go", "func F() {}\n", ""), edit("p/b.go", "", "// F is.\nfunc F() {}\n")}, "", Fast},
		{"a name moves to another package", []File{edit("p/a.go", "func F() {}\n", ""), edit("q/a.go", "", "func F() {}\n")}, "exported=p/a.go exported=q/a.go", Deep},
		{"names that nobody imports", []File{
			edit("cmd/x/a.go", "", "func F() {}\n"), edit("internal/a.go", "func F() {}\n", ""), edit("a_test.go", "", "func TestF(t *testing.T) {}\n"),
		}, "", Fast},
		{"methods of what is not exported", []File{edit("a.go", "func (t *t) M() {\nfunc f() {\n", "")}, "", Fast},
		{"Rust", []File{edit("src/a.rs", "", "pub fn f() {}\npub(crate) fn g() {}\n")}, "exported=src/a.rs", Standard},

		{"much of the work is about permissions", []File{edit("a.py", "", strings.Repeat("check(permission)\nx\n", 12))}, "security=a.py", Deep},
		{"one line is", []File{edit("a.py", "", "check(permission)\n")}, "", Fast},
	} {
		t.Run(tt.name, func(t *testing.T) {
			FindMoves(tt.files)
			signals := Signals(tt.files, &cfg)
			got := told(signals)
			if tt.name == "much of the work is about permissions" {
				got = strings.Split(got, " ")[0]
			}
			if got != tt.want || Fits(signals) != tt.fits {
				t.Errorf("%q fits %s; want %q, %s", got, Fits(signals), tt.want, tt.fits)
			}
		})
	}
}

// TestRoutes: each framework's way to register a route, and lines that only look
// like one.
func TestRoutes(t *testing.T) {
	cfg := policy.Default().Lanes
	for path, lines := range map[string][]string{
		"a.go": {
			`	http.HandleFunc("/x", f)`, `	mux.Handle("GET /x/{id}", h)`, `	r.Get("/x", f)`, "	r.Mount(`/x`, s)", `	router.POST("/x", f)`, `	e.GET("/x", f)`, `	v1 := r.Group("/v1")`,
			`	r.Method("GET", "/x", h)`,
		},
		"a.py":             {`@app.route("/x")`, `@router.get("/x")`, `    @bp.post('/x/<int:id>')`, `app.add_url_rule("/x", view_func=f)`},
		"shop/urls.py":     {`    path("x/", f),`, `    re_path(r"^x/$", f),`, `router.register(r"users", V)`},
		"a.js":             {`app.get('/x', f)`, `router.post("/x", f)`, `usersRouter.delete('/x', f)`},
		"a.ts":             {`  server.route('/x')`, `  @Get('x')`, `@Controller('x')`},
		"config/routes.rb": {`  get "/x", to: "a#b"`, `  resources :users`, `    post 'x'`},
		"A.java":           {`    @GetMapping("/x")`, `@RequestMapping(value = "/x")`, `  @Path("/x")`},
		"A.kt":             {`    @PostMapping("/x")`},
		"A.cs":             {`    [HttpGet("{id}")]`, `  [Route("api/x")]`, `app.MapGet("/x", f);`},
	} {
		for _, line := range lines {
			if got := told(Signals([]File{edit(path, "", line+"\n")}, &cfg)); got != "endpoint="+path {
				t.Errorf("%s: %q gives %q", path, line, got)
			}
		}
	}
	for path, lines := range map[string][]string{
		"a.go":      {`	http.Get("https://example.com/x")`, `	m.Get("key")`, `	// r.Get("/x", f)`},
		"a.py":      {`requests.get("/x")`, `    path("x/", f),`, `d.get("/x")`},
		"a.js":      {`cache.get('/x')`, `app.get('port')`},
		"a_test.go": {`	r.Get("/x", f)`},
		"app/a.rb":  {`  get "/x"`},
	} {
		for _, line := range lines {
			if got := told(Signals([]File{edit(path, "", line+"\n")}, &cfg)); got != "" {
				t.Errorf("%s: %q gives %q", path, line, got)
			}
		}
	}
}

// TestEndpoints: a new route is standard; one that is gone is deep, if no other
// comes.
func TestEndpoints(t *testing.T) {
	cfg := policy.Default().Lanes
	before, after := "@app.route(\"/x\")\ndef x(): pass\n", "@app.route(\"/y\")\ndef x(): pass\n"
	for _, tt := range []struct {
		name          string
		before, after string
		fits          Lane
	}{
		{"new", "", before, Standard}, {"gone", before, "", Deep}, {"another", before, after, Standard},
		{"another handler", before, strings.Replace(before, "def x", "def z", 1), Fast},
	} {
		signals := Signals([]File{edit("a.py", tt.before, tt.after)}, &cfg)
		if Fits(signals) != tt.fits {
			t.Errorf("%s: %s", tt.name, told(signals))
		}
	}
	signals := Signals([]File{edit("a.py", "", "x = 1\n"+before)}, &cfg)
	if got := signals[0].Lines; len(got) != 1 || got[0] != (Line{Path: "a.py", Number: 2, Text: `@app.route("/x")`}) {
		t.Errorf("the line is %+v", got)
	}
}

// TestPrograms: nobody imports what is part of a program.
func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		tree []string
		want bool
	}{
		{[]string{"lib/a.go"}, true}, {[]string{"main.go"}, false}, {[]string{"lib/main.go"}, false}, {[]string{"tool/main.go"}, true}, {[]string{"main.rs"}, true},
	} {
		files := []File{edit("lib/a.go", "", "func F() {}\n")}
		DropPrograms(files, tt.tree)
		if files[0].Declares() != tt.want {
			t.Errorf("%v: %v", tt.tree, !tt.want)
		}
	}
}

// TestDocuments: what documents are, and that they alone fit fast.
func TestDocuments(t *testing.T) {
	cfg := policy.Default().Lanes
	for path, want := range map[string]bool{
		"README": true, "docs/a.go": true, "a.md": true, "i18n/de.json": true, "a.png": true, "main.go": false, "requirements.txt": false,
		"docs/openapi.yaml": false, "docs/migrations/1.sql": false, "CHANGES.txt": true,
	} {
		if IsDocument(path, &cfg) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if got := Fits(Signals([]File{edit("docs/auth.md", "", strings.Repeat("permission\n", 999))}, &cfg)); got != Fast {
		t.Errorf("documents fit %s", got)
	}
}
