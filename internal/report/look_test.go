package report

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/owner"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// hostileLook is a log whose texts would move the cursor, start a CI command, break out of HTML, or reveal a credential.
func hostileLook(t *testing.T) *finding.Look {
	t.Helper()
	text := "entries:\n" +
		"- {task_id: \"::set-output name=x::y\", timestamp: \"2026-03-01T09:00:00.1Z\", status: \"\\e[31mred\", evidence: \"<script>alert(1)</script>\\n::error::x\\u202e https://deploy:h7Kd02mQxv@git.acme-tools.dev/app.git\"}\n" +
		"- {evidence: {codes: [1, null], \"a\\nb\": \"##[error]c\"}}\n- just text\n"
	doc, problems := small.Parse([]byte(text), small.Limits{})
	if doc == nil {
		t.Fatal(problems)
	}
	log, problems := ledger.LogOf(doc, []byte(text))
	if log == nil {
		t.Fatal(problems)
	}
	l := &finding.Look{Logs: []finding.LedgerState{{Path: "a\x1b/.small/progress.small.yml", Entries: 3, Head: log.Head()}, {Path: "b"}}}
	for i, e := range log.Entries {
		l.Entries = append(l.Entries, finding.Recorded{
			Entry: e, Path: "a\x1b/.small/progress.small.yml", Value: doc.Root.Get("entries").Items[i],
			By:     owner.Owner{Agent: "agent\x1b[2J", Author: "<b>Ada</b>", How: "it has the trailer \"x\ny\""},
			Commit: finding.Commit{ID: strings.Repeat("1c", 20), Subject: "::stop-commands::x\n", Date: "2026-03-01T09:00:00Z"},
		})
	}
	l.Entries[2].Commit = finding.Commit{}
	return l
}

func TestLookIsSanitized(t *testing.T) {
	l := hostileLook(t)
	all := map[string]string{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"line":    func(b *bytes.Buffer) error { return WriteLook(b, "text", l, LookColumns, Options{}) },
		"oneline": func(b *bytes.Buffer) error { return WriteLook(b, "text", l, LookOneline, Options{Width: 60}) },
		"full":    func(b *bytes.Buffer) error { return WriteLook(b, "text", l, LookFull, Options{}) },
		"json":    func(b *bytes.Buffer) error { return WriteLook(b, "json", l, LookColumns, Options{}) },
		"html":    func(b *bytes.Buffer) error { return WriteLook(b, "html", l, LookColumns, Options{Version: "1"}) },
		"diff":    func(b *bytes.Buffer) error { return WriteTextconv(b, l) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = out.String()
		for _, bad := range []string{"\x1b", "\u202e", "\n::", "##[", "<script>", "<b>", "h7Kd02mQxv"} {
			if name != "html" && name != "json" && strings.HasPrefix(bad, "<") {
				bad = "\x00" // harmful only in a terminal or CI log
			}
			if name == "json" && strings.HasPrefix(bad, "<") {
				continue
			}
			if strings.Contains("\n"+out.String(), bad) {
				t.Errorf("%s has %q:\n%s", name, bad, out.String())
			}
		}
	}
	if n := strings.Count(all["line"], "\n"); n != 3 {
		t.Errorf("three entries in %d lines", n)
	}
	if err := WriteLook(&bytes.Buffer{}, "sarif", l, LookColumns, Options{}); err == nil {
		t.Error("a look is written as SARIF")
	}
}

func TestLooksFitTheSchema(t *testing.T) {
	published, err := os.ReadFile(lookSchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, loader := range []gojsonschema.JSONLoader{gojsonschema.NewBytesLoader(published), gojsonschema.NewGoLoader(schemaOfLooks(t, false))} {
		schema, err := gojsonschema.NewSchema(loader)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*finding.Look{hostileLook(t), {}} {
			var out bytes.Buffer
			if err := WriteLook(&out, "json", l, LookColumns, Options{}); err != nil {
				t.Fatal(err)
			}
			result, err := schema.Validate(gojsonschema.NewBytesLoader(out.Bytes()))
			if err != nil || !result.Valid() {
				t.Errorf("%v, %v:\n%s", err, result.Errors(), out.String())
			}
		}
	}
}
