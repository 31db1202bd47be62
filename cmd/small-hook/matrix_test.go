package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// readers are those that the program has.
var readers = []string{"git", "go-git"}

// TestMatrix runs every script of testdata/matrix, one for each kind of repository, with each reader. In each the gate judges a good and a
// bad change, or says why it cannot. The results are the table in docs/repositories.md, which -update writes and the test otherwise
// compares.
//
// A script begins with "# kind: WORDS", the first column of the table. Both readers judge it side by side; after a line "# apart: REASON"
// it runs once for each. A line "# READER: WORDS" fixes the table's words for one reader, where they depend on the installed git.
func TestMatrix(t *testing.T) {
	gittest.Long(t)
	files, err := filepath.Glob(filepath.Join("testdata", "matrix", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts: ", err)
	}
	table := newOutcomes(t, files)
	t.Run("scripts", func(t *testing.T) {
		for _, file := range files {
			runs := []string{sideBySide}
			if table.apart[file] {
				runs = readers
			}
			for _, reader := range runs {
				t.Run(reader, func(t *testing.T) {
					t.Parallel()
					runKind(t, file, reader, table)
				})
			}
		}
	})
	t.Run("table", table.compare)
}

// kindRun is one script with one reader, or with all side by side.
type kindRun struct {
	reader string
	// asked is true once the gate was asked whether it can judge; a skipped script never asks.
	asked bool
	// refused says why the gate could not judge; empty as long as it could.
	refused string
	// auto is the reader that the program chooses by itself, or "refused".
	auto string
	// clock counts the minutes that entries have used.
	clock int
}

func runKind(t *testing.T, file, reader string, table *outcomes) {
	run := &kindRun{reader: reader}
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                run.commands(),
		Condition:           run.condition,
		Setup: func(env *testscript.Env) error {
			env.Defer(func() {
				if run.asked && !t.Failed() {
					table.note(file, run)
				}
			})
			return setupReader(env, reader)
		},
	})
}

// condition knows [refused], [root], and the readers' names.
func (k *kindRun) condition(cond string) (bool, error) {
	switch cond {
	case "refused":
		return k.refused != "", nil
	case "root":
		return os.Geteuid() == 0, nil
	case "git", "go-git":
		return cond == k.reader, nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

// outcomes are the contents of the table.
type outcomes struct {
	mu    sync.Mutex
	files []string
	kinds map[string]string // file to kind
	apart map[string]bool   // files in which each reader has its own run
	fixed map[string]string // file and reader to words
	seen  map[string]string // file and reader to outcome
}

var headerLine = regexp.MustCompile(`(?m)^# (kind|apart|git|go-git|auto): (.+)$`)

func newOutcomes(t *testing.T, files []string) *outcomes {
	t.Helper()
	o := &outcomes{files: files, kinds: map[string]string{}, apart: map[string]bool{}, fixed: map[string]string{}, seen: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range headerLine.FindAllStringSubmatch(string(text), -1) {
			switch m[1] {
			case "kind":
				o.kinds[file] = m[2]
			case "apart":
				o.apart[file] = true
			default:
				o.fixed[file+" "+m[1]] = m[2]
			}
		}
		if o.kinds[file] == "" {
			t.Fatalf("%s does not begin with # kind:", file)
		}
	}
	return o
}

func (o *outcomes) note(file string, k *kindRun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	words := "judged"
	if k.refused != "" {
		words = "refused: " + k.refused
	}
	judges := []string{k.reader}
	if k.reader == sideBySide {
		judges = readers
	}
	for _, reader := range judges {
		o.seen[file+" "+reader] = words
	}
	if k.auto != "" {
		o.seen[file+" auto"] = k.auto
	}
	for _, reader := range append([]string{"auto"}, judges...) {
		if fixed := o.fixed[file+" "+reader]; fixed != "" {
			o.seen[file+" "+reader] = fixed
		}
	}
}

const (
	tableBegins = "<!-- the table is written by: SMALL_GATE_TESTS=all go test ./cmd/small-hook -run TestMatrix -update -->\n"
	tableEnds   = "<!-- the table ends -->\n"
)

// compare writes the table, or compares it. Rows of kinds that did not run here stay as they are.
func (o *outcomes) compare(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "repositories.md")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(data), tableBegins)
	old, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", name)
	}
	columns := append(slices.Clone(readers), "auto")
	table := "\n| repository | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)+1) + "\n"
	var order []string
	kinds := map[string]string{} // outcomes to the kinds that have them
	for _, file := range o.files {
		outcomes := ""
		for _, reader := range columns {
			words, ran := o.seen[file+" "+reader]
			if !ran {
				t.Logf("NOT compared: %s with the reader %s did not run to its end here", file, reader)
				outcomes = outcomesOf(old, o.kinds[file])
				break
			}
			words, _, _ = strings.Cut(words, ": ") // why it is refused, its message says
			outcomes += " | " + words
		}
		if kinds[outcomes] == "" {
			order = append(order, outcomes)
			kinds[outcomes] = o.kinds[file]
			continue
		}
		kinds[outcomes] += "; " + o.kinds[file]
	}
	for _, outcomes := range order {
		table += "| " + kinds[outcomes] + outcomes + " |\n"
	}
	table += "\n"
	if table == old {
		return
	}
	if !*update {
		t.Errorf("%s says something else:\n%s\nIf that is meant: SMALL_GATE_TESTS=all go test ./cmd/small-hook -run TestMatrix -update", name, table)
		return
	}
	if err := os.WriteFile(name, []byte(before+tableBegins+table+tableEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outcomesOf finds the outcomes of a kind in a table.
func outcomesOf(table, kind string) string {
	for line := range strings.Lines(table) {
		kinds, outcomes, _ := strings.Cut(strings.Trim(line, "| \n"), " | ")
		if slices.Contains(strings.Split(kinds, "; "), kind) {
			return " | " + outcomes
		}
	}
	return ""
}
