package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// History is a history of 2.0.0 with what the protocol's own program and a gate say of it.
type History struct {
	Name, Tip, Expect string
	// GateSays begins with a rule's id, or names it in words; Path is what the finding is about, or a folder.
	GateSays string `json:"gate_says"`
	Path     string
}

// rules2 are the rules that a history has to break, where its words do not begin with one.
var rules2 = map[string]string{
	"chain-fork": "divergence/session-fork", "missing-parent": "verify/causal", "duplicate-id-other-session": "verify/causal",
	"policy-edited": "verify/policy", "foreign-file": "validate/record", "unknown-kind": "validate/schema", "v1-deleted-no-import": "append-only/log-deleted",
	"conflict-open": "divergence/decision", "ownership-conflict": "divergence/decision",
}

// Passes reports whether a gate lets the history pass, perhaps with a warning.
func (h History) Passes() bool { return strings.HasPrefix(h.Expect, "pass") }

// Sound reports whether a gate has nothing to say.
func (h History) Sound() bool { return h.Expect == Pass }

// Rule is the rule that a history breaks which is not sound.
func (h History) Rule() string {
	if rule := rules2[h.Name]; rule != "" {
		return rule
	}
	rule, _, _ := strings.Cut(strings.FieldsFunc(h.GateSays, func(r rune) bool { return strings.ContainsRune(" :;(", r) })[0], ",")
	return rule
}

// Step is 3 in the quick tests, which take every third history where one costs many processes, and else 1.
func Step() int {
	if gittest.All() {
		return 1
	}
	return 3
}

// Root is the first commit of a history in a repository.
func (h History) Root(r *gittest.Repo) string {
	root, _, _ := strings.Cut(r.Git("rev-list", "--max-parents=0", h.Tip), "\n")
	return strings.TrimSpace(root)
}

// Histories has a repository fetch the shared histories of 2.0.0, which are no part of this one. It skips the test aloud where they are not.
func Histories(t testing.TB) ([]History, *gittest.Repo) {
	t.Helper()
	folder := filepath.Join(moduleRoot(t), "..", "shared", "conformance", "v2")
	text, err := os.ReadFile(filepath.Join(folder, "cases.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("NOT TESTED: no shared history of 2.0.0 is judged: ../shared/conformance/v2 is not beside the repository")
	}
	var all struct{ Cases []History }
	if err := errors.Join(err, json.Unmarshal(text, &all)); err != nil || len(all.Cases) == 0 {
		t.Fatalf("cases.json has %d cases: %v", len(all.Cases), err)
	}
	r := gittest.New(t)
	for _, bundle := range []string{"cases", "load"} {
		r.Git("fetch", "--quiet", filepath.Join(folder, bundle+".bundle"), "refs/heads/*:refs/heads/*")
	}
	return all.Cases, r
}
