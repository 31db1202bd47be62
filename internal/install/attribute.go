package install

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wholefile"
)

// attribute is a git attribute that gives some files to a driver.
type attribute struct {
	name, line string
	// probes are sample paths for which it must be set: in the root and below.
	probes []string
}

// add adds the line to .gitattributes unless the files already have the driver, and further lines that are missing.
func (a attribute) add(ctx context.Context, repo Repository, file string, more ...string) (Action, error) {
	values, err := a.at(ctx, repo, a.probes)
	if err != nil {
		return Left, err
	}
	wanted := more
	if slices.ContainsFunc(values, func(v string) bool { return v != driverName }) {
		wanted = append([]string{a.line}, more...)
	}
	if len(wanted) == 0 {
		return Present, nil
	}
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		return Left, failed(show(file)+" is not an ordinary file", "Add this line to the file that git reads: "+wanted[0], nil)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(file)
	}
	if err != nil && !missing(err) {
		return Left, fileError("read", file, err)
	}
	there := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	wanted = slices.DeleteFunc(wanted, func(line string) bool { return line != a.line && slices.Contains(there, line) })
	if len(wanted) == 0 {
		return Present, nil
	}
	end := "\n"
	if n := bytes.Count(content, []byte("\r\n")); n > 0 && n == bytes.Count(content, []byte("\n")) {
		end = "\r\n"
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(content, end...)
	}
	if err := wholefile.WriteVia(repo.CommonDir, file, append(content, strings.Join(wanted, end)+end...)); err != nil {
		return Left, fileError("write", file, err)
	}
	values, err = a.at(ctx, repo, a.probes)
	if err == nil && slices.ContainsFunc(values, func(v string) bool { return v != driverName }) {
		err = failed("the line is in "+show(file)+", but another one overrides it", "Find it with `git check-attr --all "+a.probes[0]+"`; info/attributes in git's folder overrides "+attributesFile, nil)
	}
	return Installed, err
}

// remove removes the line from .gitattributes, and the file if nothing else is in it.
func (a attribute) remove(repo Repository, file string) (Action, error) {
	content, err := os.ReadFile(file)
	if missing(err) {
		return Present, nil
	}
	if err != nil {
		return Left, fileError("read", file, err)
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
		return Left, fileError("write", file, err)
	}
	return Removed, nil
}

// at asks git for the attribute of paths in the work tree.
func (a attribute) at(ctx context.Context, repo Repository, paths []string) ([]string, error) {
	out, err := repo.Git.run(ctx, repo.Top, append([]string{"check-attr", "-z", a.name, "--"}, paths...)...)
	if err != nil {
		return nil, failed("git cannot read the attributes in "+show(repo.Top), "", err)
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var values []string
	for i := 2; i < len(fields); i += 3 { // path, attribute, value
		values = append(values, fields[i])
	}
	if len(values) != len(paths) {
		return nil, failed("git did not say which driver it would take in "+show(repo.Top), "", nil)
	}
	return values, nil
}

// configure sets keys to values in the repository's own configuration.
func configure(ctx context.Context, repo Repository, settings ...[2]string) (Action, error) {
	action := Present
	for _, setting := range settings {
		key := setting[0]
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
