package reference

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/small-gate/small-gate/internal/small"
)

// file is a file in a workspace; a name that ends in "/" is a directory, and one with a link is a symbolic link.
type file struct {
	name string
	data []byte
	link string
}

// workspace is one generated .small directory.
type workspace struct {
	files []file
	// how says how the valid one was changed.
	how []string
}

func (w *workspace) find(a small.Artifact) *file {
	for i := range w.files {
		if w.files[i].name == a.FileName() {
			return &w.files[i]
		}
	}
	return nil
}

const run = "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"

// generator makes workspaces that are valid except for a few mutations.
type generator struct {
	*rand.Rand
	w     *workspace
	clock int
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 20))}
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// workspace makes one.
func (g *generator) workspace() *workspace {
	g.w = &workspace{}
	ids := []string{"task-1", "task-2", "task-3"}
	var tasks, entries strings.Builder
	for _, id := range ids {
		status := ""
		if g.chance(15) {
			status = ", status: " + g.pick("pending", "in_progress", "cancelled", "completed", "blocked", "Completed", "BLOCKED", `"completed "`, `" blocked\n"`, `"\u00a0completed"`)
		}
		if g.chance(10) {
			status += ", " + g.free()
		}
		fmt.Fprintf(&tasks, "  - {id: %q, title: \"Work on %s\"%s}\n", id, id, status)
	}
	fmt.Fprintf(&entries, "  - timestamp: \"2026-03-01T09:00:00.000000000Z\"\n    task_id: \"meta/init\"\n    evidence: \"workspace created\"\n")
	for range g.IntN(4) {
		entries.WriteString(g.entry(ids))
	}
	text := map[small.Artifact]string{
		small.Intent:      "small_version: \"1.0.0\"\nowner: \"human\"\nintent: \"Import the billing export\"\nscope: {include: [\"importer/**\"], exclude: []}\nsuccess_criteria: [\"A stopped import continues\"]\n",
		small.Constraints: "small_version: \"1.0.0\"\nowner: \"human\"\nconstraints:\n  - {id: \"keep-api\", rule: \"Public functions stay\", severity: \"error\"}\n",
		small.Plan:        "small_version: \"1.0.0\"\nowner: \"agent\"\ntasks:\n" + tasks.String(),
		small.Progress:    "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" + entries.String(),
		small.Handoff: "small_version: \"1.0.0\"\nowner: \"agent\"\nsummary: \"Set up\"\nresume: {current_task_id: " +
			g.pick(`"task-1"`, `"task-1"`, `"task-1"`, `"task-1"`, `"task-2 "`, `"task-3\n"`, "null", "null", `" meta/x"`, `"meta/"`, `"task-9"`) + ", next_steps: [\"Read the export\"]}\nlinks: []\nreplayId: {value: \"" + run + "\", source: \"auto\"}\n",
		small.Workspace: "small_version: \"1.0.0\"\nowner: \"agent\"\nkind: \"repo-root\"\ncreated_at: \"2026-03-01T08:59:00Z\"\nupdated_at: \"2026-03-01T09:20:01Z\"\nrun: {replay_id: \"" + run + "\"}\n",
	}
	for _, a := range small.Artifacts {
		g.w.files = append(g.w.files, file{name: a.FileName(), data: []byte(text[a])})
	}
	for range max(0, g.IntN(5)-2) {
		g.mutate()
	}
	return g.w
}

func (g *generator) entry(ids []string) string {
	g.clock++
	at := fmt.Sprintf(`"2026-03-01T09:%02d:00.5Z"`, g.clock)
	if g.chance(6) {
		at = g.timestamp()
	}
	id := strconv.Quote(ids[g.IntN(len(ids))])
	if g.chance(10) {
		id = g.pick(`"task-1 "`, `" task-2"`, `"task-3\u00a0"`, `"task-9"`, `" meta/note"`, `"meta/note"`, `"meta/x "`, `"Task-1"`, `"task-1\u200b"`, "|-\n      task-1", "5")
	}
	out := fmt.Sprintf("  - timestamp: %s\n    task_id: %s\n", at, id)
	if g.chance(50) {
		out += "    replayId: \"" + g.pick(run, run, run, run, strings.ToUpper(run), strings.Repeat("0a", 32)) + "\"\n"
	}
	fields := []string{"evidence", "verification", "command", "test", "link", "commit", "notes", "status"}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	if g.chance(70) { // a valid entry, and perhaps one more thing
		fields = append([]string{g.pick("evidence", "notes")}, fields...)
	}
	for _, f := range slices.Compact(fields[:1+g.IntN(2)]) {
		value := g.text()
		switch f {
		case "commit":
			value = g.pick(`"0123abc"`, `"1234567"`, "0123abc", "1234567", strings.Repeat("ab12", 10), "0123ABC", "12345e7")
		case "status":
			value = g.pick("completed", "pending", "blocked", `"completed "`, "done")
		case "evidence", "verification", "test":
			if g.chance(35) {
				value = g.mapping(3)
			}
		}
		out += "    " + f + ": " + value + "\n"
	}
	return out
}

