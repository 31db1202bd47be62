package gate_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// workspaceDirs are the directories in which a random history has logs.
var workspaceDirs = []string{"", "deep/er", "sub"}

// world is a random history, known in three forms: as lists of entries, as
// the naive model, and as commits with files.
type world struct {
	commits []worldCommit
	// pairs are bases and heads to judge as ranges.
	pairs [][2]int
	// waivers are edits that the policy excuses; those without a new version
	// are deletions.
	waivers []waivedEdit
}

type waivedEdit struct{ before, after logEntry }

type worldCommit struct {
	parents []int
	// logs by directory; none where the log is absent.
	logs map[string]worldLog
}

type worldLog struct {
	// entries, also of a broken log: what it held before.
	entries []logEntry
	style   style
	// breakage makes the file unreadable; nil for a readable log.
	breakage *breakage
}

// breakage turns a log's text into one that is not a ledger.
type breakage struct {
	name  string
	write func(text string) blobFile
}

var breakages = []breakage{
	{"conflict", func(s string) blobFile { return blobFile{data: s + "<<<<<<< HEAD\n=======\n>>>>>>> b\n"} }},
	{"two documents", func(s string) blobFile { return blobFile{data: s + "---\nentries: []\n"} }},
	{"syntax", func(s string) blobFile { return blobFile{data: s + "- task_id: [\n"} }},
	{"stray key", func(s string) blobFile { return blobFile{data: s + "entries: []\n"} }},
	{"encoding", func(s string) blobFile { return blobFile{data: s + "# \xff\n"} }},
	{"empty", func(string) blobFile { return blobFile{} }},
	{"no entries", func(string) blobFile { return blobFile{data: "small_version: \"1.0.0\"\nowner: agent\n"} }},
	{"entries are a map", func(string) blobFile { return blobFile{data: "small_version: \"1.0.0\"\nowner: agent\nentries: {}\n"} }},
	{"symlink", func(s string) blobFile { return blobFile{data: s, mode: "120000"} }},
	{"large file pointer", func(string) blobFile {
		return blobFile{data: "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 12\n"}
	}},
}

func (l worldLog) file() blobFile {
	text := l.style.render(l.entries)
	if l.breakage != nil {
		return l.breakage.write(text)
	}
	return blobFile{data: text}
}

// model is the history as the naive model knows it: entries that a waiver
// makes equal have one key.
func (w *world) model() model {
	var m model
	class := map[string]string{}
	mayGo := map[string]bool{}
	for _, edit := range w.waivers {
		from := edit.before.key()
		if edit.after == nil {
			mayGo[from] = true
			continue
		}
		before, after := cmp.Or(class[from], from), cmp.Or(class[edit.after.key()], edit.after.key())
		class[from], class[edit.after.key()] = before, after
		for key, c := range class {
			if c == before {
				class[key] = after
			}
		}
	}
	becomes := w.becomes()
	for from, versions := range becomes { // what may become an entry that may be missing may be missing itself
		for to := range versions {
			mayGo[from] = mayGo[from] || mayGo[to]
		}
	}
	for _, c := range w.commits {
		mc := modelCommit{parents: c.parents, logs: map[string]modelLog{}}
		for dir, log := range c.logs {
			if log.breakage != nil {
				mc.logs[dir] = modelLog{state: broken, content: fmt.Sprint(log.file())}
				continue
			}
			ml := modelLog{state: readable}
			for _, e := range log.entries {
				entry := e.model()
				entry.mayGo = mayGo[entry.key]
				entry.version, entry.mayBecome = entry.key, becomes[entry.key]
				entry.key = cmp.Or(class[entry.key], entry.key)
				ml.entries = append(ml.entries, entry)
			}
			mc.logs[dir] = ml
		}
		m = append(m, mc)
	}
	return m
}

// becomes says which versions waivers let each version become, at once or one
// waiver after the other.
func (w *world) becomes() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, edit := range w.waivers {
			if edit.after == nil {
				continue
			}
			from, to := edit.before.key(), edit.after.key()
			if out[from] == nil {
				out[from] = map[string]bool{}
			}
			for _, next := range append(slices.Collect(maps.Keys(out[to])), to) {
				grown = grown || !out[from][next]
				out[from][next] = true
			}
		}
	}
	return out
}

// tree is a commit's tree.
func (c worldCommit) tree() fileTree {
	tree := fileTree{"README.md": {data: "hello"}}
	for dir, log := range c.logs {
		tree[logPath(dir)] = log.file()
	}
	return tree
}

