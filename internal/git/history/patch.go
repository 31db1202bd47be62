package githistory

import (
	"bufio"
	"context"
	"os/exec"
	"strings"

	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// SamePatch returns the first of some commits that makes the same patch as another commit (git patch-id), files of workspaces left out. It
// returns an empty id if there is none, or no git program. No program that the repository's configuration names runs.
func SamePatch(ctx context.Context, place Place, environ []string, commit string, among []string) (string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", nil //nolint:nilerr // the go-git reader needs no git, and this is only a hint
	}
	// git does not check whose a repository is if it is told where it is.
	git := gitcmd.Git{Dir: place.GitDir, Environ: append(gitcmd.Reading(environ), "GIT_DIR="+place.GitDir), Options: gitcmd.ReadingOptions("")}
	var ids []byte
	err := git.Stream(ctx, strings.NewReader(strings.Join(append([]string{commit}, among...), "\n")+"\n"), func(patches *bufio.Reader) (err error) {
		ids, err = git.Output(ctx, patches, "patch-id", "--stable")
		return err
	}, "diff-tree", "--stdin", "--patch", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index", "--", ":(top)", ":(top,exclude,glob)**/.small/**")
	if err != nil {
		return "", err
	}
	patchOf := map[string]string{}
	for line := range strings.Lines(string(ids)) {
		if patch, id, found := strings.Cut(strings.TrimSpace(line), " "); found {
			patchOf[id] = patch
		}
	}
	for _, id := range among {
		if patchOf[id] != "" && patchOf[id] == patchOf[commit] {
			return id, nil
		}
	}
	return "", nil
}
