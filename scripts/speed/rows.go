package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// row is a line of the table.
type row struct {
	name string
	// limit describes the limit in words; without one, there is none.
	limit, goal string
	// long rows run a third as often; big ones only with -big.
	long, big bool
	// memory and perSecond add figures to the last column.
	memory, perSecond bool
	prepare           func(b *bench) (*world, measure, error)
}

const diffCached = "git diff --cached --quiet"

const withoutGate = "the same without the gate"

var rows = []row{
	{name: "start (version)", limit: "an empty Go program", goal: "2 ×", prepare: prepareStart},
	{name: "idle pre-commit", limit: diffCached, goal: "2.3 ×", prepare: preCommit(func(b *bench) (*world, error) { return b.idle(0, 0) })},
	{name: "idle pre-commit, 25,000 objects", limit: diffCached, goal: "2.3 ×", prepare: preCommit(func(b *bench) (*world, error) { return b.idle(25_000, 0) })},
	{name: "idle pre-commit, a million objects", limit: diffCached, goal: "2.3 ×", big: true,
		prepare: preCommit(func(b *bench) (*world, error) { return b.idle(1_000_000, 0) })},
	{name: "idle pre-commit, 100,000 files in the index", limit: diffCached, goal: "1.2 ×", prepare: preCommit(func(b *bench) (*world, error) { return b.idle(0, 100_000) })},
	{name: "one entry appended, 1.2 MB before it", limit: diffCached, goal: "10 ×", prepare: preCommit(func(b *bench) (*world, error) { return b.appended(1_206) })},
	{name: "one entry appended, 12 MB before it", limit: diffCached, goal: "60 ×", memory: true,
		prepare: preCommit(func(b *bench) (*world, error) { return b.appended(12_060) })},
	{name: "one entry appended, 50 MB before it", limit: diffCached, memory: true, long: true,
		prepare: preCommit(func(b *bench) (*world, error) { return b.appended(50_000) }, "--max-file-size=100000000")},
	{name: "audit, 10,000 commits, 2,000 versions of the log", limit: "git log --raw + git cat-file --batch --buffer to cat", goal: "1 ×, 256 MB", long: true,
		prepare: auditOf(10_000, 5, "sh", "-c", strings.Join(catFile, " ")+" | cat >/dev/null")},
	{name: "audit, the same, without the pipe", limit: "git log --raw + git cat-file --batch --buffer", long: true, prepare: auditOf(10_000, 5, catFile...)},
	{name: "audit, 10,000 commits to 50 logs, each of up to 200 entries", limit: "git log --raw", goal: "256 MB", long: true, prepare: auditAll(func(b *bench) (*world, error) { return b.spread(50, 200) })},
	{name: "audit, 2,000 merges", limit: "git log --raw", goal: "256 MB", long: true, prepare: auditAll(func(b *bench) (*world, error) { return b.merged(2_000) })},
	{name: "audit, 50,000 commits, 500 versions of the log", limit: "git log --raw + git cat-file --batch --buffer", long: true, big: true, prepare: auditOf(50_000, 100, catFile...)},
	{name: "range, 10 commits in 10,000", limit: "git log --raw of the range", goal: "8 ×", prepare: rangeOf(1, 10_000)},
	{name: "range, 10 commits in 1,000, a log as large", limit: "git log --raw of the range", goal: "8 ×", prepare: rangeOf(1_800, 1_000)},
	{name: "range, a commit to 500 workspaces", limit: "git log --raw of the range", long: true, prepare: rangeOverMany(500)},
	{name: "range, a commit to 5,000 workspaces", limit: "git log --raw of the range", goal: "10 × the one of 500", long: true, prepare: rangeOverMany(5_000)},
	{name: "reconcile, 10,000 entries", goal: "a third of the old", long: true, prepare: prepareReconcile},
	{name: "merge-check, 10,000 entries", goal: "a third of the old", long: true, prepare: prepareMergeCheck},
	{name: "pre-receive, 1,000 commits, 200 to a log of 1.2 MB", limit: "git rev-list --objects of the push", goal: "1 s", long: true, prepare: prepareReceive},
	{name: "pre-receive, 20 clients at once", limit: "the push without the gate", goal: "no worse", long: true, perSecond: true, prepare: clients(1)},
	{name: "pre-receive, 20 clients at once, a log of 1.2 MB", limit: "the push without the gate", goal: "no worse", long: true, perSecond: true, prepare: clients(1_206)},
	// These commit what the rows above have staged.
	{name: "git commit, no log touched", limit: withoutGate, goal: "2.5 ×", prepare: commitOf(func(b *bench) (*world, error) { return b.idle(0, 0) }, changeCode)},
	{name: "git commit of an entry, 1.2 MB before it", limit: withoutGate, goal: "3.5 ×", prepare: commitOf(func(b *bench) (*world, error) { return b.appended(1_206) }, appendEntry)},
	{name: "git commit of an entry, 12 MB before it", limit: withoutGate, goal: "4 ×", prepare: commitOf(func(b *bench) (*world, error) { return b.appended(12_060) }, appendEntry)},
	// In each of them somebody works: before each commit, one of the other work trees has committed an entry.
	{name: "git commit of an entry beside 1 work tree", limit: "the same beside none", goal: "1.2 ×", prepare: beside(1, 0, 1)},
	{name: "git commit of an entry beside 20 work trees", limit: "the same beside none", goal: "2 ×", prepare: beside(20, 0, 1)},
	{name: "git commit of an entry beside 20 work trees, all of which moved", limit: "the same beside none", prepare: beside(20, 0, 20)},
	{name: "git commit of an entry beside 200 work trees", limit: "the same beside 20", goal: "5 ×", prepare: beside(200, 20, 1)},
	{name: "git push of five entries", limit: withoutGate, goal: "2 ×", prepare: preparePush},
}

