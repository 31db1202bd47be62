package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var fullSize = flag.Bool("full", false, "make the hostile histories as large as is read, not a part of it")

// maxPeak is the memory, in bytes, that a process may take to judge a hostile history and report on it.
const maxPeak = 1 << 30

// hostileHistories are two versions of a log, made to give as many findings as n short entries can.
var hostileHistories = map[string]func(n int) (before, after string){
	"deleted":  func(n int) (string, string) { return manyEntries(n, "- a%\n"), manyEntries(0, "") },
	"replaced": func(n int) (string, string) { return manyEntries(n, "- a%\n"), manyEntries(n, "- b%\n") },
	"modified": func(n int) (string, string) {
		return manyEntries(n/3, "- {timestamp: t%, a: x}\n"), manyEntries(n/3, "- {timestamp: t%, a: y}\n")
	},
	"escaped": func(n int) (string, string) {
		return manyEntries(n/20, "- \""+strings.Repeat(`\a`, 200)+"%\"\n"), manyEntries(0, "")
	},
}

// manyEntries is a log of n entries, each with its number.
func manyEntries(n int, entry string) string {
	var b strings.Builder
	b.WriteString("small_version: \"1.0.0\"\nowner: agent\nentries:")
	if n == 0 {
		b.WriteString(" []")
	}
	b.WriteByte('\n')
	for i := range n {
		b.WriteString(strings.ReplaceAll(entry, "%", strconv.Itoa(i)))
	}
	return b.String()
}

// TestMemory judges each hostile history in a process of its own, and bounds the memory it takes and the output it writes. All findings are
// counted.
func TestMemory(t *testing.T) {
	gittest.Long(t)
	entries := 200_000
	if *fullSize {
		entries = 600_000
	}
	for name, versions := range hostileHistories {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %q: %v\n%s", args, err, out)
				}
			}
			git("init", "-q")
			if err := os.Mkdir(filepath.Join(dir, ".small"), 0o755); err != nil {
				t.Fatal(err)
			}
			before, after := versions(entries)
			for _, text := range []string{before, after} {
				if err := os.WriteFile(filepath.Join(dir, ".small", "progress.small.yml"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				git("add", "-A")
				git("commit", "-q", "-m", "entries")
			}
			for _, format := range []string{"json", "text"} {
				out := judgeWithin(t, dir, format)
				if format == "text" {
					if len(out) > 10_000 || !strings.Contains(out, "more findings (") {
						t.Errorf("%d bytes of text:\n%.2000s", len(out), out)
					}
					continue
				}
				var doc struct {
					Verdict  string
					Findings []json.RawMessage
					Summary  struct{ Errors int }
					More     struct{ Errors int }
				}
				if err := json.Unmarshal([]byte(out), &doc); err != nil {
					t.Fatal(err)
				}
				if doc.Verdict != "fail" || doc.More.Errors == 0 || doc.Summary.Errors > len(doc.Findings)+doc.More.Errors ||
					doc.Summary.Errors < strings.Count(before, "\n-") || len(out) > 64<<20 {
					t.Errorf("%s: %d bytes, %d findings, %+v errors, %+v more", doc.Verdict, len(out), len(doc.Findings), doc.Summary, doc.More)
				}
			}
		})
	}
}

// judgeWithin is the program's report on the last commit.
func judgeWithin(t *testing.T, dir, format string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-C", dir, "range", "HEAD~1..HEAD", "--format", format)
	cmd.Args[0] = "small-hook"
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%.2000s%.2000s", err, out.String(), said.String())
	}
	peak, known := peakMemory(cmd.ProcessState)
	if !known {
		t.Log("this system does not tell the peak memory of a process; it is not judged")
		return out.String()
	}
	t.Logf("%s: %3d MiB, %v of processor time", format, peak>>20, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if peak > maxPeak {
		t.Errorf("the process took %d MiB, at most %d are expected", peak>>20, maxPeak>>20)
	}
	return out.String()
}

// peakOf is a program that runs another one and writes its peak memory, in bytes, to the file that its first argument names. Until exec,
// Linux counts the memory of the parent as well: this program is small, the process of the tests is not.
func peakOf() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	peak, known := peakMemory(cmd.ProcessState)
	if known {
		if err := os.WriteFile(os.Args[1], []byte(strconv.FormatInt(peak, 10)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
