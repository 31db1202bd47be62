package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// logShape is a stanza, and how the entries of its log are written.
type logShape struct {
	path, stanza string
	// entry is the text of an entry, with the places of its number and its words; head stands before all entries. Of a folder, path is the folder's, and
	// each entry is a file.
	head, entry string
	newestFirst bool
}

// smallLog is the path of the protocol's log, which needs no stanza.
const smallLog = ".small/progress.small.yml"

func (s logShape) isFolder() bool { return strings.Contains(s.stanza, "entries: files") }

var logShapes = []logShape{
	{path: "a.jsonl", stanza: "{path: a.jsonl, entries: lines}", entry: "{\"id\": %d, \"text\": %q}\n"},
	{path: "b.jsonl", stanza: "{path: b.jsonl, entries: lines, identity: {only: [id]}}", entry: "{\"id\": %d, \"text\": %q}\n"},
	{path: "c.jsonl", stanza: "{path: c.jsonl, entries: lines, order: free}", entry: "{\"id\": %d, \"text\": %q}\n"},
	{path: "d.txt", stanza: "{path: d.txt, entries: lines, order: newest-first}", entry: "%d %s\n", newestFirst: true},
	{path: "e.md", stanza: `{path: e.md, entries: blocks, start: "^## "}`, head: "# Log\n", entry: "\n## %d\n\n%s\n"},
	{path: "f.md", stanza: `{path: f.md, entries: blocks, start: "^## ", order: newest-first}`, head: "# Log\n", entry: "\n## %d\n\n%s\n", newestFirst: true},
	{path: "g.yml", stanza: "{path: g.yml, entries: list}", entry: "- id: %d\n  text: %q\n"},
	{path: "h", stanza: `{path: "h/*.sql", entries: files}`, entry: "-- %d\n%s\n"},
	{path: "i", stanza: `{path: "i/*.sql", entries: files, order: number}`, entry: "-- %d\n%s\n"},
	{path: smallLog, entry: "  - task_id: task-1\n    timestamp: \"2026-03-02T10:00:00.%09dZ\"\n    status: completed\n    evidence: %q\n"},
	{path: "j", stanza: `{path: "j/*.sql", entries: files, frozen: committed}`, entry: "-- %d\n%s\n"},
}

// randomEntry is an entry of such a log. Each has a word of its own, which tells whether it is lost.
type randomEntry struct {
	number int
	words  string
}

var ownWord = regexp.MustCompile(`word[0-9]+x`)

// fixHistory is a repository with one or two logs, and a branch on which some commits are wrong.
type fixHistory struct {
	*testing.T
	*gittest.Repo
	random *rand.Rand
	shapes []logShape
	last   int
	story  []string
}

// TestTypedFixes makes random histories of logs of the configuration, in which commits edit, drop, insert, reorder and double entries and merges take one
// side. Then it types all that the gate says to type, in that order. The gate then finds no error, no command has failed, no entry is lost,
// and nothing is left in the work tree.
func TestTypedFixes(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("NOT TESTED: there is no shell to type the fixes into")
	}
	for i := range gittest.Rounds(3, 60) {
		seed := gittest.Seed(5) + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			h := &fixHistory{T: t, Repo: gittest.New(t), random: rand.New(rand.NewPCG(seed, 3))}
			h.begin()
			h.diverge()
			judge := []string{"small-hook range origin/main..work", "small-hook audit work", h.pushCommand()}[h.random.IntN(3)]
			if h.random.IntN(4) == 0 {
				h.Switch("main")
			}
			before := h.words()
			h.typeAll(judge)
			for _, word := range before {
				if !slices.Contains(h.words(), word) {
					t.Errorf("%s is lost", word)
				}
			}
			if status := h.Git("status", "--porcelain"); status != "" {
				t.Errorf("left in the work tree: %s", status)
			}
			if t.Failed() {
				t.Log(strings.Join(h.story, "\n"))
			}
		})
	}
}

