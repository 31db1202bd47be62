package lane

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/policy"
)

// language finds routes and exported declarations in source code of one language. An expression is matched against the path of a file, a line feed,
// and one line of the file. The groups of a match make the name of the route or declaration. The text that it matches after the last group is the
// form, such as a function's signature.
type language struct {
	// files is the pattern of source files; programs is that of files that only programs have, and libraries do not.
	files, programs string
	// exported matches a line with an exported declaration; endpoint matches a line that registers a route.
	exported, endpoint func() *regexp.Regexp
}

// languages are the languages whose lines can give signals.
var languages = []language{
	{ // net/http, chi, gin, echo and the like
		files: "**/*.go", programs: "**/main.go",
		exported: expression.Of(`(?m)^(?:func (?:\((?:\w+ )?(\*?[A-Z]\w*)[^)]*\) )?|(?:type|var|const) )([A-Z]\w*)[^={]*|` +
			`^\t([A-Z]\w*)(?: +[\w.*\[\](){}]+)?(?: +[=/` + "`" + `]|$)|^\t([A-Z]\w*)\([^"]*\) [\w(*\[][^{]*$`),
		endpoint: expression.Of(`\.(Handle|HandleFunc|Mount|Route|Group|Match|Method)\(\s*(?:"[A-Z]+", )?["` + "`" + `]((?:[A-Z]+ )?[\w.-]*/[^"` + "`" + `]*)|` +
			`\.((?i:get|post|put|patch|delete|any))\(\s*["` + "`" + `](/[^"` + "`" + `]*)["` + "`" + `],`),
	},
	{ // axum, actix, Rocket
		files: "**/*.rs", programs: "**/main.rs",
		exported: expression.Of(`(?m)^\s*pub (?:(?:async|unsafe|const) )*(fn|struct|enum|trait|type|static|mod|macro|const|union) (\w+)[^{;]*`),
		endpoint: expression.Of(`(?m)\.(route|nest)\(\s*"([^"]*)|^\s*#\[(get|post|put|patch|delete|route)\("([^"]*)`),
	},
	{ // Flask, FastAPI and Django
		files: "**/*.py", programs: "**/{manage,wsgi,asgi}.py",
		exported: expression.Of(`(?m)^(?:async )?(?:(def) ([A-Za-z]\w*).*|(class) ([A-Za-z]\w*))`),
		endpoint: expression.Of(`(?m)^\s*@\w[\w.]*\.(route|get|post|put|patch|delete|api_route|websocket)\((?:$|\s*(?:path=)?[rf]?["']([^"']*))|` +
			`\A.*url[^/\n]*\n\s*(path|re_path|url)\(\s*r?["']([^"']*)|\.(add_url_rule|add_api_route|register)\(\s*r?["']([^"']*)`),
	},
	{ // Express, Fastify, Hono; Nest's decorators; the functions of Next's route files
		files: "**/*.{js,mjs,cjs,jsx,ts,mts,cts,tsx}", programs: "**/{{next,nuxt,vite,svelte,astro,remix}.config.*,index.html}",
		exported: expression.Of(`(?m)^export (?:(?:declare|abstract|async) )*(?:(function\*?|const|let|var) (\w+)[^={]*|(class|interface|type|enum|namespace) (\w+))|^(?:module\.)?exports\.(\w+) =`),
		endpoint: expression.Of(`(?m)\b(?:app|server|fastify|\w*[rR]outer?s?)\.(get|post|put|patch|delete|all|route)\(\s*["'` + "`" + `](/[^"'` + "`" + `]*)|` +
			`^\s*@(Get|Post|Put|Patch|Delete|Controller)\((.*)|\A(?:(.*)/route\.\w+)?.*\nexport (?:async function|function|const) (GET|POST|PUT|PATCH|DELETE)\b`),
	},
	{ // Rails
		files: "**/*.rb", programs: "**/config.ru",
		exported: expression.Of(`(?m)^\s*(class|module) ([\w:]+)`),
		endpoint: expression.Of(`\A.*routes.*\n\s*(get|post|put|patch|delete|match|resources?|mount|devise_for)[ (]+([:"'][^,\s]+)`),
	},
	{ // Spring and JAX-RS
		files: "**/*.java", programs: "**/{*Application.java,AndroidManifest.xml}",
		exported: publicType,
		endpoint: expression.Of(`(?m)^\s*@(Get|Post|Put|Patch|Delete|Request)Mapping\b(.*)|^\s*@Path\((.*)`),
	},
	{ // Spring, JAX-RS and Ktor
		files: "**/*.kt", programs: "**/{*Application.kt,AndroidManifest.xml}",
		exported: expression.Of(`(?m)^(?:(?:public|open|abstract|data|sealed|suspend|inline|operator|infix|enum|annotation|value) )*(?:(fun) (?:<[^>]*> )?([\w.]+)[^={]*|(class|interface|object|typealias) (\w+))`),
		endpoint: expression.Of(`(?m)^\s*@(Get|Post|Put|Patch|Delete|Request)Mapping\b(.*)|^\s*@Path\((.*)|^\s*(get|post|put|patch|delete|route)\("(/[^"]*)"\) \{`),
	},
	{ // ASP.NET
		files: "**/*.cs", programs: "**/Program.cs",
		exported: publicType,
		endpoint: expression.Of(`(?m)^\s*\[(Http(?:Get|Post|Put|Patch|Delete)|Route)\b(.*)|\.(Map(?:Get|Post|Put|Patch|Delete|ControllerRoute|HealthChecks|Hub)\b[^(]*)\(\s*(?:name: |pattern: )?"([^"]*)`),
	},
	{ // Laravel, Symfony, Slim
		files: "**/*.php", programs: "**/{artisan,index.php,bin/console}",
		exported: expression.Of(`(?m)^(?:(?:final|abstract|readonly) )*(?:(class|interface|trait|enum) (\w+)|(function) (\w+)[^{]*)`),
		endpoint: expression.Of(`(?m)\bRoute::(get|post|put|patch|delete|any|match|resource|apiResource)\(\s*["']([^"']*)|^\s*#\[(Route)\((.*)|` +
			`\$\w*(?:app|group|route)\w*->(get|post|put|patch|delete|any|addRoute)\(\s*["']([^"']*)`),
	},
}

