// Package conformance finds the workspaces whose verdict is known, for tests.
//
// A case is a txtar archive: header lines "case: NAME", "check: pass|fail",
// "strict: pass|fail" and perhaps "note: TEXT", then the files of one
// workspace. This repository keeps cases of its own in testdata. More, recorded
// from the reference program, may lie beside the repository in
// ../shared/conformance/cases; where they do, they are read as well.
package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The verdicts that a case can expect.
const (
	Pass = "pass"
	Fail = "fail"
)

// Case is one workspace and the verdict expected of it.
type Case struct {
	Name string
	// Check and Strict are the verdicts, Pass or Fail, of the plain and of the
	// strict check.
	Check, Strict string
	// Note says where the expected verdict is not the reference program's.
	Note string
	// Files are the workspace's files by slash-separated path, such as
	// ".small/plan.small.yml".
	Files map[string][]byte
}

// Cases reads every case that is there. Where the recorded cases are not, it
// logs that, and the repository's own remain.
func Cases(t testing.TB) []Case {
	t.Helper()
	root := moduleRoot(t)
	own := read(t, filepath.Join(root, "internal", "conformance", "testdata"))
	if len(own) == 0 {
		t.Fatal("the repository's own conformance cases are gone")
	}
	recorded := read(t, recordedDir(root))
	if len(recorded) == 0 {
		t.Logf("ATTENTION: no recorded conformance cases in %s; only the repository's own %d are judged", recordedDir(root), len(own))
	}
	for i := range recorded {
		if check := superseded[recorded[i].Name]; check != "" {
			recorded[i].Check = check
		}
	}
	return append(own, recorded...)
}

// superseded are recorded cases whose plain verdict the protocol's description
// has changed since: any evidence field evidences a completed task.
var superseded = map[string]string{
	"progress-completed-evidence-only-notes-elsewhere": Pass,
}

func recordedDir(root string) string {
	return filepath.Join(filepath.Dir(root), "shared", "conformance", "cases")
}

// moduleRoot is the nearest directory upwards that holds a go.mod. Tests run
// in the directory of their package.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		switch parent := filepath.Dir(dir); {
		case err == nil:
			return dir
		case !errors.Is(err, fs.ErrNotExist):
			t.Fatal(err)
		case parent == dir:
			t.Fatal("no go.mod in the working directory or above")
		default:
			dir = parent
		}
	}
}

// read returns the cases of a directory in the order of their file names,
// none if there is no such directory.
func read(t testing.TB, dir string) []Case {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var cases []Case
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".txtar" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parse(data)
		if err != nil {
			t.Fatalf("%s: %v", e.Name(), err)
		}
		cases = append(cases, c)
	}
	return cases
}

// parse reads one archive. A header that it does not know is an error, so that
// no expectation is overlooked.
func parse(data []byte) (Case, error) {
	archive := txtar.Parse(data)
	c := Case{Files: map[string][]byte{}}
	fields := map[string]*string{"case": &c.Name, "check": &c.Check, "strict": &c.Strict, "note": &c.Note}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		field := fields[key]
		if !found || field == nil {
			return c, fmt.Errorf("unknown header line %q", line)
		}
		if *field != "" {
			return c, fmt.Errorf("the header %q is there twice", key)
		}
		*field = strings.TrimSpace(value)
	}
	for _, f := range archive.Files {
		if _, twice := c.Files[f.Name]; twice {
			return c, fmt.Errorf("the file %s is there twice", f.Name)
		}
		c.Files[f.Name] = f.Data
	}
	return c, c.valid()
}

func (c Case) valid() error {
	for header, verdict := range map[string]string{"check": c.Check, "strict": c.Strict} {
		if verdict != Pass && verdict != Fail {
			return fmt.Errorf("the header %q is %q; %s or %s is expected", header, verdict, Pass, Fail)
		}
	}
	if c.Check == Fail && c.Strict == Pass {
		return errors.New("what the plain check rejects, the strict one rejects too")
	}
	if c.Name == "" || len(c.Files) == 0 {
		return errors.New("a case has a name and files")
	}
	return nil
}
