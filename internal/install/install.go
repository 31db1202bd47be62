package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/lock"
)

// InstallOptions says where and what to install.
type InstallOptions struct {
	Dir     string // in the repository; "" is the current directory
	Program string // the program that hooks call; "" is the running program, unless that is a temporary build
	// PreReceive adds the server-side hook. In a bare repository it is the only hook.
	PreReceive bool
	// Force chains the hooks into a directory that a manager fills, instead of returning what to add to the manager's files.
	Force bool
	// Logs are the logs of the configuration, for the merge driver.
	Logs []LogPattern
}

// Install installs a repository's hooks. It is idempotent. If a manager fills the directory, nothing is written unless options force it,
// and the result's Manual says what to add.
func Install(ctx context.Context, options InstallOptions) (result Result, err error) {
	repo, err := Locate(ctx, options.Dir)
	if err != nil {
		return Result{}, err
	}
	hooks, err := wantedHooks(repo, options.PreReceive)
	if err != nil {
		return Result{}, err
	}
	program, err := ResolveProgram(options.Program)
	if err != nil {
		return Result{}, err
	}
	// Putting a hook back while another run replaces it could lose it.
	release, err := lock.Directory(ctx, repo.CommonDir, true)
	if err != nil {
		return Result{}, fileError("lock", repo.CommonDir, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	at, err := findManager(repo, hooks)
	if err != nil {
		return Result{}, err
	}
	if repo.switchedOff() {
		return Result{}, failed("git takes hooks from "+show(repo.HooksDir)+", which is not a directory: hooks are switched off here", repo.HooksPath.remove(), nil)
	}
	plans, err := planAll(repo.HooksDir, hooks, program)
	if err != nil {
		return Result{}, err
	}
	if at.by != nil && !options.Force {
		undone, err := leaveToManager(at, plans)
		if err != nil {
			return Result{}, err
		}
		if len(undone) > 0 {
			manual, err := manualFor(at, undone, program)
			if err != nil {
				return Result{}, err
			}
			return Result{Outcome: NeedsManual, Dir: repo.HooksDir, Manual: manual}, nil
		}
	}
	result, err = apply(repo.HooksDir, program, plans)
	result.Notes = installNotes(at, program, result.Outcome)
	return result, err
}

// wantedHooks returns the hooks that are useful in a repository.
func wantedHooks(repo Repository, preReceive bool) ([]Name, error) {
	switch {
	case !repo.Bare && preReceive:
		return allHooks(), nil
	case !repo.Bare:
		return ClientHooks(), nil
	case !preReceive:
		return nil, failed(show(repo.Top)+" is a bare repository: nobody commits there, so client hooks would never run", "Install the server-side hook instead: `"+ProgramName+" install --pre-receive`\n"+
			"For the hooks of a worktree that is linked to it, run install in that worktree.", nil)
	}
	return []Name{PreReceive}, nil
}

// plan is what to do about one hook, decided before anything is written.
type plan struct {
	hook   Name
	file   hookFile
	kept   string
	text   string
	action Action
	note   string
}

// planAll plans every hook before the first is written.
func planAll(dir string, hooks []Name, program string) ([]plan, error) {
	plans := make([]plan, 0, len(hooks))
	for _, hook := range hooks {
		one, err := planHook(dir, hook, program)
		if err != nil {
			return nil, err
		}
		plans = append(plans, one)
	}
	return plans, nil
}

// planHook decides about one hook.
func planHook(dir string, hook Name, program string) (plan, error) {
	path := filepath.Join(dir, string(hook))
	p := plan{hook: hook}
	var err error
	if p.file, err = readHook(path); err != nil {
		return p, err
	}
	kept, err := readHook(path + keptSuffix)
	if err != nil {
		return p, err
	}
	before := kept
	if p.file.exists && recognise(hook, p.file.text) == foreign {
		aside, runs, err := findAside(hook, p.file)
		if err != nil {
			return p, err
		}
		if runs {
			p.file, p.note = aside, "the manager's hook runs it"
		} else {
			before, p.action, p.note = p.file, Chained, chainNote(p.file)
		}
	}
	if before.exists {
		p.kept = kept.path
	}
	p.text = shimFor(hook, program, before).render()
	if p.action != Chained {
		p.action, err = p.overOurs()
	} else if kept.exists && !kept.same(p.file) && !kept.sameAuthor(p.file) {
		err = keptAlready(p.file.path, kept.path)
	}
	return p, err
}

// overOurs decides if there is no hook, or one with our mark.
func (p plan) overOurs() (Action, error) {
	switch {
	case !p.file.exists:
		return Installed, nil
	case recognise(p.hook, p.file.text) == edited:
		return Left, failed(show(p.file.path)+" is small-gate's hook, but somebody edited it", "Move it away or delete it, then run the command again.", nil)
	case p.file.runnable && (p.file.text == p.text || programIn(p.file.text) == ""):
		return Present, nil // a hook that names no program was put there by hand, and stays
	case p.file.link:
		return Left, failed(show(p.file.path)+" is a link to a small-gate hook that is out of date or not executable", "Remove the link, then run the command again.", nil)
	default:
		return Updated, nil
	}
}

// chainNote says what may change for a hook that is kept; empty if nothing does.
func chainNote(file hookFile) string {
	switch {
	case !file.runnable:
		return "the hook that was there is not executable: git ignored it, and it is still ignored"
	case !goesByName(file.text) && mayGoByName(file.text):
		return "the kept hook seems to use its own file name, which is different now: check that it still works"
	}
	return ""
}

// leaveToManager marks the plans of hooks that a manager's files already name, and returns the other hooks. Shims of ours in its directory
// were forced, or are for hooks that the manager does not know; they are kept up to date.
func leaveToManager(at managed, plans []plan) ([]Name, error) {
	var undone []Name
	for i, p := range plans {
		if p.action != Installed && p.action != Chained || slices.Contains(at.by.lacks, p.hook) {
			continue
		}
		found := mention{}
		if p.file.runnable {
			var err error
			if found, err = findMention(at.repo, p.hook, p.file); err != nil {
				return nil, err
			}
		}
		if found.in == "" {
			undone = append(undone, p.hook)
			continue
		}
		plans[i].action, plans[i].kept, plans[i].note = Called, "", found.how(p.hook)+"; not verified"
	}
	return undone, nil
}

// apply carries out the plans. Each hook works at every step: first the old hook in place, then also kept, then the shim with the kept one.
func apply(dir, program string, plans []plan) (Result, error) {
	result := Result{Dir: dir, Program: program, Outcome: Unchanged}
	for _, p := range plans {
		if p.action != Present && p.action != Called {
			if err := p.write(dir); err != nil {
				result.Outcome = Failed
				return result, err
			}
			result.Outcome = Changed
		}
		result.Changes = append(result.Changes, HookChange{Hook: p.hook, Path: p.file.path, Action: p.action, Kept: p.kept, Note: p.note})
	}
	return result, nil
}

// write puts one shim in place, unless another hook has appeared since it was planned.
func (p plan) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fileError("make the directory", dir, err)
	}
	now, err := readHook(p.file.path)
	if err != nil {
		return err
	}
	if now.exists && !now.same(p.file) && recognise(p.hook, now.text) != ours {
		return failed(show(now.path)+" was changed while the hooks were installed", "Run the command again.", nil)
	}
	if p.action == Chained {
		if err := keep(p.file, p.kept); err != nil {
			return err
		}
	}
	return writeHook(p.file.path, []byte(p.text), hookMode)
}

// installNotes says what may later undo an installation.
func installNotes(at managed, program string, outcome Outcome) []string {
	var notes []string
	if !at.repo.Bare && inside(at.repo.Top, program) {
		notes = append(notes, "The hooks call "+show(program)+", which is inside this work tree and goes when it goes. "+
			"To install a lasting one: "+HowToInstall())
	}
	if outcome == Changed && at.by != nil && at.by.undoes != nil {
		notes = append(notes, at.by.undoes(at.repo))
	}
	return notes
}