// publicType matches a declaration in Java and C#.
var publicType = expression.Of(`(?m)^\s*public (?:(?:static|final|abstract|sealed|partial|readonly|unsafe|strictfp) )*(class|interface|enum|record|struct|delegate|@interface) (\w+)`)

// calls matches a line that requests a route instead of registering one.
var calls = expression.Of(`(?i)(client|http|cache|header\(\)|request|req|resty)\.(get|post|put|patch|delete)\(`)

// languageOf returns the language of a file; nil if it is none of these.
func languageOf(name string) *language {
	for i := range languages {
		if policy.MatchLast([]string{languages[i].files}, name) {
			return &languages[i]
		}
	}
	return nil
}

// classify adds a changed line to the file's routes or exports, if it registers a route or has an exported declaration.
func (l *language) classify(f *File, line Line) {
	if line.find(l.endpoint()) && !calls().MatchString(line.Text) {
		f.routes = append(f.routes, line)
	} else if line.find(l.exported()) {
		line.name = path.Dir(f.Path) + ": " + line.name
		f.exports = append(f.exports, line)
	}
}

// find sets the name and the form of a line if an expression matches it.
func (l *Line) find(expression *regexp.Regexp) bool {
	text := l.Path + "\n" + l.Text
	at := expression.FindStringSubmatchIndex(text)
	if at == nil {
		return false
	}
	var names []string
	end := at[0]
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			names, end = append(names, text[at[i]:at[i+1]]), at[i+1]
		}
	}
	l.name, l.form = strings.TrimSpace(strings.Join(names, " ")), strings.TrimSpace(text[end:at[1]])
	return true
}

// Declares reports whether a changed line of a file has an exported declaration.
func (f *File) Declares() bool { return len(f.exports) > 0 }

// Programs returns the patterns of files that make a directory a program.
func Programs() []string {
	var out []string
	for _, l := range languages {
		out = append(out, l.programs)
	}
	return out
}

// DropPrograms drops the declarations in files of programs, which nobody imports. tree has the files that match Programs. All files of the same
// language in and below the directory of such a file belong to a program.
func DropPrograms(files []File, tree []string) {
	programs := map[*language][]string{}
	for _, name := range tree {
		for i := range languages {
			if l := &languages[i]; policy.MatchLast([]string{l.programs}, name) {
				programs[l] = append(programs[l], path.Dir(name))
			}
		}
	}
	for i := range files {
		f := &files[i]
		if slices.ContainsFunc(programs[languageOf(f.Path)], func(dir string) bool { return dir == "." || strings.HasPrefix(f.Path, dir+"/") }) {
			f.exports = nil
		}
	}
}
