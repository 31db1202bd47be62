package combine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// kinds has logs of every kind that is merged as text.
const kinds = `version: 1
logs:
  - {path: "*.keyed.jsonl", entries: lines, identity: {only: [id]}, order: free}
  - {path: "*.ids.jsonl", entries: lines, identity: {only: [id]}}
  - {path: "*.lines", entries: lines}
  - {path: "*.chain.jsonl", entries: lines, identity: {without: [prev]}}
  - {path: "*.changes.md", entries: blocks, start: "^## ", order: newest-first, open: newest, identity: {without_lines: "^\\[[^]]+\\]: "}}
  - {path: "*.notes.md", entries: blocks, start: "^## ", open: "^Status: draft"}
  - {path: "*.keyed.yml", entries: list, at: entries, identity: {only: [id]}, order: free}
  - {path: "*.list.yml", entries: list, at: entries}
  - {path: "*.newest.json", entries: list, at: entries, order: newest-first}
`

func kindsPolicy(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(policy.File, []byte(kinds), catalogue.Known())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMergeKinds merges a base, ours and theirs, the target's entries first. stop is a part of the message where a person decides.
func TestMergeKinds(t *testing.T) {
	t.Parallel()
	p := kindsPolicy(t)
	for name, c := range map[string]struct {
		path, base, ours, theirs, want, stop string
		picked                               bool
	}{
		"a record that theirs changed": {
			path: "x.keyed.jsonl",
			base: "{\"id\":1,\"s\":\"open\"}\n{\"id\":2}\n", ours: "{\"id\":1,\"s\":\"open\"}\n{\"id\":2}\n{\"id\":3}\n", theirs: "{\"id\":1,\"s\":\"closed\"}\n{\"id\":2}\n",
			want: "{\"id\":1,\"s\":\"closed\"}\n{\"id\":2}\n{\"id\":3}\n",
		},
		"a record that ours changed": {
			path: "x.keyed.jsonl",
			base: "{\"id\":1,\"s\":\"open\"}\n", ours: "{\"id\":1,\"s\":\"closed\"}\n", theirs: "{\"id\":1,\"s\":\"open\"}\n{\"id\":2}\n",
			want: "{\"id\":1,\"s\":\"closed\"}\n{\"id\":2}\n",
		},
		"a record that a picked commit changed": {
			path: "x.keyed.jsonl", picked: true,
			base: "{\"id\":1,\"s\":\"open\"}\n", ours: "{\"id\":1,\"s\":\"open\"}\n{\"id\":2}\n", theirs: "{\"id\":1,\"s\":\"closed\"}\n",
			want: "{\"id\":1,\"s\":\"closed\"}\n{\"id\":2}\n",
		},
		"fields that both changed": {
			path: "x.keyed.jsonl",
			base: "{\"id\":1, \"s\":\"open\", \"n\":{\"a\":1,\"b\":1}}\n", ours: "{\"id\":1, \"s\":\"closed\", \"n\":{\"a\":2,\"b\":1}}\n", theirs: "{\"id\":1, \"s\":\"open\", \"n\":{\"a\":1,\"b\":2},\"by\":\"<x>\"}\n",
			want: "{\"id\":1, \"s\":\"closed\", \"n\":{\"a\":2, \"b\":2}, \"by\":\"<x>\"}\n",
		},
		"one field that both changed": {
			path: "x.keyed.jsonl",
			base: "{\"id\":1,\"s\":\"open\"}\n", ours: "{\"id\":1,\"s\":\"closed\"}\n", theirs: "{\"id\":1,\"s\":\"dropped\"}\n",
			stop: `line 1 of ours and line 1 of theirs are two versions of one entry, and both sides changed its field "s"`,
		},
		"one new record on both sides": {
			path: "x.keyed.jsonl",
			base: "{\"id\":1}\n", ours: "{\"id\":1}\n{\"id\":2,\"a\":1}\n", theirs: "{\"id\":1}\n{\"id\":2,\"b\":1}\n",
			want: "{\"id\":1}\n{\"id\":2,\"a\":1,\"b\":1}\n",
		},
		"new records in two orders": {
			path: "x.ids.jsonl",
			base: "{\"id\":1}\n", ours: "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n", theirs: "{\"id\":1}\n{\"id\":3}\n{\"id\":2}\n",
			stop: "the sides have the same entries in different orders: line 3 would be there twice",
		},
		"new records in two orders, picked": {
			path: "x.ids.jsonl", picked: true,
			base: "{\"id\":1}\n", ours: "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n", theirs: "{\"id\":1}\n{\"id\":3}\n{\"id\":2}\n",
			want: "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n",
		},
		"a field that theirs took away": {
			path: "x.keyed.jsonl",
			base: "{\"id\":1,\"a\":1,\"b\":1}\n", ours: "{\"id\":1,\"a\":1,\"b\":2}\n", theirs: "{\"id\":1,\"b\":1}\n",
			want: "{\"id\":1,\"b\":2}\n",
		},
		"records of a list": {
			path: "x.keyed.yml",
			base: "entries:\n- id: 1 # one\n  s: open\n- id: 2\nend: 1\n", ours: "entries:\n- id: 1 # one\n  s: closed\n- id: 2\nend: 1\n", theirs: "entries:\n- id: 1 # one\n  s: open\n- id: 2\n- id: 3\nend: 2\n",
			want: "entries:\n- id: 1 # one\n  s: closed\n- id: 2\n- id: 3\nend: 2\n",
		},
		"both changed the rest of a file": {
			path: "x.keyed.yml",
			base: "entries:\n- id: 1\nend: 1\n", ours: "entries:\n- id: 1\nend: 2\n", theirs: "entries:\n- id: 1\nend: 3\n",
			stop: "both sides changed the text before or after the entries",
		},
		"an alias of what ours changed": {
			path: "x.keyed.yml",
			base: "entries:\n- {id: 1, v: &a 1}\n", ours: "entries:\n- {id: 1, v: &a 2}\n", theirs: "entries:\n- {id: 1, v: &a 1}\n- {id: 3, v: *a}\n",
			stop: "item 2 of theirs would change",
		},
		"a comment above an entry of ours": {
			path: "x.list.yml",
			base: "entries:\n- id: 1\n", ours: "entries:\n- id: 1\n# why\n- id: 2\n", theirs: "entries:\n- id: 1\n- id: 3\n",
			want: "entries:\n- id: 1\n- id: 3\n# why\n- id: 2\n",
		},
		"a comment at the end of the base": {
			path: "x.list.yml",
			base: "entries:\n- id: 1\n# below\n", ours: "entries:\n- id: 1\n# below\n- id: 2\n", theirs: "entries:\n- id: 1\n# below\n- id: 3\n",
			want: "entries:\n- id: 1\n# below\n- id: 3\n- id: 2\n",
		},
		"a title beside an empty list": {
			path: "x.list.yml",
			base: "title: a\nentries: []\n", ours: "title: b\nentries: []\n", theirs: "title: a\nentries:\n- id: 1\n",
			stop: "both sides changed the text before or after the entries",
		},
		"a title beside first entries of both": {
			path: "x.list.yml",
			base: "title: a\nentries: []\n", ours: "title: b\nentries:\n- id: 1\n", theirs: "title: a\nentries:\n- id: 2\n",
			want: "title: b\nentries:\n- id: 2\n- id: 1\n",
		},
		"a side whose empty list did not change": {
			path: "x.list.yml",
			base: "title: a\nentries: []\n", ours: "title: a\nentries: []\n", theirs: "title: b\nentries:\n- id: 1\n",
			want: "title: b\nentries:\n- id: 1\n",
		},
		"a chain": {
			path: "x.chain.jsonl",
			base: "{\"a\":1}\n", ours: "{\"a\":1}\n{\"a\":2,\"prev\":1}\n", theirs: "{\"a\":1}\n{\"a\":3,\"prev\":1}\n",
			want: "{\"a\":1}\n{\"a\":3,\"prev\":1}\n{\"a\":2,\"prev\":1}\n",
		},
		"two releases": {
			path:   "x.changes.md",
			base:   "# Changes\n\n## Unreleased\n- a\n\n## 1\n- old\n\n[1]: x\n",
			ours:   "# Changes\n\n## Unreleased\n- a\n- b\n\n## 1\n- old\n\n[1]: x\n",
			theirs: "# Changes\n\n## Unreleased\n- a\n\n## 1\n- old\n\n[1]: y\n",
			want:   "# Changes\n\n## Unreleased\n- a\n- b\n\n## 1\n- old\n\n[1]: y\n",
		},
		"a release and a draft that did not change": {
			path:   "x.changes.md",
			base:   "## Unreleased\n- a\n\n## 1\n- old\n",
			ours:   "## Unreleased\n- a\n\n## 1\n- old\n\n[1]: x\n",
			theirs: "## Unreleased\n\n## 2\n- a\n\n## 1\n- old\n",
			want:   "## Unreleased\n\n## 2\n- a\n\n## 1\n- old\n\n[1]: x\n",
		},
		"drafts that both changed": {
			path:   "x.changes.md",
			base:   "## Unreleased\n- a\n\n## 1\n- old\n",
			ours:   "## Unreleased\n- a\n- b\n\n## 1\n- old\n",
			theirs: "## Unreleased\n- a\n- c\n\n## 1\n- old\n",
			stop:   `both sides changed the open entry "## Unreleased"`,
		},
		"a draft that was released and changed": {
			path:   "x.changes.md",
			base:   "## Unreleased\n- a\n\n## 1\n- old\n",
			ours:   "## Unreleased\n- a\n- b\n\n## 1\n- old\n",
			theirs: "## Unreleased\n\n## 2\n- a\n\n## 1\n- old\n",
			stop:   `both sides changed the open entry "## Unreleased"`,
		},
		"a new newest section on each side": {
			path:   "x.changes.md",
			base:   "\ufeff## 1\n- old\n",
			ours:   "\ufeff## 3\n- b\n\n## 1\n- old\n",
			theirs: "\ufeff## 2\n- a\n\n## 1\n- old\n",
			want:   "\ufeff## 3\n- b\n\n## 2\n- a\n\n## 1\n- old\n",
		},
		"blocks with drafts": {
			path:   "x.notes.md",
			base:   "Top\n\n## A\nx\n\n## B\nStatus: draft\n",
			ours:   "Top\n\n## A\nx\n\n## B\nStatus: done\n",
			theirs: "Top\n\n## A\nx\n\n## C\ny\n\n## B\nStatus: draft\n",
			want:   "Top\n\n## A\nx\n\n## C\ny\n\n## B\nStatus: done\n",
		},
		"drafts with one title": {
			path:   "x.notes.md",
			base:   "## A\nx\n",
			ours:   "## A\nx\n\n## T\nStatus: draft\n1\n\n## T\nStatus: draft\n2\n",
			theirs: "## A\nx\n\n## B\ny\n",
			want:   "## A\nx\n\n## B\ny\n\n## T\nStatus: draft\n1\n\n## T\nStatus: draft\n2\n",
		},
		"a list from the end": {
			path: "x.newest.json",
			base: "{\"entries\": [\n  {\"a\": 1}\n]}\n", ours: "{\"entries\": [\n  {\"a\": 2},\n  {\"a\": 1}\n]}\n", theirs: "{\"entries\": [\n  {\"a\": 3},\n  {\"a\": 1}\n]}\n",
			want: "{\"entries\": [\n  {\"a\": 2},\n  {\"a\": 3},\n  {\"a\": 1}\n]}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done, err := combine.Case{
				Path: c.path, Comparer: read.NewLogComparer(p, c.path, time.Time{}), TheirsFirst: !c.picked,
				Ours:   combine.Version{Name: "ours", Data: []byte(c.ours)},
				Theirs: []combine.Version{{Name: "theirs", Data: []byte(c.theirs), Picked: c.picked, Bases: []combine.Version{{Name: "base", Data: []byte(c.base)}}}},
			}.Resolve()
			switch {
			case c.stop != "":
				if err == nil || !strings.Contains(err.Error(), c.stop) {
					t.Fatalf("it is %v, want a stop with %q", err, c.stop)
				}
				var f *failure.Error
				first := errors.As(err, &f) && strings.Contains(f.Remedy, "of an entry with two versions keep the one that you want, keep each side's order, and put new entries first;")
				if first != strings.HasSuffix(c.path, ".changes.md") {
					t.Fatalf("the remedy is %q", f.Remedy)
				}
			case err != nil:
				t.Fatal(err)
			case string(done.Text) != c.want:
				t.Fatalf("it is\n%s\nwant\n%s", done.Text, c.want)
			}
		})
	}
}

