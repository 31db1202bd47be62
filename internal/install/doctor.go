package install

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Proof says how the doctor knows that a hook would fire, that is, would run and reach the gate.
type Proof string

// The kinds of proof.
const (
	ProofNone        Proof = ""                       // the hook would not fire, or MissingHooks did not run its shim
	ProofRan         Proof = "git ran it"             // and the shim answered
	ProofRanDirectly Proof = "it was run without git" // git is older than 2.36, its configuration names a command for this hook, or a manager moved the shim aside
	ProofMention     Proof = "not verified"           // a manager's file, or the user's own hook, names the gate; neither was run
)

// Check is what the doctor found out about one hook.
type Check struct {
	Hook Name
	Path string // of the file that git would run
	// Fires reports whether the hook would reach the gate, as far as Proof shows.
	Fires bool
	Proof Proof
	// Why says why the hook would not fire, Remedy what to do about that. Both are empty if Fires is true.
	Why, Remedy string
	// CalledBy names the caller of the gate if Proof is [ProofMention]: a manager, or "your own hook". Otherwise it is empty.
	CalledBy string
	// How says for people which file names the gate, or which manager's hook runs our shim; empty if the hook's file is our shim, or nothing calls the gate.
	How string
	// Kept is the path of the earlier hook that our shim runs first; empty if there is none.
	Kept string
	// Program is the program that our shim would run, Version its answer to "version". Each is empty if it is not known.
	Program, Version string
	// MissingProgram is the path in our shim if no program can be run there any more, otherwise empty. Program is then the one that the shim finds on
	// PATH, or empty.
	MissingProgram string
}

// Diagnosis is what the doctor found.
type Diagnosis struct {
	Repository Repository
	Manager    string      // a sentence: the hook manager, and how it was recognised; empty if there is none
	Checks     []Check     // one for each hook
	Driver     DriverCheck // of the merge driver
	Notes      []string
	RunIn      string // as in [Result]
}

// Fires reports whether every checked hook would fire.
func (d Diagnosis) Fires() bool {
	return len(d.Checks) > 0 && !slices.ContainsFunc(d.Checks, func(c Check) bool { return !c.Fires })
}

// Doctor finds out for each hook whether git would run the hook in the repository around dir ("" is the current directory), and whether the hook
// would reach the gate. Our shims are run, by git where possible, with [DoctorVariable] set: they answer and judge nothing. Other hooks are
// read and never run.
//
// In a work tree Doctor checks the client hooks, and pre-receive if there is one; in a bare repository only pre-receive.
//
// Doctor also checks whether git would call the merge driver for the files of workspaces and of logs.
func Doctor(ctx context.Context, dir string, logs ...LogPattern) (Diagnosis, error) {
	repo, err := Locate(ctx, dir)
	diagnosis := Diagnosis{Repository: repo}
	if err != nil {
		return diagnosis, err
	}
	if diagnosis.Repository.Kind, err = repo.describeKind(ctx); err != nil {
		return diagnosis, err
	}
	hooks := hooksToCheck(repo)
	found, err := findManager(repo, hooks)
	if err != nil {
		return diagnosis, err
	}
	diagnosis.Manager = found.why
	configured, err := configuredHooks(ctx, repo)
	if err != nil {
		return diagnosis, err
	}
	if len(configured) > 0 {
		diagnosis.Notes = append(diagnosis.Notes, "git's configuration has hooks too (hook.*.event). Git runs them as well; the doctor does not.")
	}
	for _, hook := range hooks {
		check, err := examination{repo: repo, runsFileOnly: !configured[hook]}.checkHook(ctx, hook)
		if err != nil {
			return diagnosis, err
		}
		diagnosis.Checks = append(diagnosis.Checks, check)
	}
	ignored, err := ignoredWorkspaces(ctx, repo)
	if err != nil {
		return diagnosis, err
	}
	for _, path := range ignored {
		diagnosis.Notes = append(diagnosis.Notes, "git ignores "+wording.Printable(path)+", so nothing in it is committed or judged. To find the line that hides it: `git check-ignore -v "+shellPath(filepath.Join(repo.Top, path))+"`")
	}
	gone, err := findGoneAttributes(ctx, repo)
	if err != nil {
		return diagnosis, err
	}
	for _, path := range gone {
		diagnosis.Notes = append(diagnosis.Notes, attributesFile+" names a merge driver for "+wording.Printable(path)+", and there is no such file. If it is gone for good, remove the line.")
	}
	diagnosis.Driver, err = checkDriver(ctx, repo, logs)
	return diagnosis, err
}

