package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// act does one of a day's usual things.
func (p *person) act() {
	type act struct {
		weight int
		do     func()
	}
	acts := []act{
		{6, p.writeCode}, {10, p.appendEntry}, {4, p.guardWriter}, {2, p.editPlan}, {2, p.writeHandoff},
		{8, p.commit}, {2, p.amend}, {2, p.revert}, {2, p.pick}, {3, p.startTopic}, {4, p.pushTopic}, {4, p.landAny},
		{2, p.pull}, {2, p.stash}, {3, p.unstash}, {2, p.resetSoft}, {1, p.resetKeep}, {12, p.sync}, {2, p.push}, {1, p.rewrite},
	}
	all := 0
	for _, a := range acts {
		all += a.weight
	}
	n := p.day.random.IntN(all)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			a.do()
			return
		}
	}
}

// writeCode adds a line to a file, usually one's own.
func (p *person) writeCode() {
	file, line := p.name+".txt", p.day.number("line")+" of "+p.name+"."
	if p.day.chance(4) {
		file = "shared.txt"
	}
	old, err := os.ReadFile(p.Path(file))
	if err != nil && !os.IsNotExist(err) {
		p.day.Fatal(err)
	}
	p.Write(file, string(old)+line+"\n")
	p.day.lines[line] = &promise{by: p}
	p.day.note("%s (%s) adds %q to %s", p.name, p.Dir, line, file)
}

// newEntry is the text of a new entry, and notes it as this person's.
func (p *person) newEntry() string {
	text := p.day.number("entry") + " of " + p.name + "."
	p.day.entries[text] = &promise{by: p}
	return text
}

// appended notes an entry as acknowledged if the program says so.
func (p *person) appended(text string, a answer) {
	if a.status == 0 || strings.Contains(a.text, "recorded") {
		p.day.entries[text].acknowledged = true
	}
}

func (p *person) appendEntry() {
	text := p.newEntry()
	line := fmt.Sprintf("small-hook append --task task-1 --evidence %q", text)
	p.record(text, line)
}

// guardWriter appends with a program that knows nothing of locks, under guard.
func (p *person) guardWriter() {
	text := p.newEntry()
	p.record(text, fmt.Sprintf("small-hook guard -- team-writer %s task-2 %q", progressFile, text))
}

// record types a command that records an entry while something may fail. It follows what is printed, but never appends a recorded entry
// again.
func (p *person) record(text, line string) {
	p.appended(text, p.disturbed(line))
	if !p.day.entries[text].acknowledged && !p.day.chance(3) {
		text = p.newEntry()
		p.solve(entryName.ReplaceAllString(line, text))
		p.day.entries[text].acknowledged = true
	}
}

var entryName = regexp.MustCompile(`entry-\d+ of dev-[a-z]\.`)

func (p *person) editPlan() {
	p.edit(".small/plan.small.yml", func(text string) string {
		task := p.day.number("task-new")
		return text + fmt.Sprintf("  - id: %q\n    title: \"Do %s\"\n", task, task)
	})
}

func (p *person) writeHandoff() {
	p.edit(".small/handoff.small.yml", func(text string) string {
		return summary.ReplaceAllString(text, fmt.Sprintf("summary: %q", "Told by "+p.day.number(p.name)))
	})
}

var (
	summary   = regexp.MustCompile(`(?m)^summary: .*$`)
	updatedAt = regexp.MustCompile(`(?m)^updated_at: .*$`)
)

// edit changes a file of the workspace, and workspace.small.yml as the protocol's own program does.
func (p *person) edit(file string, change func(string) string) {
	for file, change := range map[string]func(string) string{
		file: change,
		".small/workspace.small.yml": func(text string) string {
			return updatedAt.ReplaceAllString(text, fmt.Sprintf("updated_at: %q", time.Now().UTC().Format(time.RFC3339Nano)))
		},
	} {
		p.Write(file, change(contentOf(p.day.T, p.Path(file))))
	}
	p.day.note("%s edits %s", p.name, file)
}

// message is a subject that names its author.
func (p *person) message() string { return "'[" + p.name + "] " + p.day.number("commit") + "'" }