// TestMergeKeyed merges random changes of records with keys: no key is lost or doubled, and a change of one side is kept.
func TestMergeKeyed(t *testing.T) {
	t.Parallel()
	p := kindsPolicy(t)
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(gittest.Seed(seed), 3))
		path := []string{"x.keyed.jsonl", "x.keyed.yml"}[seed%2]
		text := func(records map[int]int, order []int) []byte {
			var out strings.Builder
			if path == "x.keyed.yml" {
				out.WriteString("entries:\n")
			}
			for _, id := range order {
				if path == "x.keyed.yml" {
					fmt.Fprintf(&out, "- id: %d\n  v: %d\n", id, records[id])
				} else {
					fmt.Fprintf(&out, "{\"id\":%d,\"v\":%d}\n", id, records[id])
				}
			}
			return []byte(out.String())
		}
		base := map[int]int{1: 0, 2: 0, 3: 0}
		order := []int{1, 2, 3}
		// A side changes records that the other side does not, and adds its own at any place.
		side := func(which int) (map[int]int, []byte) {
			records, places := map[int]int{1: 0, 2: 0, 3: 0}, slices.Clone(order)
			for id := 1 + which; id <= 3; id += 2 {
				records[id] = r.IntN(3)
			}
			for n := range r.IntN(3) {
				id := 10*(which+1) + n
				records[id] = 1
				places = slices.Insert(places, r.IntN(len(places)+1), id)
			}
			return records, text(records, places)
		}
		ours, oursText := side(0)
		theirs, theirsText := side(1)
		done, err := combine.Case{
			Path: path, Comparer: read.NewLogComparer(p, path, time.Time{}), TheirsFirst: r.IntN(2) == 0,
			Ours:   combine.Version{Name: "ours", Data: oursText},
			Theirs: []combine.Version{{Name: "theirs", Data: theirsText, Picked: r.IntN(3) == 0, Bases: []combine.Version{{Name: "base", Data: text(base, order)}}}},
		}.Resolve()
		if err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		want := map[int]int{}
		for _, records := range []map[int]int{ours, theirs} {
			for id, v := range records {
				want[id] = max(want[id], v)
			}
		}
		log, _ := combine.KindOf(p, path).Read(done.Text, small.Limits{})
		if log == nil || log.Len() != len(want) || len(ledger.DigestSet(log.Ledger)) != len(want) {
			t.Fatalf("%d: %q and %q are %q", seed, oursText, theirsText, done.Text)
		}
		for id, v := range want {
			line := fmt.Sprintf("{\"id\":%d,\"v\":%d}\n", id, v)
			if path == "x.keyed.yml" {
				line = fmt.Sprintf("- id: %d\n  v: %d\n", id, v)
			}
			if !strings.Contains(string(done.Text), line) {
				t.Fatalf("%d: %q is not in %q", seed, line, done.Text)
			}
		}
	}
}

