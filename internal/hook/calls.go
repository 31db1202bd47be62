package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// callSite says whether the file that git runs for a hook leads to the gate although it is not a shim of ours. It is found by reading,
// never by running: what other people's hooks do is theirs.
type callSite struct {
	// calls says that it does, as far as reading shows.
	calls bool
	// how says how the gate is reached.
	how string
	// fault says why it is not reached, or is not heard, and remedy what to do about it.
	fault, remedy string
	// program is the program as it is written there: a path, a name to be looked up on PATH, or "" if a manager builds it.
	program string
}

// findCall reads the hook's file, and what the manager that wrote it goes by.
func findCall(repo Repository, hook Name, file hookFile) (callSite, error) {
	legacy, runs, err := findLegacy(hook, file)
	if err != nil {
		return callSite{}, err
	}
	if runs {
		how := string(signed(file.text)) + " runs " + show(legacy.path) + " first"
		return callSite{calls: true, how: how, program: programIn(legacy.text)}, nil
	}
	manager := signed(file.text)
	switch manager {
	case Husky:
		path := filepath.Join(huskyScripts(repo), string(hook))
		return callIn(repo, hook, manager, []string{path})
	case Lefthook, PreCommitTool, Prek:
		config, err := configOf(repo, manager)
		if err != nil {
			return callSite{}, err
		}
		site, err := callIn(repo, hook, manager, config)
		if err == nil && site.calls && manager == Lefthook && !findsLefthook(repo, file.text) {
			site = callSite{fault: show(file.path) + " does not find lefthook, and lets everything through then", remedy: "Type: lefthook install"}
		}
		return site, err
	default:
		return callIn(repo, hook, HooksPath, []string{file.path})
	}
}

// recordedLefthook matches, in the hook that lefthook writes, the path at which it was when it wrote the hook, quoted or not.
var recordedLefthook = regexp.MustCompile(`(?m)^\s*elif (?:'((?:[^']|'\\'')*)'|(\S*[/\\]\S*)) -h `)

// findsLefthook reports whether a hook that lefthook wrote would find it: on PATH, where it was when it wrote the hook, or among the packages
// of npm. A hook that records no path is taken to find it by one of its many other ways.
func findsLefthook(repo Repository, text string) bool {
	recorded := recordedLefthook.FindStringSubmatch(text)
	if recorded == nil {
		return true
	}
	path := strings.ReplaceAll(recorded[1]+recorded[2], `'\''`, "'")
	if checkProgram(filepath.FromSlash(path)) == nil {
		return true
	}
	if _, err := exec.LookPath(string(Lefthook)); err == nil {
		return true
	}
	for _, name := range []string{"lefthook", "@evilmartians/lefthook", "@evilmartians/lefthook-installer"} {
		if _, err := os.Stat(filepath.Join(repo.Top, "node_modules", filepath.FromSlash(name))); err == nil {
			return true
		}
	}
	return false
}

// findLegacy returns the shim of ours that pre-commit or prek moved aside when they wrote the hook in file, and whether there is one. They
// run it before their own work.
func findLegacy(hook Name, file hookFile) (legacy hookFile, runs bool, err error) {
	if manager := signed(file.text); manager != PreCommitTool && manager != Prek {
		return hookFile{}, false, nil
	}
	legacy, err = readHook(file.path + ".legacy")
	return legacy, legacy.runnable && recognise(hook, legacy.text) == ours, err
}

// callIn looks for the gate in the given files, of which the first that calls it counts.
func callIn(repo Repository, hook Name, manager Manager, paths []string) (callSite, error) {
	names := make([]string, 0, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		names = append(names, show(shortPath(repo, path)))
		if missing(err) {
			continue
		}
		if err != nil {
			return callSite{}, fileError("read", path, err)
		}
		site, found := callInText(hook, manager, string(content))
		if found {
			site.how = names[len(names)-1] + " calls it"
			return site, nil
		}
	}
	where := strings.Join(names, ", ")
	if where == "" {
		where = "the configuration of " + string(manager)
	}
	return callSite{fault: where + " does not call " + ProgramName + " " + string(hook)}, nil
}

// callInText looks for a line that calls the gate, and says what keeps it from being heard. A line that names the program counts before one
// that names a hook which somebody's repository of hooks provides.
func callInText(hook Name, manager Manager, text string) (site callSite, found bool) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	ways := []struct {
		pattern *regexp.Regexp
		program string
	}{{callPattern(hook), ""}, {providedPattern(hook, "-system"), ProgramName}, {providedPattern(hook, ""), ""}}
	for _, way := range ways {
		for i, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			if groups := way.pattern.FindStringSubmatch(line); groups != nil {
				site := callAt(hook, manager, lines, i, line[strings.Index(line, groups[0])+len(groups[0]):])
				if site.calls {
					site.program = way.program + strings.ReplaceAll(strings.Join(groups[1:], ""), `'\''`, "'")
				}
				return site, true
			}
		}
	}
	return callSite{}, false
}