// options are what the gate is told besides the history.
func (w *world) options() run.Options {
	opts := testOptions()
	if len(w.waivers) == 0 {
		return opts
	}
	opts.Policy = policy.Default()
	for _, edit := range w.waivers {
		for _, dir := range workspaceDirs {
			waiver := policy.Waiver{Rule: "append-only/deleted", Edit: ledger.EntryLost, Path: logPath(dir), From: digestOf(edit.before), Reason: "test"}
			if edit.after != nil {
				waiver.Rule, waiver.Edit, waiver.To = "append-only/modified", ledger.EntryChanged, digestOf(edit.after)
			}
			opts.Policy.Waivers = append(opts.Policy.Waivers, waiver)
		}
	}
	return opts
}

// digestOf is the digest of an entry as the gate knows it.
func digestOf(e logEntry) *small.Digest {
	log, problems := ledger.ReadLog([]byte(style{}.render([]logEntry{e})), small.Limits{})
	if log == nil {
		panic(problems[0].Message)
	}
	return &log.Entries[0].Digest
}

// history is the world as commits with files, and the commits' ids.
func (w *world) history() (*memoryHistory, []string) {
	h := newMemoryHistory()
	var ids []string
	for _, c := range w.commits {
		ids = append(ids, h.commit(c.tree(), pick(ids, c.parents)...))
	}
	return h, ids
}

func pick(ids []string, numbers []int) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, ids[n])
	}
	return out
}

// draw shows the world, one commit a line, with a letter for each entry:
//
//	c2 <- c0 c1   .: a b X! c   sub: absent
//
// An exclamation mark follows an entry that is evidence of a reconciliation.
func (w *world) draw() string {
	var out strings.Builder
	letters := map[string]string{}
	var legend []string
	letter := func(e logEntry) string {
		key := e.key()
		if letters[key] == "" {
			n := len(letters)
			letters[key] = string(rune('a' + n%26))
			if n >= 26 {
				letters[key] += fmt.Sprint(n / 26)
			}
			legend = append(legend, letters[key]+" = "+key)
		}
		if e.model().marker {
			return letters[key] + "!"
		}
		return letters[key]
	}
	for i, c := range w.commits {
		fmt.Fprintf(&out, "c%-2d <- %-10s", i, strings.Trim(fmt.Sprint(c.parents), "[]"))
		for _, dir := range slices.Sorted(maps.Keys(c.logs)) {
			log := c.logs[dir]
			var names []string
			for _, e := range log.entries {
				names = append(names, letter(e))
			}
			fmt.Fprintf(&out, "  %s: [%s] %s", logPath(dir), strings.Join(names, " "), log.style)
			if log.breakage != nil {
				fmt.Fprintf(&out, " broken (%s)", log.breakage.name)
			}
		}
		out.WriteString("\n")
	}
	for _, edit := range w.waivers {
		if edit.after == nil {
			fmt.Fprintf(&out, "waived: deletion of %s\n", letter(edit.before))
		} else {
			fmt.Fprintf(&out, "waived: %s to %s\n", letter(edit.before), letter(edit.after))
		}
	}
	return out.String() + strings.Join(legend, "\n") + "\n"
}

// String names what is not plain about a style.
func (s style) String() string {
	if s == (style{}) {
		return ""
	}
	type fields style
	return fmt.Sprintf("%+v", fields(s))
}

// tape is a source of choices. A fuzzer or a random generator writes it; after
// its end every choice is the first one, so that a shorter tape means a
// simpler history.
type tape struct {
	bytes []byte
	next  int
}

// n makes a choice between n possibilities, at most 256.
func (t *tape) n(n int) int {
	if t.next >= len(t.bytes) {
		return 0
	}
	t.next++
	return int(t.bytes[t.next-1]) % n
}

// oneIn is true once in n times.
func (t *tape) oneIn(n int) bool { return t.n(n) == n-1 }

// shrink looks for a simpler tape on which something still fails: shorter, or
// with smaller choices. It gives up after some thousand trials.
func shrink(bytes []byte, fail func([]byte) bool) []byte {
	trials := 0
	fails := func(b []byte) bool {
		trials++
		return trials < 3000 && fail(b)
	}
	for changed := true; changed; {
		changed = false
		for size := len(bytes); size > 0; size /= 2 {
			for at := 0; at+size <= len(bytes); at += size {
				without := slices.Concat(bytes[:at], bytes[at+size:])
				if fails(without) {
					bytes, changed = without, true
					break
				}
			}
		}
		for i, b := range bytes {
			for _, smaller := range []byte{0, b / 2, b - 1} {
				trial := slices.Clone(bytes)
				trial[i] = smaller
				if b > smaller && fails(trial) {
					bytes, changed = trial, true
					break
				}
			}
		}
	}
	return bytes
}
