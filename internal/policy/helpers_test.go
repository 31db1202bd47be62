package policy

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

var update = flag.Bool("update", false, "write what the tests see into testdata; look at the difference before you commit it")

// knownRules stands for the catalogue of the gate, which this package does not
// know.
var knownRules = NewKnown(theRules, nil)

// SetSections tells the tests the sections of families, which this package does not know either.
func SetSections(sections []Section) { knownRules = NewKnown(theRules, sections) }

var theRules = families(map[string]string{
	"workflow":    "front-matter phase agent shape checkpoint history-rewritten history-invalid campaign-invalid",
	"validate":    "missing-artifact not-a-file too-large yaml multiple-documents schema",
	"lint":        "blank timestamp-format timestamp-order evidence duplicate-id version-quoting secret insecure-link layout task-evidence unknown-task",
	"verify":      "workspace replay-id handoff-task completed-evidence replay-mismatch",
	"append-only": "modified deleted reordered inserted log-deleted timestamp-migrated task-reassigned future-timestamp reconciled-insertion",
	"divergence":  "concurrent-append lost-entry unreconciled run plan double-claim interleaved-runs",
	"ownership":   "human-artifact agent-id",
	"lease":       "foreign malformed",
	"replay":      "stale",
	"config":      "changed waiver-unused waiver-expired baseline-mismatch merge-union",
}, "validate", "lint", "verify", "append-only", "divergence", "ownership", "lease", "replay", "workflow", "config")

// effects are the effects of the gate's rules.
var effects = map[string]ledger.EditEffect{
	"append-only/modified": ledger.EntryChanged, "append-only/timestamp-migrated": ledger.EntryChanged, "append-only/task-reassigned": ledger.EntryChanged,
	"append-only/deleted": ledger.EntryLost, "append-only/inserted": ledger.EntryInserted, "append-only/log-deleted": ledger.LogEnded,
	"workflow/history-rewritten": ledger.EntryChanged | ledger.EntryLost | ledger.LogEnded | ledger.OfRecord,
}

func families(names map[string]string, order ...string) []Rule {
	var out []Rule
	for _, family := range order {
		for _, name := range strings.Fields(names[family]) {
			id := family + "/" + name
			out = append(out, Rule{ID: id, Edit: effects[id]})
		}
	}
	return out
}

// digest is a digest whose hex digits are all c.
func digest(t testing.TB, c string) *small.Digest {
	t.Helper()
	d, err := small.ParseDigest("sha256:" + strings.Repeat(c, 64))
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// date is a day in UTC.
func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

// render writes a policy as a configuration in JSON, which is YAML too.
func render(t testing.TB, p *Policy) []byte {
	t.Helper()
	doc := map[string]any{
		"version":     1,
		"strict":      p.Strict,
		"mode":        p.Mode,
		"workspaces":  map[string]any{"include": p.Include, "exclude": p.Exclude},
		"rules":       p.Rules,
		"append_only": map[string]any{"scope": p.Scope},
		"agents":      map[string]any{"authors": p.AgentAuthors, "trailers": p.AgentTrailers, "ignore": p.Robots},
	}
	var waivers, baselines []map[string]any
	for _, w := range p.Waivers {
		m := map[string]any{"rule": w.Rule, "path": w.Path, "reason": w.Reason}
		if w.OfLog {
			m = map[string]any{"log": w.Path, "reason": w.Reason}
		}
		if w.From != nil {
			m["from"] = w.From.String()
		}
		if w.To != nil {
			m["to"] = w.To.String()
		}
		if !w.Until.IsZero() {
			m["until"] = w.Until.Format(dayLayout)
		}
		waivers = append(waivers, m)
	}
	for _, b := range p.Baselines {
		baselines = append(baselines, map[string]any{"path": b.Path, "entries": b.Entries, "head": b.Head.String(), "reason": b.Reason})
	}
	if waivers != nil {
		doc["waivers"] = waivers
	}
	if p.Extensions != nil {
		doc["extensions"] = p.Extensions
	}
	for key, settings := range p.Sections {
		section := map[string]any{}
		for name, value := range settings.Values() {
			if list, is := value.(*[]string); is && *list != nil {
				section[name] = list
			}
		}
		doc[key] = section
	}
	var logs []map[string]any
	for _, l := range p.Logs {
		m := map[string]any{"path": l.Path, "entries": l.Entries}
		for key, text := range map[string]string{"at": l.At, "order": l.Order, "frozen": l.Frozen, "start": l.Start, "open": l.Open, "schema": l.Schema, "since": l.Since} {
			if text != "" {
				m[key] = text
			}
		}
		switch i := l.Identity; {
		case i.Without != nil:
			m["identity"] = map[string]any{"without": i.Without}
		case i.Only != nil:
			m["identity"] = map[string]any{"only": i.Only}
		case i.WithoutLines != "":
			m["identity"] = map[string]any{"without_lines": i.WithoutLines}
		}
		if l.Exclude != nil {
			m["exclude"] = l.Exclude
		}
		logs = append(logs, m)
	}
	if logs != nil {
		doc["logs"] = logs
	}
	if baselines != nil {
		doc["baseline"] = baselines
	}
	if p.MaxFileSize != 0 {
		doc["limits"] = map[string]any{"file_size": p.MaxFileSize}
	}
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cases calls run for each archive of a directory under testdata; run returns
// the files that it expects there, which replace those of the same name with
// -update.
func cases(t *testing.T, dir string, run func(t *testing.T, comment string, files map[string]string) (name, got string)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			name, got := run(t, string(archive.Comment), files)
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: name, Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, found := files[name]
			if !found || len(files) != 2 {
				t.Fatalf("the outcome is %q, which the case does not expect:\n%s", name, got)
			}
			if got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
			}
		})
	}
}

func ids() []string {
	var out []string
	for _, r := range theRules {
		out = append(out, r.ID)
	}
	return out
}

// equal reports whether two policies say the same, wherever it is.
func equal(a, b *Policy) bool { return reflect.DeepEqual(placeless(a), placeless(b)) }

func placeless(p *Policy) Policy {
	out := *p
	out.Source = ""
	out.Waivers, out.Baselines, out.Logs = slices.Clone(p.Waivers), slices.Clone(p.Baselines), slices.Clone(p.Logs)
	for i := range out.Waivers {
		out.Waivers[i].Pos, out.Waivers[i].Edit = small.Pos{}, 0
	}
	for i := range out.Logs {
		out.Logs[i].Pos = small.Pos{}
	}
	for i := range out.Baselines {
		out.Baselines[i].Pos = small.Pos{}
	}
	return out
}

// anySection lets settings of families be compared, with their unexported fields.
var anySection = cmp.Exporter(func(reflect.Type) bool { return true })

// defaultsOf are a section's settings if the configuration says nothing under its key.
func defaultsOf(key string) Settings {
	at := slices.IndexFunc(knownRules.sections, func(s Section) bool { return s.Key == key })
	return knownRules.sections[at].New()
}