func (p *person) commit() {
	p.solve([]string{
		"git add -A && git commit -q -m " + p.message(),
		"git commit -q -a -m " + p.message(),
		"git commit -q -m " + p.message() + " .small",
	}[p.day.random.IntN(3)])
}

// commitAll leaves nothing uncommitted.
func (p *person) commitAll() {
	if p.Git("status", "--porcelain") != "" {
		p.solve("git add -A && git commit -q -m " + p.message())
	}
}

// branch is what is checked out.
func (p *person) branch() string { return p.Git("branch", "--show-current") }

// ownLast is true if the last commit is one's own, no merge, and on no other branch.
func (p *person) ownLast() bool {
	parents := strings.Fields(p.Git("log", "-1", "--format=%P"))
	holders := strings.Fields(p.Git("for-each-ref", "--contains", "HEAD", "--format=%(refname)", "refs/heads", "refs/remotes"))
	return p.Git("log", "-1", "--format=%an") == p.name && len(parents) == 1 && len(holders) == 1
}

func (p *person) amend() {
	if p.ownLast() {
		p.solve("git commit -q -a --amend --no-edit")
	}
}

func (p *person) resetSoft() {
	if p.ownLast() {
		p.types("git reset -q --soft HEAD~1")
	}
}

// resetKeep throws the last commit away, and notes what it added as taken back.
func (p *person) resetKeep() {
	if !p.ownLast() || p.Git("status", "--porcelain") != "" {
		return
	}
	brought := p.Git("show", "--format=", "HEAD")
	if p.types("git reset -q --keep HEAD~1").status == 0 {
		p.takeBack(brought)
	}
}

// takeBack notes what a patch adds as taken back.
func (p *person) takeBack(patch string) {
	for line := range strings.Lines(patch) {
		added, is := strings.CutPrefix(line, "+")
		for _, promises := range []map[string]*promise{p.day.entries, p.day.lines} {
			for text, promise := range promises {
				if is && strings.Contains(added, text) {
					promise.tookBack = true
				}
			}
		}
	}
}

// revert reverts the code of a commit. Its entries stay.
func (p *person) revert() {
	p.commitAll()
	commits := strings.Fields(p.Git("rev-list", "--no-merges", "-n", "4", "HEAD"))
	commit := commits[p.day.random.IntN(len(commits))]
	if p.Git("log", "-1", "--format=%P", commit) == "" {
		return
	}
	patch := p.Git("show", "--format=", commit)
	p.types("git revert --no-edit " + commit)
	p.settle()
	for text, promise := range p.day.lines {
		if strings.Contains(patch, "+"+text) {
			promise.tookBack = true
		}
	}
	p.solve("small-hook sync") // the first to look at a commit that git makes without a hook
}

// pick picks a commit of a published branch.
func (p *person) pick() {
	p.commitAll()
	p.types("git fetch -q")
	var commits []string
	for _, t := range p.day.topics {
		if p.has("refs/remotes/origin/" + t.name) {
			commits = append(commits, strings.Fields(p.Git("rev-list", "--no-merges", "HEAD..origin/"+t.name))...)
		}
	}
	if len(commits) > 0 {
		p.types("git cherry-pick " + commits[p.day.random.IntN(len(commits))])
		p.settle()
	}
}

func (p *person) has(ref string) bool {
	_, err := p.Try("rev-parse", "-q", "--verify", ref)
	return err == nil
}

// startTopic starts a topic branch, or returns to one of one's own.
func (p *person) startTopic() {
	if p.branch() != p.home {
		return
	}
	for _, t := range p.day.topics {
		if t.owner == p && t.landed == "" && p.day.chance(2) {
			p.commitAll()
			p.solve("git switch -q " + t.name)
			return
		}
	}
	t := &topic{name: p.day.number("topic"), owner: p}
	p.day.topics = append(p.day.topics, t)
	p.solve("git switch -q -c " + t.name)
}

