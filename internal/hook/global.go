package hook

import (
	"context"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/wording"
)

// GlobalOptions says how hooks are put into the template from which git makes repositories.
type GlobalOptions struct {
	Program     string // as in [InstallOptions]
	TemplateDir string // is used if init.templateDir is not set; "" is one in the user's folder for configuration
	// Configure sets init.templateDir in the user's configuration if it is not set. Otherwise the result says what to type.
	Configure  bool
	PreReceive bool
	// Force puts the hooks into the directory of a global core.hooksPath, if that is set: git then looks nowhere else.
	Force bool
}

// defaultTemplateDir is the template directory that is made for a user who has none.
func defaultTemplateDir() (string, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", failed("there is no folder for the user's configuration", "Set HOME, or name a template directory.", err)
	}
	return filepath.Join(config, "small-gate", "git-template"), nil
}

// templates is the template directory that is meant, and what git knows of it.
type templates struct {
	dir        string
	configured bool
	hooksPath  Setting
}

// InstallGlobal puts the hooks into the template directory, so that every repository made or cloned from then on has them. A
// repository that exists gets those that it lacks by git init. Done twice, it changes nothing.
func InstallGlobal(ctx context.Context, options GlobalOptions) (Result, error) {
	git, err := findGit(ctx)
	if err != nil {
		return Result{}, err
	}
	program, err := ResolveProgram(options.Program)
	if err != nil {
		return Result{}, err
	}
	into, err := findTemplate(ctx, git, options.TemplateDir)
	if err != nil {
		return Result{}, err
	}
	hooks := ClientHooks()
	if options.PreReceive {
		hooks = allHooks()
	}
	dir := filepath.Join(into.dir, "hooks")
	if into.hooksPath.Set {
		if dir = into.hooksPath.Value; !options.Force || !filepath.IsAbs(dir) {
			return Result{Outcome: NeedsManual, Dir: dir, Manual: globalManual(into.hooksPath, hooks, program)}, nil
		}
	}
	result, err := installInto(dir, hooks, program)
	if err != nil || into.hooksPath.Set {
		return result, err
	}
	return configureTemplate(ctx, git, into, options.Configure, result)
}

// installInto puts the hooks into a directory that no manager fills.
func installInto(dir string, hooks []Name, program string) (Result, error) {
	plans, err := planAll(dir, hooks, program)
	if err != nil {
		return Result{}, err
	}
	return apply(dir, program, plans)
}

// findTemplate asks git for the template directory, at the root of the file system: settings of a repository would not count.
func findTemplate(ctx context.Context, git Git, usual string) (templates, error) {
	var into templates
	outside := filepath.VolumeName(os.TempDir()) + string(filepath.Separator)
	set, err := setting(ctx, git, outside, "init.templateDir")
	if err != nil {
		return into, err
	}
	if into.hooksPath, err = setting(ctx, git, outside, "core.hooksPath"); err != nil {
		return into, err
	}
	if into.configured = set.Set && set.Value != ""; into.configured {
		usual = set.Value
	}
	if usual == "" {
		if usual, err = defaultTemplateDir(); err != nil {
			return into, err
		}
	}
	if into.dir, err = filepath.Abs(usual); err != nil {
		return into, fileError("make absolute", usual, err)
	}
	return into, nil
}

// configureTemplate makes git use the template directory, or says what to type.
func configureTemplate(ctx context.Context, git Git, into templates, set bool, result Result) (Result, error) {
	if os.Getenv("GIT_TEMPLATE_DIR") != "" {
		result.Notes = append(result.Notes, "GIT_TEMPLATE_DIR is set in your environment: git uses that instead of "+show(into.dir)+".")
	}
	result.Notes = append(result.Notes, "New repositories and clones will have these hooks. In one that exists, type: `git init`")
	if into.configured {
		return result, nil
	}
	if !set {
		result.Outcome = NeedsManual
		result.Commands = []string{"git config --global init.templateDir " + typed(into.dir)}
		return result, nil
	}
	if _, err := git.run(ctx, "", "config", "--global", "init.templateDir", filepath.ToSlash(into.dir)); err != nil {
		result.Outcome = Failed
		return result, failed("git cannot write its setting init.templateDir", "The hooks are in "+show(into.dir)+". Make your git configuration writable, then run the command again.", err)
	}
	result.Outcome = Changed
	return result, nil
}

// globalManual is what to do where core.hooksPath is set for all repositories.
func globalManual(hooksPath Setting, hooks []Name, program string) *Manual {
	manual := &Manual{
		Manager: teamDirectory.Name,
		Why:     "Hooks are taken from " + show(hooksPath.Value) + " (core.hooksPath, " + show(hooksPath.Origin) + "), so git ignores hooks that come from a template",
		Notes:   []string{executableNote},
	}
	manual.Additions = scriptLines(Repository{Bare: true}, hooksPath.Value, hooks, wording.ShellWord(filepath.ToSlash(program)), " || exit $?")
	return manual
}

// UninstallGlobal removes our hooks from the template directory and from a global core.hooksPath. Repositories that have them already
// keep them.
func UninstallGlobal(ctx context.Context, options GlobalOptions) (Result, error) {
	git, err := findGit(ctx)
	if err != nil {
		return Result{}, err
	}
	from, err := findTemplate(ctx, git, options.TemplateDir)
	if err != nil {
		return Result{}, err
	}
	dirs := []string{filepath.Join(from.dir, "hooks")}
	if from.hooksPath.Set && filepath.IsAbs(from.hooksPath.Value) {
		dirs = append(dirs, from.hooksPath.Value)
	}
	result, err := removeAll(dirs)
	if result.Outcome == Changed {
		result.Notes = []string{"Repositories that have the hooks already keep them: type `" + ProgramName + " uninstall` there."}
	}
	return result, err
}
