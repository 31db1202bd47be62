package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// InstallOptions says what to install, and where.
type InstallOptions struct {
	Dir     string // a directory in the repository; "" is the current one
	Program string // the program that hooks call; "" is the running program, and an error if that is a temporary build
	// PreReceive adds the server-side hook. In a bare repository it is the only hook.
	PreReceive bool
	// Force writes our hooks even if a hook manager is recognised whose files do not call the gate. The manager's hooks are kept and run first.
	Force bool
	// Logs are the logs that the configuration names. InstallMergeDriver gives their files to the driver; other functions ignore Logs.
	Logs []LogPattern
}

// command returns the command that installs the hooks that o asks for, without --force.
func (o InstallOptions) command() string {
	command := ProgramName + " install"
	if o.Program != "" {
		command += " --program " + wording.ShellWord(filepath.ToSlash(o.Program))
	}
	if o.PreReceive {
		command += " --pre-receive"
	}
	return command
}

// Install installs a repository's hooks. It is idempotent. If a hook manager is recognised, even only by its configuration, and its
// files do not call the gate for each of the hooks yet, nothing is written unless options.Force is set: the result's ManualSteps say what to add to these files.
func Install(ctx context.Context, options InstallOptions) (result Result, err error) {
	repo, err := Locate(ctx, options.Dir)
	if err != nil {
		return Result{}, err
	}
	hooks, err := hooksToInstall(repo, options.PreReceive)
	if err != nil {
		return Result{}, err
	}
	program, err := ResolveProgram(options.Program)
	if err != nil {
		return Result{}, err
	}
	// Two processes that replace and restore one hook at the same time could lose it.
	release, err := lock.Directory(ctx, repo.CommonDir, true)
	if err != nil {
		return Result{}, fileError("lock", repo.CommonDir, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	found, err := findManager(repo, hooks)
	if err != nil {
		return Result{}, err
	}
	if why := repo.whySwitchedOff(); why != "" {
		return Result{}, newError("hooks are switched off here: "+why, repo.howToSwitchOn(), nil)
	}
	plans, err := planHooks(repo.HooksDir, hooks, program)
	if err != nil {
		return Result{}, err
	}
	if found.manager != nil && !options.Force {
		uncalled, err := markCalledHooks(found, plans)
		if err != nil {
			return Result{}, err
		}
		if len(uncalled) > 0 {
			manual, err := manualSteps(found, uncalled, program, options.command())
			if err != nil {
				return Result{}, err
			}
			return Result{Outcome: NeedsManualSteps, Dir: repo.HooksDir, ManualSteps: manual}, nil
		}
	}
	result, err = applyPlans(repo.HooksDir, program, plans)
	result.Notes = installNotes(found, program, result.Outcome)
	return result, err
}

// hooksToInstall returns the client hooks for a repository with a work tree, and pre-receive if preReceive is set. A bare repository gets only
// pre-receive, since git runs no client hooks there; if preReceive is not set, that is an error.
func hooksToInstall(repo Repository, preReceive bool) ([]Name, error) {
	switch {
	case !repo.Bare && preReceive:
		return allHooks(), nil
	case !repo.Bare:
		return ClientHooks(), nil
	case !preReceive:
		return nil, newError(wording.Printable(repo.Top)+" is a bare repository: nobody commits there, so client hooks would never run", "Install the server-side hook instead: `"+ProgramName+" install -C "+wording.ShellWord(filepath.ToSlash(repo.Top))+" --pre-receive`\n"+
			"For the hooks of a worktree that is linked to it, run install in that worktree.", nil)
	}
	return []Name{PreReceive}, nil
}

// plan is what to do about one hook, decided before anything is written.
type plan struct {
	hook   Name
	file   hookFile // what the shim replaces: the hook in place, or our shim if a manager moved it aside and runs it
	kept   string   // the path of the kept hook; empty if there is none
	text   string   // the text of the new shim
	action Action
	note   string // for people; often empty
}

// planHooks returns one plan for each hook. It writes nothing: if one hook cannot be planned, Install changes none.
func planHooks(dir string, hooks []Name, program string) ([]plan, error) {
	plans := make([]plan, 0, len(hooks))
	for _, hook := range hooks {
		p, err := planHook(dir, hook, program)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// planHook decides what to do about one hook in dir, git's hooks directory. It returns an error if the hook cannot be read or a person must act first.
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
	earlier := kept // the hook that the shim runs first
	if p.file.exists && originOf(hook, p.file.text) == foreign {
		movedAside, isCalled, err := findMovedAside(hook, p.file)
		if err != nil {
			return p, err
		}
		if isCalled {
			p.file, p.note = movedAside, "the manager's hook runs this file"
		} else {
			earlier, p.action, p.note = p.file, Chained, chainNote(p.file)
		}
	}
	if earlier.exists {
		p.kept = kept.path
	}
	p.text = newShim(hook, program, earlier).render()
	if p.action != Chained {
		p.action, err = p.chooseAction()
	} else if kept.exists && !kept.isCopyOf(p.file) && !kept.hasSameManager(p.file) {
		err = alreadyKeptError(p.file.path, kept.path)
	}
	return p, err
}

// chooseAction returns the action for a plan whose file does not exist or is a hook of ours, perhaps edited; an error if a person must act first.
func (p plan) chooseAction() (Action, error) {
	switch {
	case !p.file.exists:
		return Installed, nil
	case originOf(p.hook, p.file.text) == edited:
		return LeftAlone, newError(wording.Printable(p.file.path)+" is small-gate's hook, but somebody edited it", "Move it away or delete it, then run the command again.", nil)
	case p.file.runnable && (p.file.text == p.text || programIn(p.file.text) == ""):
		return Present, nil // a shim that names no program is from the folder hooks; a person put it there
	case p.file.link:
		return LeftAlone, newError(wording.Printable(p.file.path)+" is a link to a small-gate hook that is out of date or not executable", "Remove the link, then run the command again.", nil)
	default:
		return Updated, nil
	}
}

// chainNote returns a note for people about file, the hook that will be kept, or "".
func chainNote(file hookFile) string {
	switch {
	case !file.runnable:
		return "the hook that was there is not executable: git ignored it, and it is still ignored"
	case !dependsOnFileName(file.text) && mayDependOnFileName(file.text): // for the former the shim sets $0, so that it sees its old name
		return "the kept hook seems to use its own file name, which has changed: check that it still works"
	}
	return ""
}

// markCalledHooks gives the action [Called] to the plans of hooks that the manager's files already name, if git can run the hook that is in
// place. It returns the hooks for which a person must still add something to these files, or have the manager write its hooks. It does not change the
// plans for shims of ours that are in place, and for hooks that the manager does not know.
func markCalledHooks(found recognition, plans []plan) ([]Name, error) {
	var uncalled []Name
	for i, p := range plans {
		if p.action != Installed && p.action != Chained || slices.Contains(found.manager.unknownHooks, p.hook) {
			continue
		}
		caller := mention{}
		if p.file.runnable {
			var err error
			if caller, err = findMention(found.repo, p.hook, p.file); err != nil {
				return nil, err
			}
		}
		if caller.file == "" {
			uncalled = append(uncalled, p.hook)
			continue
		}
		plans[i].action, plans[i].kept, plans[i].note = Called, "", caller.sentence(p.hook)+"; not verified"
	}
	return uncalled, nil
}

// applyPlans writes the planned shims. After an error it returns the outcome [Failed] and the changes made so far. Whenever the
// process is killed, a working hook is in place: the old one, the old one that is kept already, or the shim with the kept one.
func applyPlans(dir, program string, plans []plan) (Result, error) {
	result := Result{Dir: dir, Outcome: Unchanged}
	for _, p := range plans {
		if p.action != Called && (p.action != Present || programIn(p.file.text) != "") {
			result.Program = program
		}
		if p.action != Present && p.action != Called {
			if err := p.writeShim(dir); err != nil {
				result.Outcome = Failed
				return result, err
			}
			result.Outcome = Changed
		}
		result.Changes = append(result.Changes, HookChange{Hook: p.hook, Path: p.file.path, Action: p.action, Kept: p.kept, Note: p.note})
	}
	return result, nil
}

// writeShim keeps the old hook if the action is [Chained], and writes the shim. It fails if somebody else has changed the hook since it was planned.
func (p plan) writeShim(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fileError("make the directory", dir, err)
	}
	now, err := readHook(p.file.path)
	if err != nil {
		return err
	}
	if now.exists && !now.isCopyOf(p.file) && originOf(p.hook, now.text) != ours {
		return newError(wording.Printable(now.path)+" was changed while the hooks were installed", "Run the command again.", nil)
	}
	if p.action == Chained {
		if err := keepHook(p.file, p.kept); err != nil {
			return err
		}
	}
	return writeHook(p.file.path, []byte(p.text), hookMode)
}

// installNotes returns notes for people about what may later put the hooks out of use, and about other repositories that run them; nil if there is
// nothing to say.
func installNotes(found recognition, program string, outcome Outcome) []string {
	var notes []string
	if !found.repo.Bare && githistory.IsWithin(found.repo.Top, program) {
		notes = append(notes, "The hooks call "+wording.Printable(program)+", which is inside this work tree, so they stop working if the work tree is deleted. "+
			"To install a permanent program: "+HowToInstall())
	}
	if outcome == Changed && found.manager != nil && found.manager.disablingNote != nil {
		notes = append(notes, found.manager.disablingNote(found.repo))
	}
	if dir := found.repo.HooksDir; outcome == Changed && found.repo.redirected() && !githistory.IsWithin(found.repo.Top, dir) && !githistory.IsWithin(found.repo.CommonDir, dir) {
		notes = append(notes, "Every repository that takes its hooks from "+wording.Printable(dir)+" runs these hooks now.")
	}
	return notes
}
