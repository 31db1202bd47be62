package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestNeighboursNotes plays people in three work trees whose tips move back and forth, between hooks that remember what they saw, hooks of
// which two run at once, notes of other commits and versions, and garbage in place of a note. What is remembered may cost time: the hook finds
// what it finds without any note.
func TestNeighboursNotes(t *testing.T) {
	for round := range gittest.Rounds(1, 6) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			w := newNotesWorld(t, rand.New(rand.NewPCG(gittest.Seed(43), uint64(round))))
			for range gittest.Cases(8, 80) {
				w.step()
			}
			t.Logf("%d hooks, of which %d warned; %d notes were replaced", w.hooks, w.warned, w.replaced)
			if w.warned == 0 || w.replaced == 0 {
				t.Error("this has tested nothing")
			}
		})
	}
}

// notesWorld is a repository with other work trees, and what their branches have been.
type notesWorld struct {
	*testing.T
	*rand.Rand
	own    *gittest.Repo
	others []*gittest.Repo
	// tips are the commits that each branch has had, the own one's first.
	tips                    [][]string
	notes                   []string
	serial                  int
	hooks, warned, replaced int
}

const progressLog = ".small/progress.small.yml"

func newNotesWorld(t *testing.T, random *rand.Rand) *notesWorld {
	w := &notesWorld{T: t, Rand: random, own: gittest.New(t)}
	if err := os.CopyFS(w.own.Dir, os.DirFS("testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	w.tips = [][]string{{w.own.Commit("begin")}}
	for i := range 2 {
		w.others = append(w.others, w.own.Worktree(fmt.Sprintf("agent-%d", i)))
		w.tips = append(w.tips, slices.Clone(w.tips[0]))
	}
	return w
}

// record appends an entry on one of three tasks.
func (w *notesWorld) record(r *gittest.Repo) {
	text, err := os.ReadFile(r.Path(progressLog))
	if err != nil {
		w.Fatal(err)
	}
	w.serial++
	at := fmt.Sprintf("2026-03-02T%02d:%02d:%02d.000000001Z", w.serial/3600, w.serial/60%60, w.serial%60)
	r.Write(progressLog, fmt.Sprintf("%s  - task_id: \"task-%d\"\n    timestamp: %q\n    evidence: \"done %d\"\n", text, w.IntN(3)+1, at, w.serial))
	r.Git("add", "-A")
}

// move makes a branch another commit that it or another branch has had.
func (w *notesWorld) move(r *gittest.Repo) {
	tips := w.tips[w.IntN(len(w.tips))]
	r.Git("reset", "-q", "--hard", tips[w.IntN(len(tips))])
}

func (w *notesWorld) commit(r *gittest.Repo, n int) {
	w.tips[n] = append(w.tips[n], r.Commit("an entry"))
}

// step lets somebody else do something, has the own change judged, and commits it or not.
func (w *notesWorld) step() {
	for range w.IntN(3) {
		n := w.IntN(len(w.others))
		if w.IntN(3) == 0 {
			w.move(w.others[n])
		} else {
			w.record(w.others[n])
			w.commit(w.others[n], n+1)
		}
	}
	if w.IntN(6) == 0 {
		w.move(w.own)
	}
	w.record(w.own)
	if w.IntN(3) == 0 {
		w.replaceNote()
	}
	w.judge()
	if w.IntN(3) > 0 {
		w.commit(w.own, 0)
	} else {
		w.own.Git("reset", "-q", "--hard")
	}
}

const notesFile = ".git/small-gate/neighbours"

func (w *notesWorld) note() string {
	text, err := os.ReadFile(w.own.Path(notesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	return string(text)
}

// replaceNote puts an older note, one that another version could have written, or garbage in the place of the note.
func (w *notesWorld) replaceNote() {
	note := w.note()
	if note == "" {
		return
	}
	w.replaced++
	garbage := []string{"", "{", "null", "[]", "\x00\xff", `{"` + w.own.ID("agent-0") + `":{"` + progressLog + `":{}}}`}
	commits := strings.NewReplacer(w.own.ID("agent-0"), w.own.ID("agent-1"), w.own.ID("agent-1"), w.own.ID("agent-0"))
	var foreign any
	if at := strings.Index(note, "{"); at >= 0 && json.Unmarshal([]byte(note[at:]), &foreign) == nil {
		if changed, err := json.Marshal(withoutEntries(foreign)); err == nil {
			garbage = append(garbage, string(changed), note[:at]+string(changed))
		}
	}
	garbage = append(garbage, note[:len(note)/2], note+"}", commits.Replace(note), strings.Replace(note, "task-", "work-", 1))
	w.own.Write(notesFile, garbage[w.IntN(len(garbage))])
	if len(w.notes) > 0 && w.IntN(2) == 0 {
		w.own.Write(notesFile, w.notes[w.IntN(len(w.notes))])
	}
}

// withoutEntries empties every list in a JSON value.
func withoutEntries(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = withoutEntries(v[key])
		}
	case []any:
		return []any{}
	}
	return value
}

// judge compares what hooks find with their notes, and without.
func (w *notesWorld) judge() {
	judged := w.hook()
	results := []func() string{judged}
	if w.IntN(3) == 0 {
		results = append(results, w.hook())
	}
	var found []string
	for _, result := range results {
		found = append(found, result())
	}
	if note := w.note(); note != "" {
		w.notes = append(w.notes, note)
	}
	remembered := w.note()
	if err := os.Remove(w.own.Path(notesFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	want := w.hook()()
	for _, got := range found {
		if got != want {
			w.Fatalf("with the note the hook finds\n%s\nand without it\n%s", got, want)
		}
	}
	if strings.Contains(want, "divergence/concurrent-append") {
		w.warned++
	}
	if remembered != "" {
		w.own.Write(notesFile, remembered)
	}
}

// hook starts a hook, and returns what waits for its verdict and findings.
func (w *notesWorld) hook() func() string {
	w.hooks++
	cmd := exec.Command(os.Args[0], "pre-commit", "--format", "json")
	cmd.Args[0] = "small-hook"
	cmd.Dir, cmd.Env = w.own.Dir, w.own.Environ()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return func() string {
		if err := cmd.Wait(); err != nil {
			w.Fatalf("%v\n%s%s", err, &out, &said)
		}
		var report struct {
			Verdict  string
			Findings json.RawMessage
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			w.Fatal(err)
		}
		return report.Verdict + string(report.Findings)
	}
}