// pushTopic publishes the topic branch, and may switch home then.
func (p *person) pushTopic() {
	if p.branch() == p.home {
		return
	}
	p.commitAll()
	switch p.day.random.IntN(3) {
	case 0:
		p.publish("git push -q -u origin " + p.branch())
	case 1:
		p.publish("small-hook sync")
	}
	if p.day.chance(2) {
		p.solve("git switch -q " + p.home)
	}
}

// landAny lands a published topic in main.
func (p *person) landAny() {
	if p.branch() != p.home || len(p.day.topics) == 0 {
		return
	}
	t := p.day.topics[p.day.random.IntN(len(p.day.topics))]
	p.types("git fetch -q")
	if !p.has("refs/remotes/origin/" + t.name) {
		return
	}
	p.commitAll()
	p.bring(t, "origin/"+t.name)
}

// bring merges or squashes a topic's commits up to a revision.
func (p *person) bring(t *topic, rev string) {
	tip := p.ID(rev)
	if p.day.chance(3) && p.published(rev) {
		p.types("git merge -q --squash " + rev)
		p.settle()
		p.commitAll()
		t.landed = tip
		return
	}
	p.types("git merge -q --no-edit " + rev)
	p.settle()
	if _, err := p.Try("merge-base", "--is-ancestor", tip, "HEAD"); err == nil {
		t.landed = tip
	}
}

// published is true if the remote has a commit.
func (p *person) published(rev string) bool {
	return p.Git("for-each-ref", "--contains", rev, "refs/remotes") != ""
}

// land brings a topic into main at the end of the day. A squashed one may be merged again.
func (p *person) land(t *topic) {
	p.goHome()
	if !p.has(t.name) {
		return
	}
	tip := p.ID(t.name)
	if _, err := p.Try("merge-base", "--is-ancestor", tip, "HEAD"); err == nil || t.landed == tip && !p.day.chance(3) {
		return
	}
	if t.landed = ""; p.day.chance(3) && !p.published(tip) {
		p.solve("git switch -q " + t.name)
		p.types("git rebase -q " + p.home)
		p.settle()
		p.goHome()
	}
	if p.bring(t, t.name); t.landed == "" {
		p.day.fail("%s cannot bring %s into main", p.name, t.name)
	}
}

func (p *person) goHome() {
	p.settle()
	p.commitAll()
	if p.branch() != p.home {
		p.solve("git switch -q " + p.home)
	}
}

// pull does by hand what sync does.
func (p *person) pull() {
	if p.branch() != p.home {
		return
	}
	p.commitAll()
	how := "--no-rebase"
	if p.Git("rev-list", "--merges", "@{u}..HEAD") == "" && p.day.chance(2) {
		how = "--rebase"
	}
	p.types("git pull -q --no-edit " + how)
	p.settle()
}

func (p *person) stash() {
	if p.clone.stashed == nil && p.Git("status", "--porcelain") != "" && p.types("git stash push -q").status == 0 && p.Git("stash", "list") != "" {
		p.clone.stashed = p
	}
}

func (p *person) unstash() {
	if p.clone.stashed == nil || p.clone.stashed.Dir != p.Dir {
		return
	}
	p.commitAll()
	if p.types("git stash pop -q").status != 0 {
		p.settle()
		p.types("git stash drop -q")
	}
	p.clone.stashed = nil
}

func (p *person) sync() {
	line := "small-hook sync"
	if p.day.chance(4) {
		line += " --merge"
	}
	if p.day.chance(5) && p.types(line).status == 0 {
		return
	}
	p.commitAll()
	p.publish(line)
}

func (p *person) push() {
	p.commitAll()
	if p.branch() == p.home {
		p.publish("git push -q origin HEAD:main")
	}
}

// publish types a command that pushes while something may fail, and then what is printed until it succeeds.
func (p *person) publish(line string) {
	if strings.HasPrefix(line, "small-hook") && (p.disturbed(line).status == 0 || p.day.chance(3)) {
		return
	}
	p.solve(line)
}

// rewrite changes an old entry, which must be refused.
func (p *person) rewrite() {
	log := contentOf(p.day.T, p.Path(progressFile))
	p.Write(progressFile, strings.Replace(log, "workspace created", "EDITED", 1))
	p.day.note("%s edits an old entry", p.name)
	p.solve("git commit -q -a -m " + p.message())
}