// TestMergeApprovedRewrite merges a side that has an approved rewrite of the log, and one from before: what the rewrite removed stays away.
func TestMergeApprovedRewrite(t *testing.T) {
	t.Parallel()
	const path = "x.log"
	head := func(text string) string {
		log, _ := new(ledger.Form).Read([]byte(text))
		return log.Head().String()
	}
	from, to := "one\ntwo\n", "two\n"
	config := fmt.Sprintf("version: 1\nlogs:\n  - {path: %q, entries: lines}\nwaivers:\n  - {log: %s, from: %q, to: %q, reason: compacted}\n", "*.log", path, head(from), head(to))
	p, err := policy.Parse(policy.File, []byte(config), catalogue.Known())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ours, theirs, want string
		picked, first      bool
	}{
		"theirs is rewritten":             {ours: from + "ours\n", theirs: to + "theirs\n", want: to + "theirs\nours\n", first: true},
		"ours is rewritten":               {ours: to + "ours\n", theirs: from + "theirs\n", want: to + "ours\ntheirs\n"},
		"a pick on what is rewritten":     {ours: to + "ours\n", theirs: from + "theirs\n", want: to + "ours\ntheirs\n", picked: true},
		"only theirs is more than before": {ours: from, theirs: to + "theirs\n", want: to + "theirs\n", first: true},
	} {
		done, err := combine.Case{
			Path: path, Comparer: read.NewLogComparer(p, path, time.Time{}), TheirsFirst: c.first,
			Ours:   combine.Version{Name: "ours", Data: []byte(c.ours)},
			Theirs: []combine.Version{{Name: "theirs", Data: []byte(c.theirs), Picked: c.picked, Bases: []combine.Version{{Name: "base", Data: []byte(from)}}}},
		}.Resolve()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(done.Text) != c.want {
			t.Errorf("%s: it is %q, want %q", name, done.Text, c.want)
		}
	}
}

