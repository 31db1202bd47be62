package main

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestProfile2Edges judges histories that go to 2.0.0 and back: each edge by the profile that it has.
func TestProfile2Edges(t *testing.T) {
	gittest.Long(t)
	data, err := txtar.ParseFile("testdata/script/profile2.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := gittest.New(t)
	write := func(from string) {
		for _, f := range data.Files {
			if path, in := strings.CutPrefix(f.Name, from+"/"); in && !strings.Contains(path, "/imports/") {
				r.Write(path, string(f.Data))
			}
		}
	}
	migrate := func(notes string) {
		originals := map[string][]byte{"evidence/notes.md": []byte(notes)}
		for _, f := range data.Files {
			if name, in := strings.CutPrefix(f.Name, "base/.small/"); in {
				originals[name] = f.Data
			}
		}
		r.Git("rm", "-r", "-q", ".small")
		write("migrated")
		for name, text := range records.NewImport("acme/app", originals) {
			r.Write(".small/"+name, string(text))
		}
	}
	judge := func(want int, args ...string) string {
		t.Helper()
		cmd := smallHook(r, args...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: exit status %d, not %d:\n%s", args, got, want, out)
		}
		return string(out)
	}
	write("base")
	r.Write(".small/evidence/notes.md", "one\n")
	r.Commit("base")
	r.Write(".small/evidence/notes.md", "two\n")
	edited := r.Commit("A file of 1.0.0 is edited")
	r.Branch("late", edited)
	migrate("two\n")
	migrated := r.Commit("migrate")
	judge(0, "audit")
	judge(0, "range", migrated+"~2.."+migrated)

	// A branch of 1.0.0 is merged, either way; then it brings a file of its own where only records may stand.
	r.Git("switch", "-q", "late")
	r.CommitFile("code.go", "package app\n")
	for _, side := range [][2]string{{"main", "late"}, {"late", "main"}} {
		r.Git("switch", "-q", "-c", "merged", side[0])
		r.Git("merge", "-q", "--no-ff", "--no-edit", side[1])
		judge(0, "range", edited+"..HEAD")
		judge(0, "audit")
		r.Git("switch", "-q", side[0])
		r.Git("branch", "-q", "-D", "merged")
	}
	r.CommitFile(".small/evidence/more.md", "more\n")
	r.Git("switch", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "--no-edit", "late")
	if out := judge(1, "range", migrated+"..HEAD"); strings.Count(out, ": error [") != 1 || !strings.Contains(out, "validate/record") {
		t.Errorf("the file among records is not all that is found:\n%s", out)
	}
	r.Git("reset", "-q", "--hard", migrated)

	// Back to 1.0.0 is found; what comes after is of 1.0.0.
	r.Git("rm", "-r", "-q", ".small")
	write("base")
	r.Write(".small/evidence/notes.md", "two\n")
	back := r.Commit("downgrade")
	if out := judge(1, "range", migrated+".."+back); strings.Count(out, "append-only/deleted") < 3 {
		t.Errorf("not all records are missed:\n%s", out)
	}
	r.Write(".small/evidence/notes.md", "three\n")
	after := r.Commit("A file of 1.0.0 is edited again")
	judge(0, "range", back+".."+after)
	if out := judge(1, "audit"); strings.Contains(out, after[:12]) || strings.Contains(out, edited[:12]) {
		t.Errorf("a file of 1.0.0 is judged as a record:\n%s", out)
	}
}
