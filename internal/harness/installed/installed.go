// Package installed keeps the calls of small-hook agent-hook in the settings files that agents' harnesses read in a work tree, and finds out
// whether they would be made.
//
// Every error is a *failure.Error: outcome 2 of the command line.
package installed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/harness/settings"
	"github.com/small-gate/small-gate/internal/hook"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxSize bounds a settings file, in bytes.
const maxSize = 1 << 20

// workTree is where settings files are looked for.
type workTree struct {
	repo hook.Repository
	top  string // without symbolic links
}

func open(ctx context.Context, dir string) (workTree, error) {
	repo, err := hook.Locate(ctx, dir)
	if err != nil {
		return workTree{}, err
	}
	if repo.Bare {
		return workTree{}, &failure.Error{Message: repo.Top + " is a bare repository: no agent works there", Remedy: "Run it in a clone or in a worktree."}
	}
	top, err := filepath.EvalSymlinks(repo.Top)
	return workTree{repo, top}, err
}

// settingsFile is a settings file as it was found.
type settingsFile struct {
	*settings.File
	real string // its path without symbolic links
	text []byte // nil if it is not there
}

// read reads a settings file. One that links lead out of the work tree to is refused: it is not this repository's.
func (w workTree) read(file *settings.File) (settingsFile, error) {
	found := settingsFile{File: file}
	path := filepath.Join(w.top, filepath.FromSlash(file.Path))
	fail := func(what string, err error) (settingsFile, error) {
		return found, &failure.Error{Message: file.Path + " " + what, Remedy: "Nothing was written. Put that right, then type `small-hook install --agent " + file.Harness.Name + "`", Err: err}
	}
	real, err := follow(path)
	if err != nil {
		return fail("cannot be reached: "+wording.Printable(err.Error()), err)
	}
	if rel, err := filepath.Rel(w.top, real); err != nil || !filepath.IsLocal(rel) {
		return fail("is a link that leads out of the work tree, to "+wording.Printable(real), err)
	}
	found.real = real
	info, err := os.Stat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, nil
	case err != nil:
		return fail("cannot be read: "+wording.Printable(err.Error()), err)
	case !info.Mode().IsRegular():
		return fail("is not a file", nil)
	case info.Size() > maxSize:
		return fail(fmt.Sprintf("is larger than %d bytes", maxSize), nil)
	}
	if found.text, err = os.ReadFile(real); err != nil {
		return fail("cannot be read: "+wording.Printable(err.Error()), err)
	}
	return found, nil
}