// TestPutBackKinds puts back what a file lost and keeps what is new in it, drafts included.
func TestPutBackKinds(t *testing.T) {
	t.Parallel()
	p := kindsPolicy(t)
	for name, c := range map[string]struct{ path, old, file, want string }{
		"a section of a changelog": {
			path: "x.changes.md",
			old:  "# Changes\n\n## Unreleased\n- a\n\n## 2\n- two\n\n## 1\n- old\n",
			file: "# Changes\n\n## Unreleased\n- a\n- b\n\n## 3\n- three\n\n## 1\n- old\n",
			want: "# Changes\n\n## Unreleased\n- a\n- b\n\n## 3\n- three\n\n## 2\n- two\n\n## 1\n- old\n",
		},
		"a line glued to a last one without an end": {path: "x.lines", old: "a\nb", file: "a\nbc\nd\n", want: "a\nb\nc\nd\n"},
		"a first line that is glued":                {path: "x.lines", old: "b", file: "bc", want: "b\nc\n"},
		"a glued line before one that begins alike": {path: "x.lines", old: "x\na", file: "x\nab\nac\n", want: "x\na\nb\nac\n"},
		"a glued line that equals an old one":       {path: "x.lines", old: "ab\na", file: "ab\nab\n", want: "ab\na\nb\n"},
		"a glued line that is there twice":          {path: "x.lines", old: "a\nx\na", file: "a\nx\nab\n", want: "a\nx\na\nb\n"},
		"a glued line after a changed one":          {path: "x.lines", old: "x\nab\na", file: "y\nab\nac\nad\n", want: "x\nab\na\ny\nc\nad\n"},
		"the line stands beside a longer one":       {path: "x.lines", old: "a\nb", file: "b\nbc\n", want: "a\nb\nbc\n"},
		"a heading glued to a block":                {path: "x.notes.md", old: "## A\nx", file: "## A\nx## B\ny\n", want: "## A\nx\n\n## B\ny\n"},
		"a comment at the end of a list":            {path: "x.list.yml", old: "entries:\n- 1\n- 2\n# below\n", file: "entries:\n- 1\n# below\n- 3\n", want: "entries:\n- 1\n- 2\n- 3\n# below\n"},
		"an alias of what is put back":              {path: "x.list.yml", old: "entries:\n- {n: 1, v: &a 1}\n- {x: 1}\n", file: "entries:\n- {n: 1, v: &a 2}\n- {x: 1}\n- {w: *a}\n", want: ""},
		"a changed block that begins as the last line does": {
			path: "x.notes.md", old: "## A\nx", file: "## A\nx y\n\n## B\nx z\n", want: "## A\nx\n\n## A\nx y\n\n## B\nx z\n",
		},
		"a changed section, whose draft is gone": {
			path: "x.changes.md",
			old:  "## Unreleased\n- a\n\n## 2\n- two\n\n## 1\n- old\n",
			file: "## 2\n- changed\n\n## 1\n- old\n",
			want: "",
		},
		"a changed block beside a draft": {
			path: "x.notes.md",
			old:  "## A\nsome words here\n\n## B\nx\n",
			file: "## A\nsome words there\n\n## B\nx\n\n## C\nStatus: draft\n",
			want: "## A\nsome words here\n\n## B\nx\n\n## C\nStatus: draft\n",
		},
	} {
		back, err := combine.KindOf(p, c.path).PutBack([]byte(c.old), []byte(c.file), read.NewLogComparer(p, c.path, time.Time{}).Accepts, nil, time.Time{}, small.Limits{})
		if c.want == "" {
			c.want = c.old
		}
		if err != nil || string(back.Text) != c.want {
			t.Errorf("%s: it is %v\n%s\nwant\n%s", name, err, back.Text, c.want)
		}
	}
}
