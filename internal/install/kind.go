package install

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// kindConfig matches the settings that describeKind reports.
const kindConfig = `^(extensions\.(objectformat|refstorage|partialclone)|remote\..*\.promisor|core\.sparsecheckout)$`

// describeKind returns words such as "bare" and "shallow", for a bug report. They contain no path, address or person.
func (r Repository) describeKind(ctx context.Context) ([]string, error) {
	kind := "work tree"
	if r.Bare {
		kind = "bare"
	}
	gitDir, err := r.Git.run(ctx, r.Top, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, err
	}
	if !githistory.SameDirectory(strings.TrimSuffix(gitDir, "\n"), r.CommonDir) {
		kind = "linked work tree"
	}
	words := []string{kind}
	shallow, err := r.Git.run(ctx, r.Top, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(shallow) == "true" {
		words = append(words, "shallow")
	}
	settings, _, err := r.Git.config(ctx, r.Top, "-z", "--get-regexp", kindConfig)
	if err != nil {
		return nil, err
	}
	all := strings.Split(strings.TrimSuffix(settings, "\x00"), "\x00")
	for i, setting := range all {
		name, value, hasValue := strings.Cut(setting, "\n")
		again := func(later string) bool { return later == name || strings.HasPrefix(later, name+"\n") }
		off := hasValue && slices.Contains([]string{"", "false", "no", "off", "0"}, strings.ToLower(value)) // git-config(1), "boolean"
		switch {
		case name == "", slices.ContainsFunc(all[i+1:], again): // the last value counts
			continue
		case name == "core.sparsecheckout":
			value = "sparse checkout"
		case strings.HasSuffix(name, ".promisor"):
			value = "partial clone"
		case name == "extensions.partialclone": // the name of a remote
			value, off = "partial clone", false
		default:
			value, _, _ = strings.Cut(wording.Printable(value), ":") // a ref storage's path may follow
		}
		if !off && !slices.Contains(words, value) {
			words = append(words, value)
		}
	}
	return words, nil
}
