// Package conformance finds the workspaces whose verdict is known, for tests.
//
// A case is a txtar archive: header lines "case: NAME", "check: pass|fail",
// "strict: pass|fail" and perhaps "note: TEXT", then the files of one
// workspace. Those in testdata/recorded were recorded from the reference program,
// those in testdata/own are the repository's own.
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

// Cases reads every case.
func Cases(t testing.TB) []Case {
	t.Helper()
	return append(read(t, casesDir(t, "own")), read(t, casesDir(t, "recorded"))...)
}

func casesDir(t testing.TB, kind string) string {
	t.Helper()
	return filepath.Join(moduleRoot(t), "internal", "testkit", "conformance", "testdata", kind)
}

// moduleRoot is the nearest directory, upwards, with a go.mod. Tests run in the directory of their package.
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

// read returns the cases of a directory in the order of their file names.
func read(t testing.TB, dir string) []Case {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
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

// parse reads one archive. An unknown header is an error, so that no expectation is overlooked.
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