// begin makes main, with a remote, and a log of each chosen shape.
func (h *fixHistory) begin() {
	for _, at := range h.random.Perm(len(logShapes))[:1+h.random.IntN(2)] {
		h.shapes = append(h.shapes, logShapes[at])
	}
	config := "version: 1\nlogs:\n  - {path: other.log, entries: lines}\n"
	for i, s := range h.shapes {
		if s.path == smallLog {
			if err := os.CopyFS(h.Dir, os.DirFS(filepath.Join("testdata", "workspace"))); err != nil {
				h.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join("testdata", "workspace", filepath.FromSlash(smallLog)))
			if err != nil {
				h.Fatal(err)
			}
			h.shapes[i].head = strings.TrimRight(string(text), "\n") + "\n"
			continue
		}
		config += "  - " + s.stanza + "\n"
	}
	h.Write(".small-gate.yml", config)
	server := gittest.New(h.T, gittest.Bare())
	h.Git("remote", "add", "origin", server.Dir)
}

// newEntry makes an entry with the next number.
func (h *fixHistory) newEntry() randomEntry {
	h.last++
	return randomEntry{1000 + h.last, fmt.Sprintf("word%dx %08x %08x %08x", h.last, h.random.Uint32(), h.random.Uint32(), h.random.Uint32())}
}

// commit writes the logs, and commits them with a file of its own.
func (h *fixHistory) commit(logs [][]randomEntry, message string) {
	for i, s := range h.shapes {
		h.write(s, logs[i])
	}
	h.last++
	h.Write(fmt.Sprintf("code/%d", h.last), message+"\n")
	h.Commit(message)
	h.story = append(h.story, message)
}

func (h *fixHistory) write(s logShape, entries []randomEntry) {
	if s.isFolder() {
		h.Git("rm", "-r", "-q", "-f", "--ignore-unmatch", "--", s.path)
		for _, e := range entries {
			h.Write(path.Join(s.path, fmt.Sprintf("%04d_x.sql", e.number)), fmt.Sprintf(s.entry, e.number, e.words))
		}
		return
	}
	text := s.head
	for i := range entries {
		e := entries[i]
		if s.newestFirst {
			e = entries[len(entries)-1-i]
		}
		text += fmt.Sprintf(s.entry, e.number, e.words)
	}
	if text == "" && s.path == "g.yml" {
		text = "[]\n"
	}
	h.Write(s.path, text)
}

// diverge makes the branch work, and lets main go on. Some of the branch's commits are wrong, and some of its merges.
func (h *fixHistory) diverge() {
	work := make([][]randomEntry, len(h.shapes))
	for i := range work {
		for range 1 + h.random.IntN(4) {
			work[i] = append(work[i], h.newEntry())
		}
	}
	h.commit(work, "base")
	h.Git("push", "-q", "-u", "origin", "main")
	h.Git("remote", "set-head", "origin", "main")
	h.Git("switch", "-q", "-c", "work")
	main := slices.Clone(work)
	for range 1 + h.random.IntN(5) {
		i := h.random.IntN(len(work))
		name, changed := h.change(h.shapes[i], work[i])
		work[i] = changed
		h.commit(work, name+" "+h.shapes[i].path)
		if h.random.IntN(3) > 0 {
			continue
		}
		h.Switch("main")
		i = h.random.IntN(len(main))
		main[i] = append(slices.Clip(main[i]), h.newEntry())
		h.commit(main, "main appends "+h.shapes[i].path)
		h.Git("push", "-q", "origin", "main")
		h.Switch("work")
		if h.random.IntN(2) == 0 {
			h.merge(work, main)
		}
	}
	if h.random.IntN(3) == 0 {
		h.Git("push", "-q", "-u", "origin", "work")
		h.story = append(h.story, "work is pushed")
	}
}

// change changes the entries of a log, half of the time by an entry in the place for new ones.
func (h *fixHistory) change(s logShape, entries []randomEntry) (name string, changed []randomEntry) {
	changed = slices.Clone(entries)
	names := []string{"modify", "delete", "insert", "swap", "empty", "double"}
	name = names[h.random.IntN(len(names))]
	if len(changed) == 0 || h.random.IntN(2) == 0 || name == "double" && s.isFolder() {
		return "append", append(changed, h.newEntry())
	}
	i, j := h.random.IntN(len(changed)), h.random.IntN(len(changed))
	switch name {
	case "modify":
		changed[i].words += " changed"
	case "delete":
		changed = slices.Delete(changed, i, i+1)
	case "insert":
		changed = slices.Insert(changed, i, h.newEntry())
	case "swap":
		changed[i], changed[j] = changed[j], changed[i]
	case "empty":
		changed = nil
	case "double":
		changed = append(changed, changed[i])
	}
	return name, changed
}

