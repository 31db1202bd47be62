package install

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// attribute is a git attribute that gives files to a driver.
type attribute struct {
	name string // "merge" or "diff"
	line string // the line of .gitattributes that sets the attribute
	// probes are sample paths, in the root and below, which the line above gives to the driver.
	probes []string
}

// addLines appends to file, a .gitattributes, the lines of more that it lacks, and a.line if git does not give all probes to the driver. If git still
// does not give the probes and paths to the driver, it appends the lines again, after those of file that override them. It returns [Installed] if it
// wrote file, [Present] if file lacked nothing, or [LeftAlone] with an error. If a line of another file overrides, it returns an error with [Installed]
// or [Present].
func (a attribute) addLines(ctx context.Context, repo Repository, file string, paths []string, more ...string) (Action, error) {
	paths = append(slices.Clone(a.probes), paths...)
	notGiven, err := a.firstNotGiven(ctx, repo, paths)
	action := Present
	for again := false; err == nil; again = true {
		lines := more
		if notGiven >= 0 && notGiven < len(a.probes) {
			lines = append([]string{a.line}, more...)
		}
		wrote, err := appendLines(repo, file, lines, again)
		if err != nil {
			return LeftAlone, err
		}
		if wrote {
			action = Installed
		}
		if notGiven, err = a.firstNotGiven(ctx, repo, paths); err != nil || notGiven < 0 {
			return action, err
		}
		if again {
			return action, newError("a line of "+wording.Printable(file)+" gives "+wording.Printable(paths[notGiven])+" to the driver, but another line overrides it", "Look for the other line in the other "+attributesFile+" files, and in info/attributes in git's folder. To see the value in effect: `git check-attr --all "+shellPath(filepath.Join(repo.Top, paths[notGiven]))+"`", nil)
		}
	}
	return LeftAlone, err
}

// appendLines appends those of lines to file, a .gitattributes, that it lacks; if again is true, also those that have lines of somebody else after them.
// It reports whether it wrote file.
func appendLines(repo Repository, file string, lines []string, again bool) (wrote bool, err error) {
	if len(lines) == 0 {
		return false, nil
	}
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		return false, newError(wording.Printable(file)+" is not an ordinary file, and git does not read it", "Replace it with an ordinary file that has this line: "+lines[0], nil)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(file)
	}
	if err != nil && !doesNotExist(err) {
		return false, fileError("read", file, err)
	}
	there := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n"), "\n")
	for i := len(there) - 1; again && i >= 0; i-- {
		if !slices.Contains(lines, there[i]) {
			there = there[i+1:]
			break
		}
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(there, line) })
	if len(lines) == 0 {
		return false, nil
	}
	end := "\n"
	if n := bytes.Count(content, []byte("\r\n")); n > 0 && n == bytes.Count(content, []byte("\n")) {
		end = "\r\n"
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(content, end...)
	}
	content = append(content, strings.Join(lines, end)+end...)
	return true, fileError("write", file, wholefile.WriteVia(repo.CommonDir, file, content))
}

// firstNotGiven returns the index of the first of paths that git does not give to the driver; -1 if there is none.
func (a attribute) firstNotGiven(ctx context.Context, repo Repository, paths []string) (int, error) {
	values, err := a.valuesFor(ctx, repo, paths)
	return slices.IndexFunc(values, func(v string) bool { return v != driverName }), err
}

// removeLine removes a.line from file, a .gitattributes, and the file if nothing else is in it. It returns [Removed], [Present] if there was
// nothing to remove, or [LeftAlone] with an error.
func (a attribute) removeLine(repo Repository, file string) (Action, error) {
	info, err := os.Lstat(file)
	if doesNotExist(err) || err == nil && !info.Mode().IsRegular() { // git reads no .gitattributes that is a folder or a symbolic link
		return Present, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return LeftAlone, fileError("read", file, err)
	}
	var kept []byte
	for line := range bytes.Lines(content) {
		if strings.TrimSpace(string(line)) != a.line {
			kept = append(kept, line...)
		}
	}
	switch {
	case len(kept) == len(content):
		return Present, nil
	case len(kept) == 0:
		err = os.Remove(file)
	default:
		err = wholefile.WriteVia(repo.CommonDir, file, kept)
	}
	if err != nil {
		return LeftAlone, fileError("write", file, err)
	}
	return Removed, nil
}

// valuesFor returns the value that git has for the attribute at each of paths, in their order. The paths are relative to the work tree's top.
func (a attribute) valuesFor(ctx context.Context, repo Repository, paths []string) ([]string, error) {
	out, err := repo.Git.run(ctx, repo.Top, append([]string{"check-attr", "-z", a.name, "--"}, paths...)...)
	if err != nil {
		return nil, newError("git cannot read the attributes in "+wording.Printable(repo.Top), "", err)
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var values []string
	for i := 2; i < len(fields); i += 3 { // path, attribute, value
		values = append(values, fields[i])
	}
	if len(values) != len(paths) {
		return nil, newError("git did not say which driver it would use in "+wording.Printable(repo.Top), "", nil)
	}
	return values, nil
}

// setConfig sets settings, each a key and a value, in the repository's file of git's configuration. It returns [Present] if all have their values
// already, [Installed] or [Updated] for the last one that it changed, or [LeftAlone] with an error.
func setConfig(ctx context.Context, repo Repository, settings ...[2]string) (Action, error) {
	action := Present
	for _, setting := range settings {
		key := setting[0]
		now, set, err := repo.Git.config(ctx, repo.Top, "--local", "-z", "--get", key)
		if err != nil {
			return LeftAlone, err
		}
		if set && now == setting[1]+"\x00" {
			continue
		}
		if action = Updated; !set {
			action = Installed
		}
		if _, err := repo.Git.run(ctx, repo.Top, "config", "--local", "--replace-all", key, setting[1]); err != nil {
			return LeftAlone, configError(filepath.Join(repo.CommonDir, "config"), err)
		}
	}
	return action, nil
}
