package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// sampleFolders usually have workspaces that nobody works in.
var sampleFolders = []string{"examples/", "spec/"}

// adviseExclude makes the exclusion of sample folders the fix of all errors of a whole history, if all of them are in such folders.
func adviseExclude(ctx context.Context, r *run.Run) error {
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
	fix, err := excludeFix(ctx, r, run.SortedKeys(folders))
	if err != nil {
		return err
	}
	for i := range all {
		if errors(&all[i]) {
			all[i].Fix = fix
		}
	}
	return nil
}

// excludeFix says how to exclude folders: with a command that adds a line to the configuration, or writes a new one. If the tip's configuration
// would not be valid with that line, as when it has patterns already, a person has to edit it.
func excludeFix(ctx context.Context, r *run.Run, folders []string) (string, error) {
	patterns := slices.Clone(r.Source.Policy.Exclude)
	for _, folder := range folders {
		patterns = append(patterns, folder+"**")
	}
	for i := range patterns {
		patterns[i] = fmt.Sprintf("%q", patterns[i])
	}
	list := "exclude: [" + strings.Join(patterns, ", ") + "]"
	why := "only " + strings.Join(folders, " and ") + " is broken; if nobody works there, exclude it: "
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.At(policy.File))
	if err != nil {
		return "", err
	}
	config := []byte("version: 1")
	if len(files) > 0 {
		blob, err := r.Source.Tree.Blob(ctx, files[0].Object, policy.MaxSize)
		if err != nil {
			return "", err
		}
		config = blob.Data
	}
	line := "workspaces: {" + list + "}"
	if _, invalid := policy.Parse(policy.File, slices.Concat(config, []byte("\n"+line+"\n")), r.Known()); invalid != nil {
		return why + "write " + strings.ReplaceAll(list, "`", "") + " under workspaces: in " + policy.File, nil //nolint:nilerr // the person is told what to write
	}
	// The command keeps a configuration that is not committed yet.
	file := `"$(git rev-parse --show-toplevel)/` + policy.File + `"`
	write := "{ test -s " + file + " || echo 'version: 1'; printf '\\n%s\\n' " + wording.ShellQuote(line) + "; } >>" + file
	return why + wording.Commands(write, "git add -- :/"+policy.File, `git commit -m "Exclude samples" -- :/`+policy.File), nil
}
