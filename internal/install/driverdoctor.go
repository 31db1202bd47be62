package install

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/policy"
)

// DriverCheck is what the doctor found about the merge driver.
type DriverCheck struct {
	// Works reports whether git would call the driver for every file that filesForDriver returns.
	Works bool
	// Program is the program that the driver's command calls; empty if install did not write the command, or there is none.
	Program string
	// Why says why Works is false, Remedy what to do about that. Both are empty if Works is true, or the repository is bare.
	Why, Remedy string
	// Broken is true if the setup is incomplete or wrong, so that git merges otherwise than intended and does not say so. It is false if nothing is
	// set up.
	Broken bool
}

// text describes the check for people. It returns "" for a bare repository.
func (c DriverCheck) text(dir string) string {
	switch {
	case c.Works:
		return "merge driver: set up\n  program: " + wording.Printable(c.Program) + "\n"
	case c.Why == "":
		return ""
	case c.Broken:
		return "merge driver: DOES NOT WORK: " + c.Why + "\n  " + runIn(dir, c.Remedy) + "\n"
	}
	return "merge driver: none: " + c.Why + "\n  " + runIn(dir, c.Remedy) + "\n"
}

// checkDriver checks the merge driver. For a bare repository it returns a zero DriverCheck.
func checkDriver(ctx context.Context, repo Repository, logs []LogPattern) (DriverCheck, error) {
	if repo.Bare {
		return DriverCheck{}, nil
	}
	command, _, err := repo.Git.config(ctx, repo.Top, "-z", "--get", driverSection+".driver")
	if err != nil {
		return DriverCheck{}, err
	}
	command = strings.TrimSuffix(command, "\x00")
	paths, err := filesForDriver(ctx, repo, logs)
	if err != nil {
		return DriverCheck{}, err
	}
	values, err := mergeAttribute.valuesFor(ctx, repo, paths)
	if err != nil {
		return DriverCheck{}, err
	}
	check := DriverCheck{Program: driverProgram(command), Remedy: "Type: `" + ProgramName + " install --merge-driver`"}
	if at, err := unknownDriver(ctx, repo, values); err != nil || at >= 0 {
		if err == nil {
			check.Broken = true
			check.Why = "git's attributes give " + wording.Printable(paths[at]) + " to the driver " + wording.Printable(values[at]) + ", which is not set up in this clone: git merges the file line by line"
			check.Remedy = "Set that driver up, or remove the line that names it from " + attributesFile
		}
		return check, err
	}
	anyGiven := slices.Contains(values, driverName)
	notGiven := slices.IndexFunc(values, func(v string) bool { return v != driverName })
	switch {
	case command == "" && !anyGiven:
		check.Why = "git merges a file in .small/ line by line if two branches change it"
		if at := slices.Index(values, "union"); at >= 0 {
			check.Broken, check.Why = true, "git's attributes say merge=union for "+wording.Printable(paths[at])+", which can lose entries"
		}
	case command == "":
		check.Broken, check.Why = true, "git's attributes ask for it, but it is not set up in this clone: git merges line by line"
	case notGiven >= 0:
		check.Broken, check.Why = true, "it is set up, but git's attributes do not give "+wording.Printable(paths[notGiven])+" to it"
	case check.Program == "":
		check.Broken, check.Why = true, "its command is not the one that install writes: "+wording.Printable(command)
	default:
		if err := CheckProgram(check.Program); err != nil {
			check.Broken, check.Why = true, failure.Of(err).Message
			break
		}
		check.Works, check.Remedy = true, ""
	}
	return check, nil
}

// builtInDrivers are the values of the attribute merge that need no configuration (gitattributes(5)).
var builtInDrivers = []string{"unspecified", "set", "unset", "text", "binary", "union"}

// unknownDriver returns the index of the first of values, which are values of the attribute merge, that names a driver which git's configuration
// lacks and which is not ours. It returns -1 if there is none.
func unknownDriver(ctx context.Context, repo Repository, values []string) (int, error) {
	known := append(slices.Clone(builtInDrivers), driverName)
	for i, name := range values {
		if slices.Contains(known, name) {
			continue
		}
		_, set, err := repo.Git.config(ctx, repo.Top, "-z", "--get", "merge."+name+".driver")
		if err != nil || !set {
			return i, err
		}
		known = append(known, name)
	}
	return -1, nil
}

// filesForDriver returns the files in the index, at most 1,000, that the merge driver should merge: files of workspaces and of logs. It returns one
// sample path if there are none yet.
func filesForDriver(ctx context.Context, repo Repository, logs []LogPattern) ([]string, error) {
	var paths []string
	for _, log := range append([]LogPattern{{Path: "**/.small/*.small.yml"}}, logs...) {
		args := []string{"ls-files", "-z", "--"}
		for _, pattern := range withoutBraces(log.Path) {
			args = append(args, ":(top,glob)"+pattern)
		}
		for _, exclude := range log.Exclude {
			for _, pattern := range withoutBraces(exclude) {
				args = append(args, ":(top,glob,exclude)"+pattern)
			}
		}
		out, err := repo.Git.run(ctx, repo.Top, args...)
		if err != nil {
			return nil, newError("git cannot list the files of "+wording.Printable(repo.Top), "", err)
		}
		if out != "" {
			paths = append(paths, strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")...)
		}
	}
	if len(paths) == 0 {
		return mergeAttribute.probes[:1], nil
	}
	slices.Sort(paths)
	paths = slices.Compact(paths) // a file may match two patterns, or be listed once for each of its versions in a conflict
	const maxPaths = 1000         // in the command line of git check-attr
	return paths[:min(maxPaths, len(paths))], nil
}

// findGoneAttributes returns the files that lines of the root's .gitattributes give to a merge driver by their names, and that are neither in the index
// nor on disk.
func findGoneAttributes(ctx context.Context, repo Repository) (gone []string, err error) {
	if repo.Bare {
		return nil, nil
	}
	data, err := wholefile.Start(filepath.Join(repo.Top, attributesFile), maxConfig)
	if err != nil {
		data = nil // git, too, ignores a file that it cannot read
	}
	named := policy.ParseAttributes(attributesFile, data).NamedForMerge()
	const maxNamed = 1000
	for _, path := range named[:min(maxNamed, len(named))] {
		out, err := repo.Git.run(ctx, repo.Top, "ls-files", "-z", "--cached", "--others", "--", ":(top,glob)"+path)
		if err != nil {
			return nil, newError("git cannot list the files of "+wording.Printable(repo.Top), "", err)
		}
		if out == "" {
			gone = append(gone, strings.TrimPrefix(path, "**/"))
		}
	}
	return gone, nil
}
