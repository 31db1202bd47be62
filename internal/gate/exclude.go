package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// sampleFolders usually have workspaces that nobody works in.
var sampleFolders = []string{"examples/", "spec/"}

// adviseExclude makes the exclusion of sample folders the fix of all errors of a whole history, if all of them are in such folders.
func adviseExclude(_ context.Context, r *run.Run) error {
	errors := func(f *finding.Finding) bool { return f.Severity == finding.SeverityError }
	folders := map[string]bool{}
	all := r.Collector.Report.Findings
	for i := range all {
		if !errors(&all[i]) {
			continue
		}
		at := slices.IndexFunc(sampleFolders, func(s string) bool { return strings.HasPrefix(all[i].Path, s) })
		if at < 0 {
			return nil
		}
		folders[sampleFolders[at]] = true
	}
	if len(folders) == 0 {
		return nil
	}
	fix := excludeFix(r.Source.Policy, run.SortedKeys(folders))
	for i := range all {
		if errors(&all[i]) {
			all[i].Fix = fix
		}
	}
	return nil
}

// excludeFix says how to exclude folders: write a new configuration, or add a line to the existing one. If that has patterns
// already, a person has to edit them.
func excludeFix(p *policy.Policy, folders []string) string {
	patterns := slices.Clone(p.Exclude)
	for _, folder := range folders {
		patterns = append(patterns, folder+"**")
	}
	for i := range patterns {
		patterns[i] = fmt.Sprintf("%q", patterns[i])
	}
	list := "exclude: [" + strings.Join(patterns, ", ") + "]"
	why := "only " + strings.Join(folders, " and ") + " is broken; if nobody works there, exclude it: "
	file := `"$(git rev-parse --show-toplevel)/` + policy.File + `"`
	line := wording.ShellQuote("workspaces: {" + list + "}")
	write := "printf '%s\\n' 'version: 1' " + line + " >" + file
	if d := policy.Default(); !strings.HasPrefix(p.Source, policy.BuiltIn) {
		if !slices.Equal(p.Include, d.Include) || !slices.Equal(p.Exclude, d.Exclude) {
			return why + "write " + strings.ReplaceAll(list, "`", "") + " under workspaces: in " + policy.File
		}
		write = "printf '\\n%s\\n' " + line + " >>" + file
	}
	return why + wording.Commands(write, "git add -- :/"+policy.File, `git commit -m "Exclude samples" -- :/`+policy.File)
}
