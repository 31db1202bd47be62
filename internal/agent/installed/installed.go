// Package installed adds calls of small-hook agent-hook to the settings files that agents' harnesses read in a work tree, removes them, and checks
// whether the harnesses would make them.
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
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/agent/settings"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/install"
)

// maxSize is the size of the largest settings file that is read, in bytes.
const maxSize = 1 << 20

// workTree is a work tree with settings files.
type workTree struct {
	repo install.Repository
	top  string // without symbolic links
}

func openWorkTree(ctx context.Context, dir string) (workTree, error) {
	repo, err := install.Locate(ctx, dir)
	if err != nil {
		return workTree{}, err
	}
	if repo.Bare {
		return workTree{}, &failure.Error{Message: repo.Top + " is a bare repository: no agent works there", Remedy: "Run it in a clone or in a worktree."}
	}
	top, err := filepath.EvalSymlinks(repo.Top)
	return workTree{repo, top}, err
}

// settingsFile is a settings file on disk.
type settingsFile struct {
	file *settings.File
	real string // its path without symbolic links
	text []byte // nil if it does not exist
}

// read reads a settings file, as the harness does through symbolic links.
func (w workTree) read(file *settings.File) (settingsFile, error) {
	found := settingsFile{file: file}
	fail := func(what string, err error) (settingsFile, error) { return found, found.errUnfit(what, err) }
	var err error
	if found.real, err = resolveLinks(filepath.Join(w.top, filepath.FromSlash(file.Path))); err != nil {
		return fail("cannot be reached: "+wording.Printable(err.Error()), err)
	}
	found.text, err = wholefile.Start(found.real, maxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, wholefile.ErrNotRegular):
		return fail("is not a file", nil)
	case err != nil:
		return fail("cannot be read: "+wording.Printable(err.Error()), err)
	case len(found.text) > maxSize:
		return fail(fmt.Sprintf("is larger than %d bytes", maxSize), nil)
	}
	return found, nil
}

// checkInside returns an error for a file to which a symbolic link leads outside of the work tree: it is not changed.
func (w workTree) checkInside(f settingsFile) error {
	if rel, err := filepath.Rel(w.top, f.real); err != nil || !filepath.IsLocal(rel) {
		return f.errUnfit("is a link that leads out of the work tree, to "+wording.Printable(f.real), err)
	}
	return nil
}

// errUnfit returns an error whose remedy says to put the file right; the caller adds what to type then: see thenType.
func (f settingsFile) errUnfit(what string, err error) error {
	return &failure.Error{Message: f.file.Path + " " + what, Remedy: "Put that right", Err: err}
}

// resolveLinks resolves the symbolic links of a path. Its last elements need not exist.
func resolveLinks(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, there := os.Lstat(path); there == nil {
		return "", err // a link that leads nowhere
	}
	parent, err := resolveLinks(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// write writes a file's new text.
func (w workTree) write(file settingsFile, text []byte) error {
	err := os.MkdirAll(filepath.Dir(file.real), 0o777)
	if err == nil {
		err = wholefile.WriteVia(w.repo.CommonDir, file.real, text)
	}
	return file.errFailed("written", err)
}

// remove removes a file, and the directories that are empty then.
func (w workTree) remove(file settingsFile) error {
	err := os.Remove(file.real)
	for dir := filepath.Dir(file.real); err == nil && dir != w.top; dir = filepath.Dir(dir) {
		var left []os.DirEntry
		if left, err = os.ReadDir(dir); err == nil && len(left) > 0 {
			return nil
		}
		err = errors.Join(err, os.Remove(dir))
	}
	return file.errFailed("removed", err)
}

func (f settingsFile) errFailed(what string, err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s cannot be %s: %s", f.file.Path, what, wording.Printable(err.Error())),
		Remedy:  "Make sure that you can read and write there, then run the command again. What worked before still works.", Err: err,
	}
}

// change is the change of one file.
type change struct {
	action install.Action
	text   []byte // the new text
	gone   bool   // remove the file
	note   string
}

// Install makes the harnesses with these names call the gate in the repository around dir ("" is the current directory). They call program;
// if it is "", the small-hook on PATH wherever they run. It reads all files before it writes any. It is idempotent.
func Install(ctx context.Context, names []string, dir, program string) (install.Result, error) {
	tree, err := openWorkTree(ctx, dir)
	if err != nil {
		return install.Result{}, err
	}
	word, note, err := programWord(program)
	if err != nil {
		return install.Result{}, err
	}
	off := false
	var paths []string
	result, err := tree.changeFiles(names, "install", func(found settingsFile) (change, error) {
		text, err := found.file.Add(found.text, found.file.Command(word))
		if err != nil {
			return change{}, err
		}
		c := change{action: install.Installed, note: found.file.Trust, text: text}
		paths = append(paths, tree.pathsToCommit(found)...)
		calls, err := found.file.FindCalls(text)
		if calls.Off != "" {
			off, c.note = true, errHooksOff(found.file, calls.Off).Error()
		}
		switch {
		case string(text) == string(found.text):
			c.action = install.Present
		case found.file.Mentions(found.text):
			c.action = install.Updated
		}
		return c, err
	})
	if err != nil {
		return result, err
	}
	if note != "" {
		result.Notes = append(result.Notes, note)
	}
	if off || note != "" && program == "" {
		result.Outcome = install.NeedsManualSteps
	}
	if slices.ContainsFunc(result.Changes, func(c install.HookChange) bool { return c.Action != install.Present }) {
		result.Notes = append(result.Notes, toCommit(paths),
			"What an agent should know is in a skill file; copy it to where yours reads skills: "+wording.Project+"/blob/main/skills/small-gate/SKILL.md")
	}
	gitHooks, err := aboutGitHooks(ctx, dir)
	result.Notes = append(result.Notes, gitHooks)
	return result, err
}

// programWord returns the program as a word of a shell, and a note about it for people.
func programWord(named string) (word, note string, err error) {
	if named == "" {
		if _, err := exec.LookPath(install.ProgramName); err != nil {
			note = "No " + install.ProgramName + " is on PATH, so that these calls fail here. Put it there: " + install.HowToInstall()
		}
		return install.ProgramName, note, nil
	}
	program, err := install.ResolveProgram(named)
	if err != nil {
		return "", "", err
	}
	return wording.ShellWord(filepath.ToSlash(program)), "The files name " + wording.Printable(program) + ", which other clones and machines may lack. Without --program they name " + install.ProgramName + ", found on PATH.", nil
}

// pathsToCommit returns the paths that have to be committed so that every clone has a settings file: its own, and the first symbolic link that leads
// to it, since git takes no path beyond a link.
func (w workTree) pathsToCommit(f settingsFile) (paths []string) {
	var at string
	for name := range strings.SplitSeq(f.file.Path, "/") {
		at = path.Join(at, name)
		if info, err := os.Lstat(filepath.Join(w.top, filepath.FromSlash(at))); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			paths = []string{at}
			break
		}
	}
	rel, err := filepath.Rel(w.top, f.real)
	if err != nil {
		rel = f.file.Path
	}
	return append(paths, filepath.ToSlash(rel))
}