func prepareStart(b *bench) (*world, measure, error) {
	return nil, b.side([]command{{args: []string{b.empty}, dir: b.dir}}, []command{{args: []string{"version"}, dir: b.dir}}), nil
}

// preCommit runs the hook as git does in a commit without paths.
func preCommit(make func(b *bench) (*world, error), flags ...string) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := make(b)
		if err != nil {
			return nil, nil, err
		}
		env := []string{"GIT_INDEX_FILE=.git/index", "GIT_PREFIX="}
		return w, b.side(
			[]command{{args: []string{"git", "diff", "--cached", "--quiet"}, dir: w.dir, env: env, exit: 1}},
			[]command{{args: append([]string{"pre-commit"}, flags...), dir: w.dir, env: env}}), nil
	}
}

// catFile reads objects as cheaply as git can.
var catFile = []string{"git", "cat-file", "--batch", "--buffer"}

// auditOf is measured against a command that reads the same blobs.
func auditOf(commits, every int, catBlobs ...string) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := b.grown(1, commits, every)
		if err != nil {
			return nil, nil, err
		}
		raw, err := b.git(w.dir, "log", "--raw", "--no-abbrev", "--format=", "--", logFile)
		if err != nil {
			return nil, nil, err
		}
		var blobs []string
		for line := range strings.Lines(raw) {
			// :100644 100644 OLD NEW M	PATH
			blobs = append(blobs, strings.Fields(line)[3])
		}
		if len(blobs) != commits/every {
			return nil, nil, fmt.Errorf("the log has %d versions", len(blobs))
		}
		list, err := b.writeFile("blobs", blobs...)
		if err != nil {
			return nil, nil, err
		}
		return w, b.side(
			[]command{
				{args: []string{"git", "log", "--raw"}, dir: w.dir},
				{args: catBlobs, dir: w.dir, stdin: list},
			},
			[]command{{args: []string{"audit"}, dir: w.dir}}), nil
	}
}

// auditAll is measured against a walk that lists what each commit changed.
func auditAll(make func(b *bench) (*world, error)) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := make(b)
		if err != nil {
			return nil, nil, err
		}
		return w, b.side([]command{{args: []string{"git", "log", "--raw", "-m"}, dir: w.dir}}, []command{{args: []string{"audit"}, dir: w.dir}}), nil
	}
}

func rangeOf(first, commits int) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := b.grown(first, commits, 5)
		if err != nil {
			return nil, nil, err
		}
		return w, b.side(
			[]command{{args: []string{"git", "log", "--raw", "HEAD~10..HEAD"}, dir: w.dir}},
			[]command{{args: []string{"range", "HEAD~10..HEAD"}, dir: w.dir}}), nil
	}
}

