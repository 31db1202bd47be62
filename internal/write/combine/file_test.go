package combine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// TestMergeFiles merges versions of a file that is itself the entry. stop is a part of the message where a person decides.
func TestMergeFiles(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse(policy.File, []byte(`version: 1
logs:
  - {path: "adr/*.md", entries: files, open: "^Status: draft", identity: {without_lines: "^Status:"}, frozen: committed}
  - {path: "db/*.sql", entries: files}
`), catalogue.Known())
	if err != nil {
		t.Fatal(err)
	}
	const draft, accepted, superseded, rejected = "Status: draft\nA\n", "Status: accepted\nA\n", "Status: superseded\nA\n", "Status: rejected\nA\n"
	for name, c := range map[string]struct {
		path, base, ours, theirs, want, stop string
		picked, lacks                        bool
	}{
		"a status that theirs changed":                      {path: "adr/1.md", base: accepted, ours: accepted, theirs: superseded, want: superseded},
		"a status that ours changed":                        {path: "adr/1.md", base: accepted, ours: superseded, theirs: accepted, want: superseded},
		"a status that both changed":                        {path: "adr/1.md", base: accepted, ours: superseded, theirs: rejected, stop: "ours and theirs each changed it"},
		"the same change on both sides":                     {path: "adr/1.md", base: accepted, ours: superseded, theirs: superseded, want: superseded},
		"a rewrite on one side":                             {path: "adr/1.md", base: accepted, ours: accepted, theirs: "Status: accepted\nB\n", want: accepted},
		"a rewrite beside a status":                         {path: "adr/1.md", base: accepted, ours: superseded, theirs: "Status: accepted\nB\n", want: superseded},
		"a file that is set back to a draft":                {path: "adr/1.md", base: accepted, ours: accepted, theirs: draft, want: accepted},
		"a draft":                                           {path: "adr/1.md", base: draft, ours: draft, theirs: "Status: accepted\nB\n", want: "Status: accepted\nB\n"},
		"a draft that both changed":                         {path: "adr/1.md", base: draft, ours: "Status: draft\nB\n", theirs: "Status: draft\nC\n", stop: "each changed it"},
		"a migration":                                       {path: "db/1.sql", base: "one\n", ours: "one\n", theirs: "two\n", want: "one\n"},
		"a pick that edits its own migration":               {path: "db/1.sql", base: "one\n", ours: "one\n", theirs: "two\n", picked: true, want: "two\n"},
		"a pick that deletes its own file, not another one": {path: "db/1.sql", base: "one\n", ours: "two\n", picked: true, want: "two\n"},
		"a pick that edits its own file, not another one":   {path: "db/1.sql", base: "one\n", ours: "two\n", theirs: "three\n", picked: true, stop: "each have a new file of this name"},
		"a pick beside a waived rewrite":                    {path: "adr/1.md", base: accepted, ours: "Status: accepted\nB\n", theirs: accepted, picked: true, want: "Status: accepted\nB\n"},
		"a pick that edits its own file, as ours has it":    {path: "db/1.sql", base: "one\n", ours: "two\n", theirs: "two\n", picked: true, want: "two\n"},
		"a migration of two branches":                       {path: "db/1.sql", base: "one\n", ours: "one\n", theirs: "two\n", lacks: true, want: "two\n"},
		"a migration that both edit":                        {path: "db/1.sql", base: "one\n", ours: "three\n", theirs: "two\n", lacks: true, stop: "each changed it"},
		"two new files":                                     {path: "db/1.sql", ours: "one\n", theirs: "two\n", stop: "each have a new file of this name"},
		"a new file":                                        {path: "db/1.sql", theirs: "two\n", want: "two\n"},
	} {
		version := func(name, text string) combine.Version {
			v := combine.Version{Name: name}
			if text != "" {
				v.Data = []byte(text)
			}
			return v
		}
		theirs := version("theirs", c.theirs)
		theirs.Picked, theirs.Bases = c.picked, []combine.Version{version("base", c.base)}
		done, err := combine.Case{
			Path: c.path, Comparer: read.NewLogComparer(p, c.path, time.Time{}), Ours: version("ours", c.ours), Theirs: []combine.Version{theirs}, TargetLacks: c.lacks,
		}.ResolveFile()
		switch {
		case c.stop != "":
			if err == nil || !strings.Contains(err.Error(), c.stop) {
				t.Errorf("%s: it is %v, want a stop with %q", name, err, c.stop)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case string(done.Text) != c.want:
			t.Errorf("%s: it is %q, want %q", name, done.Text, c.want)
		}
	}
}
