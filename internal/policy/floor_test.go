package policy

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// settings are stanzas of a repository that wants to be judged leniently.
var settings = []string{
	"strict: false\n", "strict: true\n", "mode: observe\n", "mode: enforce\n",
	"workspaces: {exclude: [\"**\"]}\n", "workspaces: {include: [a/**]}\n",
	"append_only: {scope: published}\n", "agents: {authors: [], trailers: {}}\n", "extensions: [status]\n",
	"limits: {file_size: 1}\n", "lane: fast\n", "lanes: {files: 1000, off: [files]}\n", "workflows: {include: [w/**]}\n",
	"rules: {append-only/modified: \"off\", lint/duplicate-id: warning}\n", "rules: {lint/duplicate-id: \"off\"}\n",
}

// TestFloorHolds: whatever a repository sets, a floor that has every key, and forbids accepting anything, judges as if the repository had
// set nothing.
func TestFloorHolds(t *testing.T) {
	rules := knownRules
	floor := mustFloor(t, `version: 1
strict: true
mode: enforce
workspaces: {include: ["**"], exclude: []}
append_only: {scope: committed}
agents: {authors: ["bot*"]}
extensions: []
limits: {file_size: 1000}
lane: deep
lanes: {files: 3}
workflows: {include: ["harness/**"]}
rules: {append-only/modified: error, lint/duplicate-id: error}
forbid: [waivers, baseline, since]
`, rules)
	want := floor.PolicyFor(Default())
	random := rand.New(rand.NewPCG(gittest.Seed(7), 7))
	for range 500 {
		text, used := "version: 1\n", map[string]bool{}
		for range random.IntN(6) {
			stanza := settings[random.IntN(len(settings))]
			if key, _, _ := strings.Cut(stanza, ":"); !used[key] {
				used[key], text = true, text+stanza
			}
		}
		p, err := Parse("repository", []byte(text), rules)
		if err != nil {
			continue // what is refused judges nothing
		}
		p.Waivers, p.Baselines = []Waiver{{Rule: "append-only/modified"}}, []Baseline{{Entries: 1}}
		before := *p
		if diff := cmp.Diff(want, floor.PolicyFor(p), cmpopts.IgnoreFields(Policy{}, "Source"), cmpopts.EquateEmpty(), anySection); diff != "" {
			t.Fatalf("%s\nmakes the floor another (-floor +got):\n%s", text, diff)
		}
		if diff := cmp.Diff(&before, p, anySection); diff != "" {
			t.Fatalf("%s\nwas changed itself:\n%s", text, diff)
		}
	}
}

// TestFloorLeavesOut: what the floor leaves out has its default, and what the repository accepts counts unless it is forbidden.
func TestFloorLeavesOut(t *testing.T) {
	rules := knownRules
	own, err := Parse("repository", []byte("version: 1\nmode: observe\nrules: {append-only/modified: \"off\", lint/duplicate-id: \"off\"}\n"), rules)
	if err != nil {
		t.Fatal(err)
	}
	own.Waivers = []Waiver{{Rule: "append-only/modified"}}
	got := mustFloor(t, "version: 1\nrules: {append-only/modified: error}\n", rules).PolicyFor(own)
	if _, lowered := got.Rules["lint/duplicate-id"]; got.Mode != Enforce || got.Rules["append-only/modified"] != Error || lowered || len(got.Waivers) != 1 {
		t.Errorf("%+v", got)
	}
	if own.Rules["append-only/modified"] != Off {
		t.Error("the repository's own policy was changed")
	}
}

// TestFloorInvalid: a floor is read as strictly as a configuration, and only a floor has the key forbid.
func TestFloorInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\nforbid: [everything]\n": "forbid.0", "version: 1\nforbid: waivers\n": "forbid", "mode: enforce\n": "version", "version: 1\nmod: x\n": "mod",
		"version: 1\nlogs: [{path: a, entries: lines, since: \"" + strings.Repeat("a", 40) + "\"}]\n": "logs.0.since",
	} {
		_, err := ParseFloor("floor.yml", []byte(text), NewKnown(nil, nil), nil)
		var invalid *InvalidError
		if !errors.As(err, &invalid) || invalid.Problems[0].Subject != want || invalid.Source != "floor.yml" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Parse("c", []byte("version: 1\nforbid: [waivers]\n"), NewKnown(nil, nil)); err == nil {
		t.Error("a repository may forbid something")
	}
}

// TestFloorForbids: the repository's own since commits and workspaces count unless the floor forbids them, also if the floor names the logs.
func TestFloorForbids(t *testing.T) {
	since := strings.Repeat("a", 40)
	own, err := Parse("repository", []byte("version: 1\nworkspaces: {include: [a/**], exclude: [\"**\"]}\nlogs: [{path: a, entries: lines, since: \""+since+"\"}]\n"), knownRules)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct{ since, include, exclude string }{
		"version: 1\n": {since, "a/**", "**"},
		"version: 1\nlogs: [{path: a, entries: lines}, {path: b, entries: lines}]\n": {since, "a/**", "**"},
		"version: 1\nforbid: [since]\n":                                              {"", "a/**", "**"},
		"version: 1\nlogs: [{path: a, entries: lines}]\nforbid: [since]\n":           {"", "a/**", "**"},
		"version: 1\nforbid: [exclude]\n":                                            {since, "**", "**/testdata/**"},
		"version: 1\nworkspaces: {exclude: [x/**]}\nforbid: [exclude]\n":             {since, "**", "x/**"},
	} {
		got := mustFloor(t, text, knownRules).PolicyFor(own)
		if got.Logs[0].Since != want.since || got.Include[0] != want.include || got.Exclude[0] != want.exclude || len(got.Logs) > 1 && got.Logs[1].Since != "" {
			t.Errorf("%q: %+v", text, got)
		}
	}
	several, err := Parse("repository", []byte("version: 1\nlogs: [{path: a/*, exclude: [a/b], entries: lines}, {path: a/*, entries: lines, since: \""+since+"\"}]\n"), knownRules)
	if err != nil {
		t.Fatal(err)
	}
	if got := mustFloor(t, "version: 1\n", knownRules).PolicyFor(several); got.Logs[0].Since != "" || got.Logs[1].Since != since {
		t.Errorf("two stanzas with one path: %+v", got.Logs)
	}
	if own.Logs[0].Since != since {
		t.Error("the repository's own policy was changed")
	}
}

func mustFloor(t *testing.T, text string, rules *Known) *Floor {
	t.Helper()
	f, err := ParseFloor("floor.yml", []byte(text), rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