// rangeOverMany judges one commit that appends an entry in each of many workspaces.
func rangeOverMany(workspaces int) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := b.many(workspaces)
		if err != nil {
			return nil, nil, err
		}
		return w, b.side(
			[]command{{args: []string{"git", "log", "--raw", "HEAD~1..HEAD"}, dir: w.dir}},
			[]command{{args: []string{"range", "HEAD~1..HEAD"}, dir: w.dir}}), nil
	}
}

// prepareReconcile measures a merge that stopped in a conflict, restored before each run.
func prepareReconcile(b *bench) (*world, measure, error) {
	w, err := b.forked(10_000)
	if err != nil {
		return nil, nil, err
	}
	reconcile := b.side(nil, []command{{args: []string{"reconcile"}, dir: w.dir}})
	return w, func(program string) (sample, error) {
		if _, err := b.git(w.dir, "reset", "-q", "--hard"); err != nil {
			return sample{}, err
		}
		if _, err := b.run(command{args: []string{"git", "merge", "-q", "theirs"}, dir: w.dir, exit: 1}); err != nil {
			return sample{}, err
		}
		s, err := reconcile(program)
		if err != nil {
			return sample{}, err
		}
		_, err = b.git(w.dir, "reset", "-q", "--hard")
		return s, err
	}, nil
}

func prepareMergeCheck(b *bench) (*world, measure, error) {
	w, err := b.forked(10_000)
	if err != nil {
		return nil, nil, err
	}
	// Both branches appended, which is the finding.
	return w, b.side(nil, []command{{args: []string{"merge-check", "main", "theirs"}, dir: w.dir, exit: 1}}), nil
}

// server makes a bare repository with the first commit of a world.
func (b *bench) server(name string, w *world) (string, error) {
	dir := filepath.Join(b.dir, name)
	if _, err := b.git(b.dir, "init", "-q", "--bare", dir); err != nil {
		return "", err
	}
	_, err := b.git(dir, "fetch", "-q", w.dir, "base:refs/heads/main")
	return dir, err
}

// prepareReceive leaves a push where git leaves it for the hook, in a quarantine, so that it can be judged again and again.
func prepareReceive(b *bench) (*world, measure, error) {
	w, err := b.grown(1_206, 1_000, 5)
	if err != nil {
		return nil, nil, err
	}
	dir, err := b.server("server-of-one", w)
	if err != nil {
		return nil, nil, err
	}
	objects := filepath.Join(dir, "objects")
	quarantine := filepath.Join(objects, "tmp_objdir-incoming-000001")
	env := []string{"GIT_DIR=.", "GIT_OBJECT_DIRECTORY=" + quarantine, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects}
	ids, err := b.git(w.dir, "rev-parse", "base", "main")
	if err != nil {
		return nil, nil, err
	}
	before, after, _ := strings.Cut(strings.TrimSpace(ids), "\n")
	wanted, err := b.writeFile("wanted", after, "^"+before)
	if err != nil {
		return nil, nil, err
	}
	// A thin pack, as a push sends it.
	transfer := exec.CommandContext(b.ctx, "sh", "-c", `mkdir "$1" && git -C "$2" pack-objects -q --revs --thin --stdout --delta-base-offset <"$3" | env GIT_DIR=. GIT_OBJECT_DIRECTORY="$1" GIT_ALTERNATE_OBJECT_DIRECTORIES="$4" git index-pack --stdin --fix-thin`,
		"sh", quarantine, w.dir, wanted, objects)
	transfer.Dir, transfer.Env = dir, b.env
	if out, err := transfer.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, out)
	}
	update, err := b.writeFile("update", before+" "+after+" refs/heads/main")
	if err != nil {
		return nil, nil, err
	}
	return w, b.side(
		[]command{{args: []string{"git", "rev-list", "--objects", after, "--not", "--all"}, dir: dir, env: env}},
		[]command{{args: []string{"pre-receive"}, dir: dir, env: append(env, "GIT_QUARANTINE_PATH="+quarantine), stdin: update}}), nil
}
