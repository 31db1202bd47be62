package install

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Names in git's configuration and in .gitattributes for the merge driver (gitattributes(5), "Defining a custom merge driver").
const (
	driverName      = "small-gate"
	driverSection   = "merge." + driverName
	driverArguments = " merge-driver %O %A %B %L %P %Y"
	driverTitle     = "SMALL workspaces: as small-hook reconcile, never line by line"
	attributesFile  = ".gitattributes"
)

var mergeAttribute = attribute{
	name:   "merge",
	line:   "**/.small/*.small.yml merge=" + driverName,
	probes: []string{".small/progress.small.yml", "a/b/.small/plan.small.yml"},
}

// driver is a command that git calls to merge some files or to show their differences. The command is in the repository's configuration, which
// clones do not copy. A line of .gitattributes, to be committed, gives the files to the driver.
type driver struct {
	label Name // what a [HookChange] calls the driver
	attribute
	// files returns the files that the driver should get beside the probes; nil if there are no others.
	files         func(ctx context.Context, repo Repository, logs []LogPattern) ([]string, error)
	whyNoneInBare string // why a bare repository can have no driver
	cloneNote     string // a sentence for people about clones without the setting
}

var mergeDriver = driver{
	label:         "merge driver",
	attribute:     mergeAttribute,
	files:         filesForDriver,
	whyNoneInBare: "nothing is merged there, so a merge driver would never run",
	cloneNote:     "Each clone sets up the driver for itself: " + ProgramName + " install --merge-driver",
}

// InstallMergeDriver makes git merge the files of workspaces, and options.Logs, with options.Program instead of line by line. It is idempotent.
func InstallMergeDriver(ctx context.Context, options InstallOptions) (Result, error) {
	return mergeDriver.install(ctx, options, func(program string) [][2]string {
		return [][2]string{{driverSection + ".name", driverTitle}, {driverSection + ".driver", driverCommand(program)}}
	}, options.Logs)
}

// hookChange returns the entry of [Result].Changes for the driver in the file at path.
func (d driver) hookChange(action Action, path string) HookChange {
	return HookChange{Hook: d.label, Action: action, Path: path}
}

// install writes the settings for the program of options into the repository's configuration, and the attribute's line and those of logs into
// .gitattributes.
func (d driver) install(ctx context.Context, options InstallOptions, settings func(program string) [][2]string, logs []LogPattern) (Result, error) {
	repo, err := Locate(ctx, options.Dir)
	if err == nil && repo.Bare {
		err = newError(wording.Printable(repo.Top)+" is a bare repository: "+d.whyNoneInBare, "Install it in each clone.", nil)
	}
	if err != nil {
		return Result{}, err
	}
	program, err := ResolveProgram(options.Program)
	if err != nil {
		return Result{}, err
	}
	result := Result{Outcome: Unchanged}
	action, err := setConfig(ctx, repo, settings(program)...)
	result.add(d.hookChange(action, filepath.Join(repo.CommonDir, "config")))
	if err != nil {
		return result.orFailed(err)
	}
	var paths []string
	if d.files != nil {
		if paths, err = d.files(ctx, repo, logs); err != nil {
			return result.orFailed(err)
		}
	}
	attributes := filepath.Join(repo.Top, attributesFile)
	action, err = d.addLines(ctx, repo, attributes, paths, attributeLines(logs)...)
	result.add(d.hookChange(action, attributes))
	if err == nil && action == Installed {
		result.Notes = append(result.Notes, "Commit "+attributesFile+", so that every clone has the line. "+d.cloneNote)
	}
	return result.orFailed(err)
}

// HasMergeDriver reports whether git's configuration, of the repository around dir or of the user, has the merge driver.
func HasMergeDriver(ctx context.Context, dir string) (bool, error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return false, err
	}
	_, set, err := repo.Git.config(ctx, repo.Top, "--get-regexp", `^merge\.`+driverName+`\.`)
	return set, err
}

// UninstallMergeDriver removes the driver from the repository's configuration. The lines in .gitattributes stay: they are shared, and without the
// driver git ignores them. The outcome is [Unchanged] if no driver is configured.
func UninstallMergeDriver(ctx context.Context, dir string) (Result, error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	result := Result{Outcome: Unchanged}
	_, set, err := repo.Git.config(ctx, repo.Top, "--local", "--get-regexp", `^merge\.`+driverName+`\.`)
	if err != nil || !set {
		return result.orFailed(err)
	}
	config := filepath.Join(repo.CommonDir, "config")
	if _, err = repo.Git.run(ctx, repo.Top, "config", "--local", "--remove-section", driverSection); err != nil {
		return result.orFailed(configError(config, err))
	}
	result.add(mergeDriver.hookChange(Removed, config))
	if repo.Bare {
		return result, nil
	}
	values, err := mergeAttribute.valuesFor(ctx, repo, mergeAttribute.probes)
	if err == nil && slices.Contains(values, driverName) {
		result.Notes = append(result.Notes, attributesFile+" still names the driver; without the driver git merges these files line by line here. If nobody uses the driver, remove each line with merge="+driverName+
			", such as: "+mergeAttribute.line)
	}
	return result.orFailed(err)
}

// driverCommand returns the command line that git passes to a shell. A percent sign is doubled, since git expands a single one.
func driverCommand(program string) string {
	return strings.ReplaceAll(wording.ShellQuote(filepath.ToSlash(program)), "%", "%%") + driverArguments
}

// driverProgram returns the program that a command made by driverCommand calls, or "" for another command.
func driverProgram(command string) string {
	word, ours := strings.CutSuffix(command, driverArguments)
	if !ours || len(word) < 2 || word[0] != '\'' || word[len(word)-1] != '\'' {
		return ""
	}
	return filepath.FromSlash(wording.UnquoteShell(strings.ReplaceAll(word, "%%", "%")))
}