// text is a text in an entry, in YAML's flow style.
func (g *generator) text() string {
	switch g.IntN(20) {
	case 0, 4, 5:
		return strconv.Quote(g.link())
	case 1:
		return g.pick(`""`, `" "`, `"\u00a0"`, `"\u200b"`, "null", "5", "true", "[]", "{}", "2026-01-02")
	case 2:
		return g.secret()
	case 3:
		return g.pick(`"\n a\nb"`, `" a\nb"`, `"a\nb\n"`, `"\ta\nb"`, "!!str 12", "!note 12", "!!binary aGVsbG8=", `"a\u2028b"`)
	}
	return strconv.Quote(g.pick("importer reads 1204 rows", "done", "checked by hand", "see http below"))
}

// link is a text with something like a link.
func (g *generator) link() string {
	end := []string{"", " x", "/x", ":80", ":80/x", ":abc", ":1@x", ".", ". x", ".x", ",", ",x", ";", "!", "?x", "#x", "'", "`", ")", "]", ">", "}", "|", "\\", "*", "**", "~", "^", "&", "=", "+", "$", "@x", "-", "-x", "_", "_x", "%", "%2ex", "\u00a0x", "\u2003", "\u200b", "é", "世", "—", "…", "”", "。", "。x", "\u2028x", "\n", "x", "1"}
	host := []string{"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "LOCALHOST", "example.com", "127.1", "u:p@localhost", "u@localhost", "<host>", "(h)", "?x", "#", ")", "", " ", "/", ".", ",", ":", "*", "`", "[", "é", "\u00a0", `'`, "%6cocalhost"}
	before := []string{"", "", "see ", "(", "**", "x", "[a](", "https://x.example ", "`"}
	out := ""
	for range 1 + g.IntN(2) {
		out += g.pick(before...) + g.pick("http://", "http://", "http://", "https://", "HTTP://", "http:/", "http:") + g.pick(host...) + g.pick(end...)
	}
	return out
}

func (g *generator) secret() string {
	long := strings.Repeat(g.pick("ab12", "AbC/", "+xyz", "0000"), 8+g.IntN(3))
	return strconv.Quote(long + g.pick("", "", "=", "==", "===", "-", " ", ".x"))
}

// key is a key of a free mapping.
func (g *generator) key() string {
	if g.chance(12) {
		return g.pick("0", "1", "0x1", "true", "null", "~", "1.5", "2026-01-02", "-3", `"0"`, ".inf", "!!str 7")
	}
	return g.pick("a", "b", "c", "codes", "replayId", "replay_id", "command_sha256", "commit", "value", "token", "Password", "secretary", "api-key", "url", "b c", `"<<"`, "yes", "hash")
}

func (g *generator) value(depth int) string {
	switch g.IntN(4 + min(depth, 2)) {
	case 0:
		return g.pick("5", "1.50", "null", "true", "2026-01-02", ".nan", "99999999999999999999")
	case 1:
		return g.secret()
	case 4:
		return g.mapping(depth - 1)
	case 5:
		items := make([]string, g.IntN(3))
		for i := range items {
			items[i] = g.value(depth - 1)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return g.text()
}

func (g *generator) mapping(depth int) string {
	members := make([]string, g.IntN(3))
	for i := range members {
		members[i] = g.key() + ": " + g.value(depth)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// free is a member of a task that the protocol does not know, or a lease.
func (g *generator) free() string {
	if g.chance(30) {
		return "lease: " + g.pick(`{agent_id: "a", expires: "2026-03-02T00:00:00Z"}`, `{agent_id: 5}`, "mine", "[]", `{agent_id: "a", expires: "tomorrow"}`, "null", g.mapping(1))
	}
	return g.pick("depends_on", "steps", "acceptance", "note", "x") + ": " + g.value(2)
}

func (g *generator) timestamp() string {
	form := g.pick(
		"2026-03-01T09:%02d:00.5Z", "2026-03-01T10:%02d:00.5+01:00", "2026-03-01T09:%02d:00Z", "2026-03-01T9:%02d:00.5Z", "0001-01-01T00:%02d:00.5Z",
		"0000-01-01T00:%02d:00.5Z", "2026-03-01t09:%02d:00.5z", "2026-03-01 09:%02d:00.5Z", "2026-02-30T09:%02d:00.5Z", "2026-03-01T09:%02d:60.5Z", "2026-03-01T09:%02d:00.5",
		"2026-03-01T09:%02d:00,5Z", "2026-03-01T09:%02d:00.5+0100", "2026-03-01T09:%02d:00.12345678901Z", "2026-03-01T08:%02d:00.5Z",
	)
	at := fmt.Sprintf(form, g.clock)
	return g.pick(`"`+at+`"`, `"`+at+` "`, `"\t`+at+`\n"`, `"\u00a0`+at+`"`, "|\n      "+at, at, "!!str "+at)
}

var scalars = regexp.MustCompile(`"[^"\n]*"|\b[a-z_]+-?\d?\b`)

// mutate does one thing to the workspace.
func (g *generator) mutate() {
	a := small.Artifacts[g.IntN(len(small.Artifacts))]
	f := g.w.find(a)
	if f == nil || f.link != "" {
		return
	}
	text := string(f.data)
	lines := strings.SplitAfter(text, "\n")
	at := g.IntN(len(lines))
	how := g.pick("scalar", "scalar", "scalar", "scalar", "line", "twice", "root", "root", "root", "byte", "byte", "form", "extra", "gone", "bare")
	switch how {
	case "scalar": // another value, or another key
		places := scalars.FindAllStringIndex(text, -1)
		if len(places) > 0 {
			p := places[g.IntN(len(places))]
			old := strings.Trim(text[p[0]:p[1]], `"`)
			text = text[:p[0]] + g.pick(g.value(1), g.value(1), strconv.Quote(old+" "), strconv.Quote(" "+old), strconv.Quote(strings.ToUpper(old)), old, "[]", "{}", "null", "5", `""`) + text[p[1]:]
		}
	case "line":
		lines[at] = ""
		text = strings.Join(lines, "")
	case "twice":
		lines[at] += lines[at]
		text = strings.Join(lines, "")
	case "root":
		key := g.pick("small_version", "owner", "kind", "created_at", "updated_at", "run", "replay_id", "note", "summary", "links", "x", "7", "true", "? [a]\n")
		if strings.Contains(text, key+":") && g.chance(90) {
			text = regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(key)+`:.*\n`).ReplaceAllString(text, "")
		}
		text += key + ": " + g.pick(g.value(1), g.mapping(1), g.pick(`"1.0.0"`, "1.0.0", "agent", "human", "repo-root", "examples", `" repo-root"`, "[]", "{}", `""`, "null", "{replay_id: [], x: 1}", "{replay_id: 5}")) + "\n"
	case "byte":
		if text != "" {
			i := g.IntN(len(text))
			text = text[:i] + g.pick("", " ", "\n", "\t", `"`, ":", "-", "#", "é", "\x00", "\u0085", "\u2028", "{", "]", "&a ", "*a", "!!binary ", "\xff", "%", "'") + text[i+g.IntN(2):]
		}
	case "form":
		switch g.IntN(9) {
		case 0:
			text = strings.ReplaceAll(text, "\n", "\r\n")
		case 1:
			text = "\ufeff" + text
		case 2:
			text = "%YAML " + g.pick("1.2", "1.1", "1.3") + "\n---\n" + text
		case 3:
			text += "---\n" + g.pick("", "x: 1\n")
		case 4:
			text = "---\n" + text + "...\n"
		case 5:
			text = g.pick("", "# nothing\n", "null\n", "[]\n", "x\n")
		case 6:
			var wide []byte
			for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
				wide = append(wide, byte(u), byte(u>>8))
			}
			text = string(wide)
		case 7:
			text = strings.ReplaceAll(text, "\n", g.pick("\u0085", "\u2028", "\r"))
		case 8:
			text = "<<<<<<< HEAD\n" + text
		}
	case "extra":
		name := g.pick("notes.md", "sub/", "a/b/", ".small/", ".hidden", "Intent.small.yml", "intent.small.yml.", "sub/intent.small.yml", ".small/intent.small.yml", ".git/", "INTENT/")
		g.w.files = append(g.w.files, file{name: name, data: []byte("x\n")})
	case "gone":
		f.name = g.pick(f.name+".bak", "x", f.name)
		if g.chance(20) {
			g.w.files = append(g.w.files, file{name: "elsewhere", data: f.data})
			f.name, f.link = a.FileName(), "elsewhere"
		}
	case "bare": // without quotes
		quotes := regexp.MustCompile(`"([^"\n]*)"`).FindAllStringSubmatchIndex(text, -1)
		if len(quotes) > 0 {
			q := quotes[g.IntN(len(quotes))]
			text = text[:q[0]] + text[q[2]:q[3]] + text[q[1]:]
		}
	}
	f.data = []byte(text)
	g.w.how = append(g.w.how, how+" "+string(a))
}
