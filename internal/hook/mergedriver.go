package hook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// The merge driver (gitattributes(5), "Defining a custom merge driver") as it is set up in a repository's configuration and named in
// its .gitattributes.
const (
	driverName      = "small-gate"
	driverSection   = "merge." + driverName
	driverArguments = " merge-driver %O %A %B %L %P %Y"
	olderArguments  = " merge-driver %O %A %B %L %P" // of installations before there was %Y; they work
	driverWords     = "SMALL workspaces: as small-hook reconcile, never line by line"
	attributesFile  = ".gitattributes"
	attributesLine  = "**/.small/*.small.yml merge=" + driverName
	changeConfig    = "change git's configuration in"
)

// driverProbes are paths at which the attribute must hold: in the root and below.
var driverProbes = []string{".small/progress.small.yml", "a/b/.small/plan.small.yml"}

// DriverResult is what setting up the merge driver, or taking it away, did.
type DriverResult struct {
	// Config is what was done in the repository's configuration, ConfigFile; Attributes what was done in the work tree's AttributesFile.
	Config, Attributes         Action
	ConfigFile, AttributesFile string
	Program                    string // what git is to call; empty when the driver was removed
	Notes                      []string
}

// Text tells a person what was done. It is empty where there was nothing.
func (r DriverResult) Text() string {
	var text strings.Builder
	for _, place := range []struct {
		action Action
		file   string
	}{{r.Config, r.ConfigFile}, {r.Attributes, r.AttributesFile}} {
		if place.action != Absent && place.action != "" {
			fmt.Fprintf(&text, "merge driver: %s, %s\n", place.action, show(place.file))
		}
	}
	writeNotes(&text, r.Notes)
	return text.String()
}

// InstallMergeDriver has git call this program, or the one that options name, where it would merge a workspace's file line by line. The
// driver goes into the repository's configuration, which clones do not copy; the line that gives it the files goes into .gitattributes,
// which is to be committed. Done twice, it changes nothing.
func InstallMergeDriver(ctx context.Context, options InstallOptions) (DriverResult, error) {
	repo, err := locateWorkTree(ctx, options.Dir)
	if err != nil {
		return DriverResult{}, err
	}
	program, err := ResolveProgram(options.Program)
	if err != nil {
		return DriverResult{}, err
	}
	result := DriverResult{Program: program, ConfigFile: filepath.Join(repo.CommonDir, "config"), AttributesFile: filepath.Join(repo.Top, attributesFile)}
	if result.Config, err = configureDriver(ctx, repo, driverCommand(program)); err != nil {
		return result, err
	}
	if result.Attributes, err = addAttribute(ctx, repo, result.AttributesFile); err != nil {
		return result, err
	}
	if result.Attributes == Installed {
		result.Notes = append(result.Notes, "Commit "+attributesFile+", so that every clone has the line. Each clone sets up the driver for itself: `"+ProgramName+" install --merge-driver`")
	}
	return result, nil
}

// UninstallMergeDriver removes the driver from the repository's configuration. The line in .gitattributes stays: it is everybody's, and
// without a driver git ignores it.
func UninstallMergeDriver(ctx context.Context, dir string) (DriverResult, error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return DriverResult{}, err
	}
	result := DriverResult{Config: Absent, Attributes: Absent, ConfigFile: filepath.Join(repo.CommonDir, "config"), AttributesFile: filepath.Join(repo.Top, attributesFile)}
	_, set, err := repo.Git.config(ctx, repo.Top, "--local", "--get-regexp", `^merge\.`+driverName+`\.`)
	if err != nil || !set {
		return result, err
	}
	if _, err = repo.Git.run(ctx, repo.Top, "config", "--local", "--remove-section", driverSection); err != nil {
		return result, fileError(changeConfig, result.ConfigFile, err)
	}
	result.Config = Removed
	if repo.Bare {
		return result, nil
	}
	values, err := mergeAttributes(ctx, repo, driverProbes)
	if err == nil && slices.Contains(values, driverName) {
		result.Notes = append(result.Notes, attributesFile+" still names the driver; without it git merges these files line by line here. Remove the line if nobody uses it: "+attributesLine)
	}
	return result, err
}