// toCommit returns the note that tells how the files at some paths get into every clone.
func toCommit(paths []string) string {
	var words []string
	for _, p := range paths {
		words = append(words, wording.TopPath(p))
	}
	all := strings.Join(words, " ")
	return "Every clone and worktree has the calls once they are committed: " + wording.Commands("git add --force -- "+all, "git commit -m 'Have agents call small-hook' -- "+all)
}

// aboutGitHooks returns the note that tells whether git's own hooks are installed.
func aboutGitHooks(ctx context.Context, dir string) (string, error) {
	missing, remedy, err := install.MissingHooks(ctx, dir)
	if err != nil || missing == "" {
		return "Git's own hooks are installed here.", err
	}
	return "Git's own hooks are not all installed here (" + missing + " missing). " + strings.ReplaceAll(remedy, "\n", " "), nil
}

// Uninstall removes what Install added to the harnesses' settings, and the files that it made. It is idempotent.
func Uninstall(ctx context.Context, names []string, dir string) (install.Result, error) {
	tree, err := openWorkTree(ctx, dir)
	if err != nil {
		return install.Result{}, err
	}
	result, err := tree.changeFiles(names, "uninstall", func(found settingsFile) (change, error) {
		text, gone, err := found.file.Remove(found.text)
		c := change{action: install.Removed, text: text, gone: gone && found.text != nil}
		var left settings.Found
		if err == nil && !gone {
			left, err = found.file.FindCalls(text)
		}
		switch {
		case c.gone:
		case len(left.Commands) > 0:
			c.action, c.note = install.LeftAlone, "a command there calls the gate among other things: take that out by hand if you do not want it"
		case string(text) == string(found.text):
			c.action = install.NoCall
		}
		return c, err
	})
	if result.Outcome == install.Changed {
		result.Notes = []string{"Other clones call the gate until that is committed."}
	}
	return result, err
}

// thenType adds the command to type next to the remedy of err, which says why a settings file cannot be used; nil stays nil.
func thenType(err error, command string, file *settings.File) error {
	if err == nil {
		return nil
	}
	f := *failure.Of(err)
	f.Remedy += ", then type `small-hook " + command + " --agent " + file.Harness.Name + "`"
	return &f
}

// changeFiles plans the change of each harness's file, and then applies all changes. command is install or uninstall, whichever the user typed.
func (w workTree) changeFiles(names []string, command string, decide func(settingsFile) (change, error)) (install.Result, error) {
	result := install.Result{Outcome: install.Unchanged}
	var files []settingsFile
	var changes []change
	for _, name := range names {
		file, err := settings.Of(name)
		if err != nil {
			return result, err
		}
		found, err := w.read(file)
		if err == nil {
			err = w.checkInside(found)
		}
		var c change
		if err == nil {
			c, err = decide(found)
		}
		if err != nil {
			return result, thenType(err, command, file)
		}
		files, changes = append(files, found), append(changes, c)
	}
	for i, c := range changes {
		var err error
		switch {
		case c.gone:
			err = w.remove(files[i])
		case string(c.text) != string(files[i].text):
			err = w.write(files[i], c.text)
		}
		if err != nil {
			result.Outcome = install.Failed
			return result, err
		}
		file := files[i].file
		result.Changes = append(result.Changes, install.HookChange{Hook: install.Name(file.Harness.Name), Path: file.Path, Action: c.action, Note: c.note})
		result.Outcome = result.Outcome.After(c.action)
	}
	return result, nil
}