// merge merges main into work: it takes one side of each log, or both, in either order.
func (h *fixHistory) merge(work, main [][]randomEntry) {
	how := []string{"ours", "theirs", "both", "the other way round"}[h.random.IntN(4)]
	h.Try("merge", "-q", "--no-commit", "--no-ff", "main") //nolint:errcheck // conflicts are resolved below
	for i := range work {
		lacks := func(entries []randomEntry) func(e randomEntry) bool {
			return func(e randomEntry) bool { return slices.Contains(entries, e) }
		}
		onlyWork, onlyMain := slices.DeleteFunc(slices.Clone(work[i]), lacks(main[i])), slices.DeleteFunc(slices.Clone(main[i]), lacks(work[i]))
		switch how {
		case "theirs":
			work[i] = slices.Clone(main[i])
		case "both":
			work[i] = slices.Concat(main[i], onlyWork)
		case "the other way round":
			work[i] = slices.Concat(work[i], onlyMain)
		}
	}
	h.commit(work, "merge "+how)
}

// pushCommand is the hook of a push of work.
func (h *fixHistory) pushCommand() string {
	return `echo "refs/heads/work $(git rev-parse work) refs/heads/work $(git rev-parse -q --verify refs/remotes/origin/work || git rev-parse work | tr 0-9a-f 0)" | small-hook pre-push origin "$(git remote get-url origin)"`
}

// words are the words of all entries in the logs of work, without those that a branch may drop, or edit as long as they are drafts.
func (h *fixHistory) words() []string {
	var out []string
	for _, s := range h.shapes {
		if s.path == "h" || s.path == "i" {
			continue
		}
		text, err := h.Try("grep", "-h", "-E", ownWord.String(), "work", "--", s.path)
		if err == nil {
			out = append(out, ownWord.FindAllString(text, -1)...)
		}
	}
	return out
}

// typeAll runs a command that judges, and types its fixes, until it finds no error.
func (h *fixHistory) typeAll(judge string) {
	for range 5 {
		said, status := h.run(judge)
		if status == 0 {
			return
		}
		var commands []string
		for line := range strings.Lines(said) {
			if _, fix, is := strings.Cut(strings.TrimSuffix(line, "\n"), "  fix: "); is {
				for _, m := range inBackticks.FindAllStringSubmatch(fix, -1) {
					commands = append(commands, m[1])
				}
			}
		}
		if status != 1 || len(commands) == 0 && !strings.Contains(said, "another name") {
			h.Errorf("status %d, and %d commands to type", status, len(commands))
		}
		if len(commands) == 0 || h.Failed() {
			return
		}
		for _, command := range commands {
			h.typeOne(command)
		}
	}
	h.Error("there is still an error after five rounds")
}

// typeOne types a command. If small-hook cannot do it, it types what that says to type instead.
func (h *fixHistory) typeOne(command string) {
	said, status := h.run(command)
	for range 4 {
		_, fix, found := strings.Cut(said, "fix: ")
		m := inBackticks.FindStringSubmatch(fix)
		if status != 2 || !found || m == nil {
			break
		}
		command = m[1]
		said, status = h.run(command)
	}
	mayFail := command == "small-hook audit" || strings.HasPrefix(command, "git merge ") // it finds something, or stops at a conflict
	if status != 0 && !mayFail {
		h.Errorf("%s failed", command)
	}
}

// run runs a line of a shell, and notes it in the story.
func (h *fixHistory) run(line string) (said string, status int) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = h.Dir, h.Environ()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.Fatal(err)
	}
	h.story = append(h.story, fmt.Sprintf("$ %s -> %d\n%s", line, cmd.ProcessState.ExitCode(), out))
	return string(out), cmd.ProcessState.ExitCode()
}