// locateWorkTree finds a repository with a work tree: nothing is merged in another.
func locateWorkTree(ctx context.Context, dir string) (Repository, error) {
	repo, err := Locate(ctx, dir)
	if err == nil && repo.Bare {
		err = failed(show(repo.Top)+" is a bare repository: nothing is merged there, so a merge driver would never run", "Install it in each clone.", nil)
	}
	return repo, err
}

// driverCommand is the command line that git hands to a shell. A percent sign is doubled, since git replaces what follows a single one.
func driverCommand(program string) string {
	return strings.ReplaceAll(wording.ShellQuote(filepath.ToSlash(program)), "%", "%%") + driverArguments
}

// driverProgram is the program that a command line of ours calls, "" if it is not of that form.
func driverProgram(command string) string {
	word, ours := strings.CutSuffix(command, driverArguments)
	if !ours {
		word, ours = strings.CutSuffix(command, olderArguments)
	}
	if !ours || len(word) < 2 || word[0] != '\'' || word[len(word)-1] != '\'' {
		return ""
	}
	inner := strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
	return filepath.FromSlash(strings.ReplaceAll(inner, "%%", "%"))
}

// configureDriver sets the driver up in the repository's own configuration.
func configureDriver(ctx context.Context, repo Repository, command string) (Action, error) {
	action := Present
	for _, setting := range [][2]string{{"name", driverWords}, {"driver", command}} {
		key := driverSection + "." + setting[0]
		now, set, err := repo.Git.config(ctx, repo.Top, "--local", "-z", "--get", key)
		if err != nil {
			return Left, err
		}
		if set && now == setting[1]+"\x00" {
			continue
		}
		if action = Updated; !set {
			action = Installed
		}
		if _, err := repo.Git.run(ctx, repo.Top, "config", "--local", "--replace-all", key, setting[1]); err != nil {
			return Left, fileError(changeConfig, filepath.Join(repo.CommonDir, "config"), err)
		}
	}
	return action, nil
}

// addAttribute adds the line to .gitattributes unless the files are given to the driver already.
func addAttribute(ctx context.Context, repo Repository, file string) (Action, error) {
	values, err := mergeAttributes(ctx, repo, driverProbes)
	if err != nil {
		return Left, err
	}
	if !slices.ContainsFunc(values, func(v string) bool { return v != driverName }) {
		return Present, nil
	}
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		return Left, failed(show(file)+" is not an ordinary file", "Add this line to the file that git reads: "+attributesLine, nil)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(file)
	}
	if err != nil && !missing(err) {
		return Left, fileError("read", file, err)
	}
	end := "\n"
	if n := bytes.Count(content, []byte("\r\n")); n > 0 && n == bytes.Count(content, []byte("\n")) {
		end = "\r\n"
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(content, end...)
	}
	if err := wholefile.WriteVia(repo.CommonDir, file, append(content, attributesLine+end...)); err != nil {
		return Left, fileError("write", file, err)
	}
	values, err = mergeAttributes(ctx, repo, driverProbes)
	if err == nil && slices.ContainsFunc(values, func(v string) bool { return v != driverName }) {
		err = failed("the line is in "+show(file)+", but another one overrides it", "Find it with `git check-attr --all "+driverProbes[0]+"`; info/attributes in git's folder overrides "+attributesFile, nil)
	}
	return Installed, err
}

// mergeAttributes asks git for the merge attribute of paths, as the work tree has it.
func mergeAttributes(ctx context.Context, repo Repository, paths []string) ([]string, error) {
	out, err := repo.Git.run(ctx, repo.Top, append([]string{"check-attr", "-z", "merge", "--"}, paths...)...)
	if err != nil {
		return nil, failed("git cannot read the attributes in "+show(repo.Top), "", err)
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var values []string
	for i := 2; i < len(fields); i += 3 { // path, attribute, value
		values = append(values, fields[i])
	}
	if len(values) != len(paths) {
		return nil, failed("git did not say what it would merge with in "+show(repo.Top), "", nil)
	}
	return values, nil
}
