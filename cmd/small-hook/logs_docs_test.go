package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestReadmeGuardsLogs runs only what the README says about logs of your own, in a clone of a repository that has migrations and no SMALL
// workspace. Afterwards both are guarded, by hooks and in CI.
func TestReadmeGuardsLogs(t *testing.T) {
	gittest.Long(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## Guard a log of your own\n")
	section, _, _ = strings.Cut(section, "\n## ")
	block := shellBlock.FindStringSubmatch(section)
	commands := regexp.MustCompile("`small-hook init-log [^`]+`").FindAllString(section, -1)
	if !found || block == nil || len(commands) != 3 || strings.Count(block[1], "\n") != 5 {
		t.Fatalf("the README does not say it in five lines, and three for other logs:\n%s", section)
	}
	r := gittest.New(t)
	sh := func(script string) (string, error) {
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir, cmd.Env = r.Dir, append(r.Environ(), "GIT_EDITOR=true")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(script string) {
		t.Helper()
		if out, err := sh(script); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	must(`mkdir -p db/migrations && for n in 1 2 9 10; do echo "create table t$n;" >db/migrations/$n-t.sql; done
printf '# Progress\n\n## Patterns\n- one\n\n## 2026-01-01 - US-1\n- begun\n' >progress.txt
printf '# Changes\n\n## 1.1\n- new\n\n## 1.0\n- first\n' >CHANGELOG.md
git add . && git commit -q -m Begin && git clone -q --bare . ../server.git && git remote add origin ../server.git && git fetch -q`)
	must(block[1])
	for _, command := range commands {
		must(strings.Trim(command, "`"))
	}
	must(`git commit -q -a -m "Guard more" && git push -q origin HEAD:main && git fetch -q`)

	must(`echo '{"id": 2}' >>decisions.jsonl; sed -i 's/^- one/&\n- two/' progress.txt; printf '\n## 2026-01-02 - US-2\n- begun\n' >>progress.txt; echo "create table x;" >db/migrations/11-x.sql; git add . && git commit -q -m Append
small-hook range HEAD~1..HEAD && small-hook audit`)
	for script, words := range map[string]string{
		`sed -i 's/SQLite/Postgres/' decisions.jsonl`:                        "decisions.jsonl:1:1: error [append-only/modified]: line 1 was modified",
		`sed -i '1i{"id": 0}' decisions.jsonl`:                               "decisions.jsonl:1:1: error [append-only/inserted]",
		`: >decisions.jsonl`:                                                 "append-only/",
		`rm decisions.jsonl`:                                                 "append-only/log-deleted",
		`sed -i 's/- begun/- done/' progress.txt`:                            "progress.txt:7:1: error [append-only/modified]",
		`sed -i 's/- first/- fist/' CHANGELOG.md`:                            "CHANGELOG.md:6:1: error [append-only/modified]",
		`echo "drop table t9;" >db/migrations/9-t.sql`:                       "db/migrations/9-t.sql:1:1: error [append-only/modified]",
		`rm db/migrations/1-t.sql`:                                           "db/migrations/1-t.sql:1:1: error [append-only/deleted]",
		`echo "create table y;" >db/migrations/8-y.sql`:                      "8-y.sql is new and does not sort after 10-t.sql",
		`echo "create table y;" >db/migrations/10-a.sql; rm decisions.jsonl`: "10-a.sql is new and does not sort after 10-t.sql",
	} {
		if out, err := sh(script + ` && git add -A && git commit -q -m Wrong`); err == nil || !strings.Contains(out, words) {
			t.Errorf("%s: %v, %q is not there:\n%s", script, err, words, out)
		}
		must(`git -c core.hooksPath=/dev/null commit -q -m Unseen`)
		if out, err := sh(`small-hook range origin/main..HEAD`); err == nil || !strings.Contains(out, words) {
			t.Errorf("%s, as CI does it: %v, %q is not there:\n%s", script, err, words, out)
		}
		must(`git reset -q --hard HEAD~1`)
	}
	must(`small-hook audit`)
}
