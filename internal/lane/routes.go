package lane

import (
	"path"
	"regexp"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
)

// routesOf are expressions for one line that registers a route, by the extension
// of the file. Their groups are what names the route.
var routesOf = map[string]func() *regexp.Regexp{
	// net/http, chi, gin, echo and what looks like them
	".go": expression.Of(`\.(Handle|HandleFunc|Mount|Route|Group|Match|Method)\(\s*(?:"[A-Z]+", )?["` + "`" + `]((?:[A-Z]+ )?[\w.-]*/[^"` + "`" + `]*)|` +
		`\.((?i:get|post|put|patch|delete|any))\(\s*["` + "`" + `](/[^"` + "`" + `]*)["` + "`" + `],`),
	// Flask, FastAPI and Django
	".py": expression.Of(`^\s*@\w[\w.]*\.(route|get|post|put|patch|delete|api_route|websocket)\((?:$|\s*(?:path=)?[rf]?["']([^"']*))|^\s*(path|re_path|url)\(\s*r?["']([^"']*)|\.(add_url_rule|add_api_route|register)\(\s*r?["']([^"']*)`),
	// Rails
	".rb": expression.Of(`^\s*(get|post|put|patch|delete|match|resources?|mount|devise_for)[ (]+([:"'][^,\s]+)`),
	// Spring and JAX-RS
	".java": expression.Of(`^\s*@(Get|Post|Put|Patch|Delete|Request)Mapping\b(.*)|^\s*@Path\((.*)`),
	// ASP.NET
	".cs": expression.Of(`^\s*\[(Http(?:Get|Post|Put|Patch|Delete)|Route)\b(.*)|\.(Map(?:Get|Post|Put|Patch|Delete|ControllerRoute|HealthChecks|Hub)\b[^(]*)\(\s*(?:name: |pattern: )?"([^"]*)`),
	// Express, Fastify, Hono; Nest's decorators; the functions of Next's route files
	".ts": expression.Of(`\b(?:app|server|fastify|\w*[rR]outer?s?)\.(get|post|put|patch|delete|all|route)\(\s*["'` + "`" + `](/[^"'` + "`" + `]*)|^\s*@(Get|Post|Put|Patch|Delete|Controller)\((.*)|^export (?:async function|function|const) (GET|POST|PUT|PATCH|DELETE)\b`),
}

// calls are of what asks for a route, and offers none.
var calls = expression.Of(`(?i)(client|http|cache|header\(\)|request|req|resty)\.(get|post|put|patch|delete)\(`)

func init() {
	routesOf[".kt"] = routesOf[".java"]
	for _, extension := range []string{".js", ".mjs", ".cjs", ".mts", ".tsx", ".jsx"} {
		routesOf[extension] = routesOf[".ts"]
	}
}

// route is what a line names as a route, empty for none.
func route(line Line) string {
	extension, base := extension(line.Path), path.Base(line.Path)
	registers := routesOf[extension]
	if registers == nil || extension == ".rb" && !strings.Contains(line.Path, "routes") {
		return ""
	}
	groups := registers().FindStringSubmatch(line.Text)
	if groups == nil || calls().MatchString(line.Text) || extension == ".py" && groups[3] != "" && !strings.Contains(base, "url") {
		return ""
	}
	name := strings.TrimSpace(strings.Join(groups[1:], " "))
	if strings.HasPrefix(base, "route.") { // the path of the file is the route's
		name = path.Dir(line.Path) + " " + name
	}
	return name
}
