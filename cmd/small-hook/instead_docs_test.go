//go:build !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// insteadRow is a row of the README's table of what one could use instead of the gate.
var insteadRow = regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`)

// TestInstead types each row of the README's table "Why not something else": what stands there lets the rewrite through, and the gate does not.
func TestInstead(t *testing.T) {
	gittest.Long(t)
	_, section, _ := strings.Cut(readPage(t, "../../README.md"), "\n## Why not something else\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, table, _ := strings.Cut(section, "| --- | --- |\n")
	typed := map[string]func(*testing.T, *gittest.Repo){
		"a protected branch": insteadProtected,
		"`CODEOWNERS`":       insteadOwners,
		"`small check`":      insteadSmallCheck,
		"[gittuf](https://github.com/gittuf/gittuf), signed commits": insteadSigned,
		"a ten-line script": insteadScript,
	}
	rows := insteadRow.FindAllStringSubmatch(table, -1)
	if len(rows) != len(typed) {
		t.Errorf("the table has %d rows, and %d are typed", len(rows), len(typed))
	}
	for _, row := range rows {
		types := typed[row[1]]
		if types == nil {
			t.Errorf("nothing types the row %s", row[1])
			continue
		}
		t.Run(regexp.MustCompile(`[^\w-]+`).ReplaceAllString(strings.TrimPrefix(row[1], "["), "_"), func(t *testing.T) {
			r := gittest.New(t)
			if err := os.CopyFS(r.Dir, os.DirFS("testdata/workspace")); err != nil {
				t.Fatal(err)
			}
			r.Commit("start")
			types(t, r)
		})
	}
}

const (
	insteadLog    = ".small/progress.small.yml"
	insteadAppend = `printf '%s\n' '  - task_id: "task-1"' '    timestamp: "2026-03-01T09:10:00.000000001Z"' '    evidence: "done"' >>` + insteadLog
	insteadTidy   = "sed -i 's/workspace created/workspace forged/' " + insteadLog
)

// insteadRejected demands that the gate names a rule in what main does not have.
func insteadRejected(t *testing.T, r *gittest.Repo, rule string) {
	t.Helper()
	cmd := exec.Command("small-hook", "range", "main..HEAD")
	cmd.Dir, cmd.Env = r.Dir, r.Environ()
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), rule) {
		t.Errorf("the gate does not name %s: %v\n%s", rule, err, out)
	}
}

// A server that refuses forced pushes and deletions takes a commit that changes an old entry.
func insteadProtected(t *testing.T, r *gittest.Repo) {
	server := filepath.Join(t.TempDir(), "server.git")
	r.Git("init", "-q", "--bare", server)
	r.Git("-C", server, "config", "receive.denyNonFastForwards", "true")
	r.Git("-C", server, "config", "receive.denyDeletes", "true")
	r.Git("push", "-q", server, "main")
	r.Git("switch", "-q", "-c", "tidy")
	shell(t, r, insteadTidy+" && git commit -q -a -m 'Tidy up' && git push -q "+server+" HEAD:main")
	insteadRejected(t, r, "append-only/modified")
	shell(t, r, "git commit -q --amend -m Forced && ! git push -q --force "+server+" HEAD:main")
}

// CODEOWNERS is asked about paths, and those of an appended entry are those of a rewritten one.
func insteadOwners(t *testing.T, r *gittest.Repo) {
	r.Git("switch", "-q", "-c", "append")
	shell(t, r, insteadAppend+" && git commit -q -a -m Append && small-hook range main..HEAD")
	appended := r.Git("diff", "--name-only", "main", "HEAD")
	r.Git("switch", "-q", "-c", "tidy", "main")
	shell(t, r, insteadTidy+" && git commit -q -a -m 'Tidy up'")
	if rewritten := r.Git("diff", "--name-only", "main", "HEAD"); rewritten != appended {
		t.Errorf("the paths are %q, not %q", rewritten, appended)
	}
	insteadRejected(t, r, "append-only/modified")
}

// A check of the files as they are, which gives the verdict of small check, accepts a rewritten entry; and so does small check itself.
func insteadSmallCheck(t *testing.T, r *gittest.Repo) {
	r.Git("switch", "-q", "-c", "tidy")
	shell(t, r, insteadTidy+" && git commit -q -a -m 'Tidy up' && small-hook check")
	insteadRejected(t, r, "append-only/modified")
	shell(t, r.With("PATH="+referenceBin(t)+string(filepath.ListSeparator)+os.Getenv("PATH")), "small check")
}

// The signature of a commit that rewrites an old entry is good, if whoever signs it may change the file.
func insteadSigned(t *testing.T, r *gittest.Repo) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("NOT TESTED: there is no ssh-keygen to sign with")
	}
	key := filepath.Join(t.TempDir(), "key")
	r.Git("switch", "-q", "-c", "tidy")
	shell(t, r, "ssh-keygen -q -t ed25519 -N '' -f "+key+" && printf '%s %s\\n' \"$(git log -1 --format=%ae)\" \"$(cat "+key+".pub)\" >"+key+".allowed && "+
		"git config gpg.format ssh && git config user.signingKey "+key+" && git config gpg.ssh.allowedSignersFile "+key+".allowed")
	shell(t, r, insteadTidy+" && git commit -q -S -a -m 'Tidy up' && git verify-commit HEAD")
	insteadRejected(t, r, "append-only/modified")
}

// insteadTenLines compares the log of two commits.
const insteadTenLines = `#!/bin/sh
# only-grows OLD NEW
log=.small/progress.small.yml
old=$(git show "$1:$log") || exit 1
new=$(git show "$2:$log") || exit 1
case $new in
  "$old"*) exit 0 ;;
esac
echo "$log was rewritten"
exit 1
`

func insteadScript(t *testing.T, r *gittest.Repo) {
	r.Write("only-grows", insteadTenLines)
	r.Commit("guard the log")
	r.Git("switch", "-q", "-c", "plain")
	shell(t, r, insteadTidy+" && git commit -q -a -m 'Tidy up' && ! sh only-grows main HEAD && "+
		"git switch -q -c honest main && "+insteadAppend+" && git commit -q -a -m Append && sh only-grows main HEAD")

	// a rewrite that was put back
	shell(t, r, "git switch -q -c back main && "+insteadTidy+" && git commit -q -a -m 'Tidy up' && git revert --no-edit HEAD && sh only-grows main HEAD")
	insteadRejected(t, r, "append-only/modified")

	// a merge that took one side
	shell(t, r, "git switch -q -c merge main && "+strings.NewReplacer("task-1", "task-2", "09:10", "09:20").Replace(insteadAppend)+
		" && git commit -q -a -m Else && git merge -q -s ours -m Merge honest && sh only-grows HEAD^ HEAD && sh only-grows main HEAD")
	insteadRejected(t, r, "divergence/lost-entry")

	// its own removal, and what the same branch does to the gate's own configuration
	shell(t, r, "git switch -q -c gone main && "+insteadTidy+" && echo exit 0 >only-grows && "+
		"printf 'version: 1\\nmode: observe\\n' >.small-gate.yml && git add -A && git commit -q -m 'Tidy up' && sh only-grows main HEAD")
	insteadRejected(t, r, "append-only/modified")
}
