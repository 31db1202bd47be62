package install

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Git shows differences between logs entry by entry with this diff driver (gitattributes(5), "Performing text diffs of binary files").
const (
	textconvKey       = "diff." + driverName + ".textconv"
	textconvArguments = " log --textconv"
)

var diffAttribute = attribute{
	name:   "diff",
	line:   "**/.small/progress.small.yml diff=" + driverName,
	probes: []string{".small/progress.small.yml", "a/b/.small/progress.small.yml"},
}

var diffDriver = driver{
	label:         "readable diffs",
	attribute:     diffAttribute,
	whyNoneInBare: "it has no .gitattributes",
	cloneNote:     "A clone without " + ProgramName + " install --textconv shows differences line by line",
}

// InstallTextconv makes `git diff` and `git log -p` compare what `small-hook log --textconv` prints for each version of a log. The program is
// options.Program. InstallTextconv is idempotent.
func InstallTextconv(ctx context.Context, options InstallOptions) (Result, error) {
	return diffDriver.install(ctx, options, func(program string) [][2]string {
		return [][2]string{{textconvKey, wording.ShellQuote(filepath.ToSlash(program)) + textconvArguments}}
	}, nil)
}

// UninstallTextconv removes the diff driver's section of git's configuration, if its command is one that InstallTextconv writes, and the driver's
// line in .gitattributes. The outcome is [Unchanged] if neither is there.
func UninstallTextconv(ctx context.Context, dir string) (Result, error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	result := Result{Outcome: Unchanged}
	commands, set, err := repo.Git.config(ctx, repo.Top, "--local", "-z", "--get-all", textconvKey)
	if err != nil {
		return result.orFailed(err)
	}
	if set && slices.ContainsFunc(strings.Split(commands, "\x00"), func(v string) bool { return strings.HasSuffix(v, textconvArguments) }) {
		config := filepath.Join(repo.CommonDir, "config")
		if _, err := repo.Git.run(ctx, repo.Top, "config", "--local", "--remove-section", "diff."+driverName); err != nil {
			return result.orFailed(configError(config, err))
		}
		result.add(diffDriver.hookChange(Removed, config))
	}
	if repo.Bare {
		return result, nil
	}
	attributes := filepath.Join(repo.Top, attributesFile)
	action, err := diffAttribute.removeLine(repo, attributes)
	if action != Present {
		result.add(diffDriver.hookChange(action, attributes))
	}
	return result.orFailed(err)
}
