package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/wording"
)

// samples are folders of workspaces that nobody works in.
var samples = []string{"examples/", "spec/"}

// adviseExclude has a whole history whose errors are all below folders of samples say how to exclude those.
func adviseExclude(_ context.Context, r *run.Run) error {
	errors := func(f *finding.Finding) bool { return f.Severity == finding.SeverityError }
	folders := map[string]bool{}
	all := r.Collector.Report.Findings
	for i := range all {
		if !errors(&all[i]) {
			continue
		}
		at := slices.IndexFunc(samples, func(s string) bool { return strings.HasPrefix(all[i].Path, s) })
		if at < 0 {
			return nil
		}
		folders[samples[at]] = true
	}
	if len(folders) == 0 {
		return nil
	}
	fix := exclude(r.Source.Policy, run.SortedKeys(folders))
	for i := range all {
		if errors(&all[i]) {
			all[i].Fix = fix
		}
	}
	return nil
}

// exclude says how to exclude folders: by a new configuration, or by an edit of the one that is there.
func exclude(p *policy.Policy, folders []string) string {
	patterns := slices.Clone(p.Exclude)
	for _, folder := range folders {
		patterns = append(patterns, folder+"**")
	}
	for i := range patterns {
		patterns[i] = fmt.Sprintf("%q", patterns[i])
	}
	list := "exclude: [" + strings.Join(patterns, ", ") + "]"
	why := "only " + strings.Join(folders, " and ") + " is broken; if nobody works there, exclude it: "
	if !strings.HasPrefix(p.Source, policy.BuiltIn) {
		return why + "write " + strings.ReplaceAll(list, "`", "") + " under workspaces: in " + policy.File
	}
	return why + wording.Commands(
		"printf '%s\\n' 'version: 1' "+wording.ShellQuote("workspaces: {"+list+"}")+` >"$(git rev-parse --show-toplevel)/`+policy.File+`"`,
		"git add -- :/"+policy.File, `git commit -m "Exclude samples" -- :/`+policy.File)
}