// follow is a path without symbolic links. What is not there yet may be missing at its end.
func follow(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, there := os.Lstat(path); there == nil {
		return "", err // a link that leads nowhere
	}
	parent, err := follow(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// write puts a file's new text in place.
func (w workTree) write(file settingsFile, text []byte) error {
	err := os.MkdirAll(filepath.Dir(file.real), 0o777)
	if err == nil {
		err = wholefile.WriteVia(w.repo.CommonDir, file.real, text)
	}
	return w.failed("written", file, err)
}

// remove removes a file and the directories that are empty then: git knows none.
func (w workTree) remove(file settingsFile) error {
	err := os.Remove(file.real)
	for dir := filepath.Dir(file.real); err == nil && dir != w.top; dir = filepath.Dir(dir) {
		var left []os.DirEntry
		if left, err = os.ReadDir(dir); err == nil && len(left) > 0 {
			return nil
		}
		err = errors.Join(err, os.Remove(dir))
	}
	return w.failed("removed", file, err)
}

func (w workTree) failed(what string, file settingsFile, err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s cannot be %s: %s", file.Path, what, wording.Printable(err.Error())),
		Remedy:  "Make sure that you can write there, then run the command again. What was there before still works.", Err: err,
	}
}

// Change is what was done about the settings of one harness.
type Change struct {
	File   *settings.File
	Action hook.Action // Installed, Updated, Present, Removed, Left or Absent
	Note   string
}

// Result is what an installation or its undoing did.
type Result struct {
	Outcome hook.Outcome
	Changes []Change
	Notes   []string
}

// Options says where and what to install.
type Options struct {
	Dir     string // in the repository; "" is the current directory
	Program string // what the harnesses are to call; "" is the small-hook that is on PATH wherever they run
}

// Install has the harnesses with these names call the gate. Nothing is written before all their files were read. Done twice, it changes
// nothing.
func Install(ctx context.Context, names []string, options Options) (Result, error) {
	tree, err := open(ctx, options.Dir)
	if err != nil {
		return Result{}, err
	}
	word, note, err := programWord(options.Program)
	if err != nil {
		return Result{}, err
	}
	result := Result{Outcome: hook.Unchanged}
	err = tree.each(names, &result, func(file settingsFile) (change, error) {
		text, err := file.Add(file.text, file.Command(word))
		if err != nil {
			return change{}, err
		}
		switch {
		case string(text) == string(file.text):
			return change{action: hook.Present, note: file.Trust}, nil
		case file.Mentions(file.text):
			return change{action: hook.Updated, text: text, note: file.Trust}, nil
		}
		return change{action: hook.Installed, text: text, note: file.Trust}, nil
	})
	if err != nil {
		return result, err
	}
	if note != "" {
		result.Notes = append(result.Notes, note)
	}
	if note != "" && options.Program == "" {
		result.Outcome = hook.NeedsManual
	}
	if slices.ContainsFunc(result.Changes, func(c Change) bool { return c.Action != hook.Present }) {
		result.Notes = append(result.Notes, toCommit(result.Changes))
	}
	gitHooks, err := aboutGitHooks(ctx, options.Dir)
	result.Notes = append(result.Notes, gitHooks)
	return result, err
}

// programWord is the program as a word of a shell, and what has to be said about it.
func programWord(named string) (word, note string, err error) {
	if named == "" {
		if _, err := exec.LookPath(hook.ProgramName); err != nil {
			note = "No " + hook.ProgramName + " is on PATH, so that these calls fail here. Put it there: " + hook.HowToInstall()
		}
		return hook.ProgramName, note, nil
	}
	program, err := hook.ResolveProgram(named)
	if err != nil {
		return "", "", err
	}
	return wording.ShellWord(filepath.ToSlash(program)), "The files name " + wording.Printable(program) + ", which other clones and machines may lack. Without --program they name " + hook.ProgramName + ", found on PATH.", nil
}

// toCommit says how the files come into every clone.
func toCommit(changes []Change) string {
	var paths []string
	for _, c := range changes {
		paths = append(paths, wording.TopPath(c.File.Path))
	}
	all := strings.Join(paths, " ")
	return "Every clone and worktree has the calls once they are committed: " + wording.Commands("git add --force -- "+all, "git commit -m 'Have agents call small-hook' -- "+all)
}

// aboutGitHooks says in a line whether git's own hooks are here.
func aboutGitHooks(ctx context.Context, dir string) (string, error) {
	missing, remedy, err := hook.Missing(ctx, dir)
	if err != nil || missing == "" {
		return "Git's own hooks are installed here.", err
	}
	return "Git's own hooks are not all installed here (" + missing + " missing). " + strings.ReplaceAll(remedy, "\n", " "), nil
}

// Uninstall takes out of the harnesses' settings what Install put in, and removes the files that it made. Done twice, it changes nothing.
func Uninstall(ctx context.Context, names []string, dir string) (Result, error) {
	tree, err := open(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	result := Result{Outcome: hook.Unchanged}
	err = tree.each(names, &result, func(file settingsFile) (change, error) {
		text, gone, err := file.Remove(file.text)
		switch {
		case err != nil:
			return change{}, err
		case gone && file.text == nil:
			return change{action: hook.Absent}, nil
		case gone:
			return change{action: hook.Removed, gone: true}, nil
		case file.Mentions(text):
			return change{action: hook.Left, text: text, note: "a command there calls the gate among other things: take that out by hand if it is not wanted"}, nil
		case string(text) == string(file.text):
			return change{action: hook.Absent}, nil
		}
		return change{action: hook.Removed, text: text}, nil
	})
	if result.Outcome == hook.Changed {
		result.Notes = []string{"Other clones call the gate until that is committed."}
	}
	return result, err
}

// change is what is to be done about one file.
type change struct {
	action hook.Action
	text   []byte // the new text; nil leaves the file as it is
	gone   bool   // the file is to be removed
	note   string
}

// each works out what to do about each file, and then does it.
func (w workTree) each(names []string, result *Result, decide func(settingsFile) (change, error)) error {
	var files []settingsFile
	var changes []change
	for _, name := range names {
		file, err := settings.Of(name)
		if err != nil {
			return err
		}
		found, err := w.read(file)
		if err != nil {
			return err
		}
		c, err := decide(found)
		if err != nil {
			return err
		}
		files, changes = append(files, found), append(changes, c)
	}
	for i, c := range changes {
		var err error
		switch file := files[i]; {
		case c.gone:
			err = w.remove(file)
		case c.text != nil && string(c.text) != string(file.text):
			err = w.write(file, c.text)
		}
		if err != nil {
			result.Outcome = hook.Failed
			return err
		}
		result.Changes = append(result.Changes, Change{File: files[i].File, Action: c.action, Note: c.note})
		switch {
		case c.action == hook.Left:
			result.Outcome = hook.NeedsManual
		case c.action != hook.Absent && c.action != hook.Present && result.Outcome == hook.Unchanged:
			result.Outcome = hook.Changed
		}
	}
	return nil
}

// Text tells a person what was done and what is left to do.
func (r Result) Text() string {
	var text strings.Builder
	for _, c := range r.Changes {
		what := string(c.Action)
		if c.Action == hook.Absent {
			what = "no call of the gate was there"
		}
		fmt.Fprintf(&text, "%s: %s, %s\n", c.File.Harness.Name, what, c.File.Path)
		if c.Note != "" {
			fmt.Fprintf(&text, "  %s\n", c.Note)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "Note: %s\n", note)
	}
	return text.String()
}