// callAt judges whether a call in line i, with the given text after it, is heard.
func callAt(hook Name, manager Manager, lines []string, i int, after string) callSite {
	said := show(strings.TrimSpace(lines[i]))
	switch {
	case ignored.MatchString(after):
		return callSite{fault: "its line throws away what the gate says: " + said, remedy: "Take away what follows || there."}
	case manager == HooksPath && !heard(lines, i):
		return callSite{fault: "the script goes on after the gate has spoken: " + said, remedy: "End that line with: || exit $?"}
	case manager == Lefthook && hook.readsInput() && !inBlock(lines, i, useInput):
		return callSite{fault: "lefthook keeps from the gate which refs are pushed", remedy: "Add use_stdin: true to that command."}
	case manager == Lefthook && hook != PreMergeCommit && (!strings.Contains(after, "{files}") || !inBlock(lines, i, ownFiles)):
		return callSite{fault: "lefthook leaves that command out wherever it finds no changed files, as in a push of another branch",
			remedy: "Add to it the line with files, and the {files}, that " + ProgramName + " install prints."}
	default:
		return callSite{calls: true}
	}
}

var (
	// ignored matches what makes a shell forget that a command failed.
	ignored = regexp.MustCompile(`\|\|\s*(true|:|exit 0)(\W|$)`)
	// stops matches what makes a shell stop when a command fails.
	stops = regexp.MustCompile(`\|\|\s*(exit|return|\{)|^\s*if ! `)
	// setE matches a shell told to stop at any failure.
	setE = regexp.MustCompile(`^\s*set\s+-[a-z]*e|^#!.*\ssh\s+-e|^#!\S*sh\s+-e`)
	// ownFiles matches lefthook's command that lists the files for a command, in YAML, TOML and JSON.
	ownFiles = regexp.MustCompile(`\bfiles"?\s*[:=]\s*["']?\w`)
	// useInput matches lefthook's switch that passes standard input on, in YAML, TOML and JSON.
	useInput = regexp.MustCompile(`\buse_stdin"?\s*[:=]\s*true\b`)
)

// callPattern matches a call of the gate for hook: the program, quoted or not, then the hook's name as a word of its own. One of its
// groups holds the program.
func callPattern(hook Name) *regexp.Regexp {
	const program = `(?:'((?:[^']|'\\'')*small-hook(?:\.exe)?)'|"([^"]*small-hook(?:\.exe)?)"|([^\s"'=(;&|]*small-hook(?:\.exe)?))`
	return regexp.MustCompile(program + `\s(?:[^#;&|]*\s)?` + regexp.QuoteMeta(string(hook)) + `(?:[\s"',;&|)}]|$)`)
}

// providedPattern matches the id of a hook that a repository of hooks provides for pre-commit or prek: they build the program, but for ids
// that end in -system, which take the one on PATH.
func providedPattern(hook Name, end string) *regexp.Regexp {
	return regexp.MustCompile(`\bid"?\s*[:=]\s*["']?small-(?:gate|hook)-` + regexp.QuoteMeta(string(hook)+end) + `(?:[\s"',}]|$)`)
}

// heard reports whether the status of line i of a shell script becomes the script's own when it is not 0.
func heard(lines []string, i int) bool {
	if stops.MatchString(lines[i]) || strings.HasPrefix(strings.TrimSpace(lines[i]), "exec ") {
		return true
	}
	if slices.ContainsFunc(lines[:i], setE.MatchString) {
		return true
	}
	for _, line := range lines[i+1:] {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			return false
		}
	}
	return true
}

// inBlock reports whether pattern matches in the lines that belong to the same mapping as line i: in TOML the lines between two headings,
// in YAML and JSON what is indented alike. In a flow style, a line is all that can be judged.
func inBlock(lines []string, i int, pattern *regexp.Regexp) bool {
	depth := indentation(lines[i])
	first, end := i, i+1
	switch {
	case inTOML.MatchString(lines[i]):
		for first > 0 && !strings.HasPrefix(lines[first-1], "[") {
			first--
		}
		for end < len(lines) && !strings.HasPrefix(lines[end], "[") {
			end++
		}
	case depth > 0:
		for first > 0 && !beginsElement(lines[first], depth) && belongs(lines[first-1], depth) {
			first--
		}
		for end < len(lines) && !beginsElement(lines[end], depth) && belongs(lines[end], depth) {
			end++
		}
	}
	return slices.ContainsFunc(lines[first:end], pattern.MatchString)
}

// inTOML matches a line of TOML that gives a key a value.
var inTOML = regexp.MustCompile(`^\s*[\w-]+\s*=`)

// belongs reports whether a line lies in a mapping whose keys stand at depth: blank lines do, and what is indented as far.
func belongs(line string, depth int) bool {
	return strings.TrimSpace(line) == "" || indentation(line) >= depth
}

// beginsElement reports whether a line is the first of a list's element whose keys stand at depth.
func beginsElement(line string, depth int) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "- ") && indentation(line) == depth
}

// indentation counts the columns before a line's first key; a dash that begins a list's element counts as a blank.
func indentation(line string) int {
	return len(line) - len(strings.TrimLeft(line, " -"))
}

// programIn returns the program's path that a shim of ours names, or "" if it looks on PATH alone.
func programIn(text string) string {
	_, rest, found := strings.Cut(text, "\nsg_program='")
	if !found {
		return ""
	}
	quoted, _, found := strings.Cut(rest, "'\n")
	if !found {
		return ""
	}
	return strings.ReplaceAll(quoted, `'\''`, "'")
}
