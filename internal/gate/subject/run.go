package subject

import (
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// BeginRun begins a new run in the workspace of a directory whose run is over, after the commit that is judged, in the index, or on disk.
func BeginRun(dir, commit string) string {
	return newIntent(dir) + thenCommit(commit, "Begin a new run", writeID(dir), small.InDir(dir, ""))
}

// newIntent says what comes before the commands of a new run.
func newIntent(dir string) string {
	return "the run is over: a person writes the new intent into " + small.Intent.Path(dir) + "; then "
}

func writeID(dir string) string {
	return "small-hook replay-id --write" + InDirectory(small.Handoff.Path(dir))
}

// StartAgain has the protocol's own program write the handoff and the workspace file anew.
func StartAgain(dir, commit string) string {
	return thenCommit(commit, "Hand over", "small start"+inDir(dir), small.InDir(dir, ""))
}

// FixVersions has the protocol's own program quote the versions.
func FixVersions(dir, commit string) string {
	return thenCommit(commit, "Quote the version", "small fix --versions"+inDir(dir), small.InDir(dir, ""))
}

// FixLayout has the protocol's own program move what earlier versions of it kept in .small.
func FixLayout(dir, commit string) string {
	return thenCommit(commit, "Move what is no artifact", "small fix --runtime-layout"+inDir(dir), small.InDir(dir, ""))
}

// inDir is the flag with which the protocol's own program is told a workspace's directory.
func inDir(dir string) string {
	if dir == "" {
		return ""
	}
	return " --dir " + wording.ShellWord(dir)
}

// Reconciled are the commands that record why the plan no longer agrees with progress.
func Reconciled(dir, commit, evidence string) string {
	log := small.Progress.Path(dir)
	return thenCommit(commit, "Reconcile the plan",
		"small-hook append"+InDirectory(log)+" --task "+ReconcilePlan+" --status completed --evidence "+wording.ShellQuote(evidence), log)
}

// thenCommit are a command, one that stages what it wrote at some paths, if any, and, unless the index is judged, one that commits it. On
// disk there is nothing to stage.
func thenCommit(commit, title, command string, paths ...string) string {
	all := []string{command}
	if commit != "" && len(paths) > 0 {
		stage := "git add --"
		for _, path := range paths {
			stage += " " + wording.TopPath(path)
		}
		all = append(all, stage)
	}
	if commit != "" && !history.Uncommitted(commit) {
		all = append(all, "git commit -m \""+title+"\"")
	}
	return wording.Commands(all...)
}
