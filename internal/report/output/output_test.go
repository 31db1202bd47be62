package output_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/output"
)

// TestTargets pairs formats with the files after them, and gives each report a file of its own.
func TestTargets(t *testing.T) {
	t.Parallel()
	var targets output.Targets
	add := func(format, file string) error { return targets.Add(format, file) }
	for _, step := range []struct {
		err  error
		want string
	}{
		{targets.SendTo(""), "the file name is empty"},
		{targets.SendTo("a.txt"), ""},
		{targets.SendTo("b"), "put a --format before each --output"},
		{add("json", ""), ""},
		{targets.SendTo("x/../a.txt"), "two reports need two files"},
		{targets.SendTo("b.json"), ""},
		{add("sarif", "./b.json"), "two reports need two files"},
		{add("junit", "c.xml"), ""},
	} {
		if got := step.err; (got == nil) != (step.want == "") || got != nil && !strings.Contains(got.Error(), step.want) {
			t.Errorf("%v, not %q", got, step.want)
		}
	}
	want := output.Targets{{Format: "text", File: "a.txt"}, {Format: "json", File: "b.json"}, {Format: "junit", File: "c.xml"}}
	if diff := cmp.Diff(want, targets); diff != "" {
		t.Error(diff)
	}
}

// TestUnwritten names the target's file, not the temporary one beside it, and says what to do.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "missing", "r.json")
	err := output.Target{Format: "json", File: file}.WriteFile(&finding.Report{Verdict: finding.Pass}, false)
	f := failure.Of(err)
	if f == nil || !errors.Is(err, fs.ErrNotExist) || f.Remedy == "" ||
		!strings.HasPrefix(f.Message, "the json report could not be written to "+file+": ") || strings.Contains(f.Message, wholefile.Infix) {
		t.Errorf("%+v", f)
	}
}