// finishWork leaves nothing under way, stashed or uncommitted.
func (p *person) finishWork() {
	p.settle()
	p.unstash()
	p.goHome()
}

// disturbed types a command of small-hook during which something may fail. Afterwards the trouble is over. Whatever the command's outcome,
// the person is on the same branch, with nothing under way and all entries in the log.
func (p *person) disturbed(line string) (a answer) {
	p.day.Helper()
	branch, entries := p.branch(), p.inLog()
	switch p.day.random.IntN(*teamCalm) {
	case 0:
		a = p.killed(line)
	case 1:
		a = p.onFullDisk(line)
	default:
		a = p.types(line)
	}
	now := p.inLog()
	for _, text := range entries {
		if !slices.Contains(now, text) && p.day.entries[text].acknowledged {
			p.day.fail("%s typed %q, and %q is not in the log any more", p.name, line, text)
		}
	}
	if p.branch() != branch || p.underWay() != "" || p.unmerged() != nil {
		p.day.fail("%s typed %q, was on %s and is on %s, in the midst of %q", p.name, line, branch, p.branch(), p.underWay())
	}
	return a
}

// inLog are the entries of this day in the work tree's log.
func (p *person) inLog() []string {
	return entryName.FindAllString(contentOf(p.day.T, p.Path(progressFile)), -1)
}

// killed types a command during which something happens at a call of git. It uses git as the reader, so that there are such calls.
func (p *person) killed(line string) answer {
	f := fault{kind: []string{"before", "parent", "after", "lock", "meanwhile"}[p.day.random.IntN(5)], at: 1 + p.day.random.IntN(8), counted: "any"}
	if strings.HasPrefix(line, "small-hook sync") {
		f.at = 1 + p.day.random.IntN(110)
		if !p.day.chance(3) {
			f.at, f.counted = 1+p.day.random.IntN(10), "writing"
		}
	} else {
		line = strings.Replace(line, "small-hook ", "small-hook --reader git ", 1)
	}
	entry := ""
	if f.kind == "meanwhile" {
		other := p.day.people[p.day.random.IntN(len(p.day.people))]
		f.dir, entry = other.Dir, other.newEntry()
		f.meanwhile = other.identity() + fmt.Sprintf("small-hook append --wait 1ms --task task-1 --evidence %q", entry)
		switch p.day.random.IntN(3) {
		case 0:
			f.meanwhile += " && git commit -q -a -m " + other.message()
		case 1:
			f.meanwhile += " && git commit -q -a -m " + other.message() + " && git push -q origin HEAD:" + strings.Replace(other.branch(), other.home, "main", 1)
		}
	}
	p.day.note("(%s)", f)
	a := p.typesWith("exec "+line, p.day.faults.environ(p.env, f))
	if status := p.day.faults.read("status"); status != "" {
		said := p.day.faults.read("said")
		p.day.note("    meanwhile: status %s, %s", status, said)
		p.appended(entry, answer{map[bool]int{true: 0, false: 1}[strings.Contains(said, "appended an entry")], said})
	}
	what := "not " + f.kind
	if calls, err := strconv.Atoi(p.day.faults.read("calls")); err != nil || calls >= f.at {
		what = f.kind
	}
	p.day.counted[what+map[bool]string{true: " in sync"}[strings.HasPrefix(line, "small-hook sync")]]++
	return a
}

// identity is shell text that sets a person's identity.
func (p *person) identity() string {
	var out strings.Builder
	for _, v := range p.env {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GIT_") {
			fmt.Fprintf(&out, "export %s='%s'; ", name, value)
		}
	}
	return out.String()
}

// onFullDisk types a command with hardly any room on the disk.
func (p *person) onFullDisk(line string) answer {
	if !p.day.disk.mounted {
		return p.types(line)
	}
	pages := p.day.random.IntN(40)
	p.day.note("(with %d pages left on the disk)", pages)
	p.day.disk.fill(pages)
	defer p.day.disk.free()
	p.day.counted["full disk"]++
	return p.types(line)
}
