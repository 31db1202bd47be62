// Package catalogue lists every rule in documented order, with its text and its examples.
package catalogue

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/commits"
	"github.com/small-gate/small-gate/internal/gate/config"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/gate/workspaces"
	"github.com/small-gate/small-gate/internal/policy"
)

// All lists every rule in documented order. The slice must not be changed.
func All() []rule.Rule { return documented() }

// IDs lists the ids of all rules in documented order.
func IDs() []string {
	list := List()
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids
}

// Find returns the rule with the given id.
func Find(id string) (rule.Rule, bool) {
	for _, r := range documented() {
		if r.ID == id {
			return r, true
		}
	}
	return rule.Rule{}, false
}

// first are the prefixes of ids that come before all others, in documents and in judging.
var first = []string{"validate", "lint", "verify", "append-only", "divergence", "log", "replay", "config"}

// List returns every rule without its text, in documented order: those of one prefix together.
var List = sync.OnceValue(func() []rule.Rule {
	all := core()
	for _, f := range rules.All {
		all = append(all, f.Rules...)
	}
	place := map[string]int{}
	for i, prefix := range first {
		place[prefix] = i + 1
	}
	for i := range all {
		if prefix := prefixOf(all[i].ID); place[prefix] == 0 {
			place[prefix] = len(place) + 1
		}
		for _, f := range rules.All {
			if check := f.Checks[all[i].ID]; check != nil {
				all[i] = all[i].With(check)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b rule.Rule) int { return place[prefixOf(a.ID)] - place[prefixOf(b.ID)] })
	return all
})

func prefixOf(id string) string { return id[:strings.IndexByte(id, '/')] }

// core returns the rules of no family, in documented order.
func core() []rule.Rule {
	return slices.Concat(workspaces.Rules, []rule.Rule{
		commits.UnreconciledPlan,

		logs.Schema,
		logs.Unreadable,

		commits.ReplayStale,

		config.ConfigChanged,
		config.WaiverUnused,
		config.WaiverExpired,
		config.BaselineMismatch,
		config.MergeUnion,
	})
}

// Known returns what the configuration's parser has to know about the gate.
var Known = sync.OnceValue(func() *policy.Known {
	var sections []policy.Section
	for _, f := range rules.All {
		sections = append(sections, f.Sections...)
	}
	return policy.NewKnown(rule.Known(List()), sections)
})

//go:embed texts
var texts embed.FS

// documented returns the rules with their texts, which are read only when they are needed.
var documented = sync.OnceValue(func() []rule.Rule {
	out := slices.Clone(List())
	for i := range out {
		out[i].Doc = parseDoc(Text(out[i].ID))
	}
	return out
})

// Text returns the text of a rule or, for a prefix of rules' ids, the sentence that says what these rules judge.
func Text(id string) string {
	name := "texts/" + id + ".txt"
	text, err := texts.ReadFile(name)
	for i := 0; err != nil && i < len(rules.All); i++ {
		text, err = rules.Texts.ReadFile(rules.All[i].Name + "/" + name)
	}
	if err != nil {
		panic(fmt.Sprintf("gate: nobody has the file %s", name))
	}
	return string(text)
}

// parseDoc reads a rule's text: the summary, an empty line, why, and the examples after the lines "= wrong" and "=
// right".
func parseDoc(text string) rule.Doc {
	words, examples, _ := strings.Cut(text, "\n= wrong\n")
	var d rule.Doc
	d.Summary, d.Why, _ = strings.Cut(words, "\n\n")
	d.Wrong, d.Right, _ = strings.Cut(examples, "= right\n")
	d.Why = strings.TrimSpace(d.Why)
	return d
}
