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

	"github.com/small-gate/small-gate/internal/gittest"
)

// readers are those that the program has.
var readers = []string{"git", "go-git"}

// TestMatrix runs every script of testdata/matrix with each reader: one script
// for one kind of repository. In each the gate judges a good and a bad change,
// or says why it cannot; which of the two it was is the table in
// docs/repositories.md, which this test writes with -update and otherwise
// compares.
//
// A script begins with "# kind: WORDS", the first column of the table. Both
// readers judge what it makes, side by side; after a line "# apart: REASON" it
// runs once for each. A line "# READER: WORDS" fixes what the table says of one
// reader, where it depends on the installed git.
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
	// asked is true once the gate has been asked whether it can judge; it is
	// not in a script that is skipped.
	asked bool
	// refused says why the gate could not judge; empty as long as it could.
	refused string
	// auto is the reader that is taken if none is named, or "refused".
	auto string
	// clock counts the minutes that entries have used up.
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

// outcomes are what the table is made of.
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

// compare writes the table, or demands that it is there. What did not run here
// is left as it is.
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
	for _, file := range o.files {
		row := "| " + o.kinds[file]
		for _, reader := range columns {
			words, ran := o.seen[file+" "+reader]
			if !ran {
				t.Logf("NOT compared: %s with the reader %s did not run to its end here", file, reader)
				row = ""
				break
			}
			row += " | " + strings.ReplaceAll(words, "|", `\|`)
		}
		if row == "" {
			table += rowOf(old, o.kinds[file])
			continue
		}
		table += row + " |\n"
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

// rowOf finds the row of a kind in a table.
func rowOf(table, kind string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| "+kind+" |") {
			return line
		}
	}
	return ""
}
