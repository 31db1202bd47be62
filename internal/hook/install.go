package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// InstallOptions says where and what to install.
type InstallOptions struct {
	Dir     string // in the repository; "" is the current directory
	Program string // what the hooks are to call; "" is the running program, unless that is a temporary build
	// PreReceive adds the server-side hook. In a bare repository it is the only one.
	PreReceive bool
	// PrepareCommitMsg adds the hook that signs the commits of agents. Once it is there, later installations update it.
	PrepareCommitMsg bool
	// Force chains the hooks into a directory that a manager fills, instead of returning what to add to the manager's files.
	Force bool
}

// Install puts the hooks of a repository in place. Done twice, it changes nothing. Where a manager fills the directory, nothing is
// written unless options say so, and the result's Manual says what to add.
func Install(ctx context.Context, options InstallOptions) (result Result, err error) {
	repo, err := Locate(ctx, options.Dir)
	if err != nil {
		return Result{}, err
	}
	hooks, err := wantedHooks(repo, options.PreReceive)
	if err != nil {
		return Result{}, err
	}
	signs, err := readHook(filepath.Join(repo.HooksDir, string(PrepareCommitMsg)))
	if err != nil {
		return Result{}, err
	}
	if !repo.Bare && (recognise(PrepareCommitMsg, signs.text) == ours || options.PrepareCommitMsg) {
		hooks = append(hooks, PrepareCommitMsg)
	}
	program, err := ResolveProgram(options.Program)
	if err != nil {
		return Result{}, err
	}
	release, err := lock(ctx, repo)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	at, err := findManager(repo, hooks)
	if err != nil {
		return Result{}, err
	}
	plans, err := planAll(repo.HooksDir, hooks, program)
	if err != nil {
		return Result{}, err
	}
	if at.Manager != nil && !options.Force {
		undone, err := leaveToManager(repo, plans)
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

// wantedHooks returns the hooks that make sense in a repository.
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

// plan is what is to be done about one hook, worked out before anything is written.
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
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, failed("git takes hooks from "+show(dir)+", which is not a directory: hooks are switched off here", "Find out where that is set: `git config --show-origin --get core.hooksPath`", nil)
	}
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

// overOurs decides where there is no hook, or one with our mark.
func (p plan) overOurs() (Action, error) {
	switch {
	case !p.file.exists:
		return Installed, nil
	case recognise(p.hook, p.file.text) == edited:
		return Left, failed(show(p.file.path)+" is small-gate's hook, but somebody edited it", "Move it away or delete it, then run the command again.", nil)
	case p.file.runnable && (p.file.text == p.text || programIn(p.file.text) == ""):
		return Present, nil // one that names no program was put there by hand, and is left
	case p.file.link:
		return Left, failed(show(p.file.path)+" is a link to a small-gate hook that is out of date or not executable", "Remove the link, then run the command again.", nil)
	default:
		return Updated, nil
	}
}

// chainNote says what changes for a hook that is to be kept, if anything may.
func chainNote(file hookFile) string {
	switch {
	case !file.runnable:
		return "the hook that was there is not executable: git ignored it, and it is still ignored"
	case !goesByName(file.text) && mayGoByName(file.text):
		return "the kept hook seems to use its own file name, which is different now: check that it still works"
	}
	return ""
}

// leaveToManager marks the plans of hooks that a manager's files name already, and returns the others. Shims of ours in its directory are
// there because somebody insisted; they are kept up to date.
func leaveToManager(repo Repository, plans []plan) ([]Name, error) {
	var undone []Name
	for i, p := range plans {
		if p.action != Installed && p.action != Chained {
			continue
		}
		found := mention{}
		if p.file.runnable {
			var err error
			if found, err = findMention(repo, p.hook, p.file); err != nil {
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

// apply carries the plans out. Each hook goes through states that all work: the old hook in its place, the old hook in its place and
// kept, the shim with the kept one.
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
		result.Changes = append(result.Changes, Change{Hook: p.hook, Path: p.file.path, Action: p.action, Kept: p.kept, Note: p.note})
	}
	return result, nil
}

// write puts one shim in place, unless somebody has put another hook there since it was planned.
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

// installNotes says what may undo an installation later on.
func installNotes(at managed, program string, outcome Outcome) []string {
	var notes []string
	if !at.repo.Bare && inside(at.repo.Top, program) {
		notes = append(notes, "The hooks call "+show(program)+", which is inside this work tree and goes when it goes. "+
			"To install a lasting one: "+HowToInstall())
	}
	if outcome == Changed && at.Manager != nil && at.undoes != nil {
		notes = append(notes, at.undoes(at.repo))
	}
	return notes
}
