package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holdings is the content of a repository.
type holdings struct {
	// refs are objects by name. HEAD is among them; branch is the one that is checked out, if any.
	refs   map[string]string
	branch string
	// entries is the evidence in the logs of all refs, and of the work tree.
	entries map[string][]string
	// commits are authors and subjects.
	commits map[string][2]string
	stash   string
}

// work is the key of the work tree's entries.
const work = "the work tree"

func (a *typist) holdings() *holdings {
	h := &holdings{refs: map[string]string{}, entries: map[string][]string{}, commits: map[string][2]string{}}
	var names []string
	var asked strings.Builder
	for line := range strings.Lines(a.ask("show-ref", "--head")) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		h.refs[name] = id
		names = append(names, name)
		asked.WriteString(id + ":.small/progress.small.yml\n")
	}
	h.branch = a.ask("symbolic-ref", "-q", "HEAD")
	answers := a.askOf(asked.String(), "cat-file", "--batch=%(objectsize)") + "\n"
	for _, name := range names {
		about, rest, _ := strings.Cut(answers, "\n")
		answers = rest
		if size, err := strconv.Atoi(about); err == nil { // else the log is missing
			h.entries[name], answers = entriesOf(rest[:size]), rest[size+1:]
		}
	}
	data, err := os.ReadFile(filepath.Join(a.dir, progressFile))
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	h.entries[work] = entriesOf(string(data))
	revisions := []string{"log", "--format=%H%x09%an%x09%s", "--all"}
	if h.refs["HEAD"] != "" {
		revisions = append(revisions, "HEAD")
	}
	for line := range strings.Lines(a.ask(revisions...)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		h.commits[f[0]] = [2]string{f[1], f[2]}
	}
	h.stash = a.ask("stash", "list")
	return h
}

// entriesOf is the evidence of the entries that must be kept.
func entriesOf(log string) (out []string) {
	for _, m := range evidenceLine.FindAllStringSubmatch(log, -1) {
		if m[1] != "" && !strings.Contains(m[1], "WRONG") {
			out = append(out, m[1])
		}
	}
	return out
}

// judge compares the repository with what it was before.
func (a *typist) judge() {
	now := a.holdings()
	a.judgeEntries(now)
	for id, c := range a.before.commits {
		if _, there := now.commits[id]; !there && c[0] == "Ben" {
			a.problem("gone: %q of Ben is on no branch", c[1])
		}
	}
	for id, c := range now.commits {
		if _, old := a.before.commits[id]; !old && c[0] != "Ben" && slices.ContainsFunc(a.before.authors(c[1]), func(author string) bool { return author == "Ben" }) {
			a.problem("author: %q has the author %s", c[1], c[0])
		}
	}
	for ref, id := range a.before.refs {
		to, there := now.refs[ref]
		switch {
		case ref == "refs/stash", ref == "HEAD" && (a.before.branch != "" || now.branch != ""), strings.HasPrefix(ref, "refs/bisect/"):
		case !there:
			a.problem("gone: %s", ref)
		case to != id:
			a.judgeRef(ref, id, to)
		}
	}
	if now.stash != "" && now.stash != a.before.stash {
		a.problem("stash: it was %q and is %q", a.before.stash, now.stash)
	}
	if line := a.natural(); line != "" && len(a.problems) == 0 && !a.waits() {
		a.problem("under way: %s", line)
	}
}

// authors are the authors of the commits with a subject.
func (h *holdings) authors(subject string) (out []string) {
	for _, c := range h.commits {
		if c[1] == subject {
			out = append(out, c[0])
		}
	}
	return out
}

// judgeEntries demands that every entry is still on a branch or in the work tree, and on HEAD's branch if it was committed there.
func (a *typist) judgeEntries(now *holdings) {
	here := slices.Concat(now.entries["HEAD"], now.entries[work])
	there := slices.Concat(slices.Collect(maps.Values(now.entries))...)
	excused := slices.ContainsFunc(a.heard, func(said string) bool { return strings.Contains(said, ": 1 edit waived in ") })
	var lost []string
	for where, entries := range a.before.entries {
		for _, e := range entries {
			switch {
			case a.wrong.destroys && a.gitState.applies: // nothing of the applied commits was left to save
			case excused && strings.Contains(a.wrong.script, "edit '"+e+"'"): // by a waiver, and the message says so
			case e == "new" && where == work: // it was not acknowledged, and may be wrong
			case !slices.Contains(there, e), where == "HEAD" && a.before.branch != "" && now.branch == a.before.branch && !slices.Contains(here, e):
				lost = append(lost, e)
			}
		}
	}
	if slices.Sort(lost); len(lost) > 0 {
		a.problem("lost: %q", slices.Compact(lost))
	}
	for _, where := range []string{"HEAD", work} {
		entries := slices.Sorted(slices.Values(now.entries[where]))
		if once := slices.Compact(slices.Clone(entries)); len(once) < len(entries) {
			a.problem("twice: %s has %q", where, entries)
		}
	}
}

// judgeRef demands that a moved ref still has all of its published commits and those of others.
func (a *typist) judgeRef(ref, old, now string) {
	own := a.ask("rev-list", old, "--not", now, "--remotes")
	for id := range strings.FieldsSeq(a.ask("rev-list", old, "--not", now)) {
		if c := a.before.commits[id]; c[0] == "Ben" || !strings.Contains(own, id) {
			a.problem("flattened: %s lacks %q of %s", ref, c[1], c[0])
		}
	}
}