// ignoredWorkspaces lists the workspaces, and the files in workspaces, that git ignores; none in a bare repository.
func ignoredWorkspaces(ctx context.Context, repo Repository) ([]string, error) {
	if repo.Bare {
		return nil, nil
	}
	out, err := repo.Git.run(ctx, repo.Top, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", ":(glob)**/.small", ":(glob)**/.small/**")
	// Git also lists other ignored folders, without searching them.
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(path string) bool {
		return !slices.Contains(strings.Split(path, "/"), ".small")
	}), err
}

// hooksToCheck returns pre-receive for a bare repository; otherwise the client hooks, and pre-receive if it has a file.
func hooksToCheck(repo Repository) []Name {
	if repo.Bare {
		return []Name{PreReceive}
	}
	// Include a hook that cannot be read: checkHook says why.
	hooks := ClientHooks()
	file, err := readHook(filepath.Join(repo.HooksDir, string(PreReceive)))
	if err != nil || file.exists {
		hooks = allHooks()
	}
	return hooks
}

// configuredHooks returns the hooks for which git's configuration names commands (git 2.54 and newer run them); nil if there are none.
func configuredHooks(ctx context.Context, repo Repository) (map[Name]bool, error) {
	out, set, err := repo.Git.config(ctx, repo.Top, "-z", "--get-regexp", `^hook\..*\.event$`)
	if err != nil || !set {
		return nil, err
	}
	found := map[Name]bool{}
	for _, entry := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		_, event, _ := strings.Cut(entry, "\n")
		found[Name(event)] = true
	}
	return found, nil
}

// examination says how checkHook may check one hook.
type examination struct {
	repo         Repository
	runsFileOnly bool // git would run the hook's file only: its configuration names no command for this hook
	readOnly     bool // checkHook may run no hook
}

// checkHook checks one hook. It returns an error only if ctx is cancelled: any other error becomes the reason why the hook does not fire.
func (e examination) checkHook(ctx context.Context, hook Name) (Check, error) {
	check := Check{Hook: hook, Path: filepath.Join(e.repo.HooksDir, string(hook))}
	file, err := readHook(check.Path)
	switch origin := originOf(hook, file.text); {
	case e.repo.whySwitchedOff() != "":
		check.Why, check.Remedy = e.whyNotFound(hook), e.repo.howToSwitchOn()
	case err != nil:
		check.setFailure(err)
	case !file.exists:
		check.Why, check.Remedy = e.whyNotFound(hook), installRemedy(hook)
	case !file.runnable && file.text == "" && file.link:
		check.Why, check.Remedy = "it is a link to a file that does not exist", installRemedy(hook)
	case !file.runnable && origin == foreign && !namesHook(file.text, hook):
		check.Why, check.Remedy = "it is not executable, so git ignores it, and it does not call the gate", installRemedy(hook)
	case !file.runnable:
		check.Why, check.Remedy = "it is not executable, so git ignores it", "Type: `chmod +x "+shellPath(check.Path)+"`"
	case origin == edited:
		check.Why = "it is small-gate's hook, but somebody edited it, so it was not run"
		check.Remedy = "Delete it first. " + installRemedy(hook)
	case origin == ours:
		e.checkOurs(ctx, &check, file)
	default:
		e.checkForeign(ctx, &check, file)
	}
	return check, ctx.Err()
}

// installRemedy returns the remedy for a hook that is not installed.
func installRemedy(hook Name) string {
	if slices.Contains(ClientHooks(), hook) {
		return "Type: `" + ProgramName + " install`"
	}
	return "Type: `" + ProgramName + " install --" + string(hook) + "`"
}

// setFailure records that a hook does not fire because of err.
func (c *Check) setFailure(err error) {
	f := failure.Of(err)
	c.Fires, c.Proof, c.Why, c.Remedy = false, ProofNone, f.Message, f.Remedy
}

// whyNotFound says why git finds no file for the hook: hooks are switched off, or there is no file where git looks. It adds where our shim is, if
// core.hooksPath makes git overlook it.
func (e examination) whyNotFound(hook Name) string {
	why := "there is no such file"
	switch off := e.repo.whySwitchedOff(); {
	case off != "":
		why = "hooks are switched off here: " + off
	case e.repo.redirected():
		why += ", and git looks nowhere else because of core.hooksPath, set in " + wording.Printable(e.repo.HooksPath.Origin)
	}
	if !e.repo.redirected() {
		return why
	}
	own, err := readHook(filepath.Join(e.repo.OwnHooksDir, string(hook)))
	if err == nil && originOf(hook, own.text) == ours {
		why += ". Small-gate's hook at " + wording.Printable(own.path) + " is never run"
	}
	return why
}

// checkForeign checks file, a hook that is not ours, without running it. If the hook runs our shim, which its manager moved aside, checkForeign
// checks the shim instead.
func (e examination) checkForeign(ctx context.Context, check *Check, file hookFile) {
	movedAside, isCalled, err := findMovedAside(check.Hook, file)
	if err != nil {
		check.setFailure(err)
		return
	}
	if isCalled {
		check.How = writerOf(file.text).Name + " runs " + wording.Printable(movedAside.path) + " first"
		e.checkOurs(ctx, check, movedAside)
		return
	}
	found, err := findMention(e.repo, check.Hook, file)
	switch {
	case err != nil:
		check.setFailure(err)
	case found.file == "":
		check.Why, check.Remedy = "nothing calls "+ProgramName+" "+string(check.Hook)+" in "+found.searched, installRemedy(check.Hook)
	default:
		check.Fires, check.Proof, check.How = true, ProofMention, found.sentence(check.Hook)
		if check.CalledBy = "your own hook"; found.manager != nil {
			check.CalledBy = found.manager.Name
		}
	}
}
