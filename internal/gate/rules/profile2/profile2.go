// Package profile2 judges workspaces of SMALL's session profile, 2.0.0: each record, the references between records, and what two branches
// decided differently. Changes of old records are judged as for any log.
package profile2

import (
	"bytes"
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// Kinds of problems between several files.
const (
	causal     small.ProblemKind = "causal"
	policy     small.ProblemKind = "policy"
	fork       small.ProblemKind = "fork"
	decision   small.ProblemKind = "decision"
	strayV1    small.ProblemKind = "stray-v1"
	credential small.ProblemKind = "credential"
)

// Workspace is a workspace of the profile as of one tree, with what is wrong there.
type Workspace struct {
	rule.Place
	run   *run.Run
	dir   string
	files map[string]history.File // by name below .small
	// fresh maps the names of the files that this change adds or changes to the files before it; nil if all files are judged. Old records are
	// not judged again: nobody may mend them.
	fresh map[string]history.File
	// whole is true if all records are read, and not only the fresh ones.
	whole bool

	profile  *records.Record
	sessions map[string]bool
	events   map[string]*event
	// chains is the number of events in each session. By event id, places is where an event is, and copies where else it is.
	chains map[string]int
	places map[string]string
	copies map[string][]string
	// after maps an event to those that name it as a parent or as the previous one.
	after map[string][]string
	// lines are the ids of all events, each with a colon, sorted; nil until they are needed.
	lines    []string
	problems []problem
}

type problem struct {
	name string
	small.Problem
}

// Judge judges the workspace of a directory. files are all files that the revision has below .small.
func Judge(ctx context.Context, r *run.Run, revision, dir string, files []history.File) error {
	w := &Workspace{
		run: r, dir: dir, files: make(map[string]history.File, len(files)), sessions: map[string]bool{}, events: map[string]*event{},
		chains: map[string]int{}, places: make(map[string]string, len(files)), copies: map[string][]string{},
		whole: !history.Uncommitted(revision) || len(r.Scope.Parents) != 1,
	}
	w.Place = rule.Place{Commit: revision, Found: revision == r.Scope.Tip.ID}
	if err := w.findFresh(ctx, revision); err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		in, name, ok := small.SplitPath(f.Path)
		if !ok || in != dir || f.Mode == history.ModeDirectory {
			continue
		}
		w.files[name] = f
		names = append(names, name)
		if records.KindOf(name) == records.Event {
			session, id := path.Split(strings.TrimPrefix(name, "events/"))
			session, id = strings.TrimSuffix(session, "/"), strings.TrimSuffix(id, ".json")
			w.chains[session]++
			if w.places[id] == "" {
				w.places[id] = name
			} else {
				w.copies[id] = append(w.copies[id], name)
			}
		}
	}
	w.whole = w.whole || w.touchesPolicy()
	if f, there := w.files[records.ProfileFile]; there { // first: the others have to agree with it
		if err := w.readFile(ctx, records.ProfileFile, f); err != nil {
			return err
		}
	}
	for _, name := range names {
		if name == records.ProfileFile {
			continue
		}
		if err := w.readFile(ctx, name, w.files[name]); err != nil {
			return err
		}
	}
	for _, check := range []func(context.Context) error{w.checkImports, w.checkEvents, w.checkPolicy, w.checkDecisions} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return r.Collector.Judge(ctx, w)
}

// findFresh finds the files that this change adds or changes.
func (w *Workspace) findFresh(ctx context.Context, revision string) error {
	before := w.run.Scope.Before()
	if w.run.Source.History == nil || w.run.Scope.Whole || before == "" {
		w.whole = true
		return nil
	}
	changes, err := w.run.Source.Changes(ctx, []history.Edge{{Parent: before, Child: revision}})
	if err != nil {
		return err
	}
	w.fresh = map[string]history.File{}
	for _, c := range changes[0] {
		if dir, name, ok := small.SplitPath(c.Path); ok && dir == w.dir {
			w.fresh[name] = c.Old
		}
	}
	return nil
}

func (w *Workspace) isFresh(name string) bool {
	_, changed := w.fresh[name]
	return w.fresh == nil || changed
}

// touchesPolicy reports whether this change touches a file of the policy. Judging these needs all events.
func (w *Workspace) touchesPolicy() bool {
	return w.isFresh(policyFile(small.Intent)) || w.isFresh(policyFile(small.Constraints))
}

// addIfFresh adds the problems of a file if it is fresh.
func (w *Workspace) addIfFresh(name string, problems ...small.Problem) {
	for _, p := range problems {
		if w.isFresh(name) {
			w.problems = append(w.problems, problem{name: name, Problem: p})
		}
	}
}

// readFile reads one file and judges it by itself.
func (w *Workspace) readFile(ctx context.Context, name string, f history.File) error {
	kind := records.KindOf(name)
	if _, v1 := small.ArtifactOf(name); v1 {
		w.problems = append(w.problems, problem{name: name, Problem: small.Problem{
			Kind: strayV1, Message: "the file is of 1.0.0 and says nothing beside " + records.ProfileFile,
			Hint: moveOut(wording.TopPath(f.Path)),
		}})
	}
	switch {
	case kind == "", !w.whole && !w.isFresh(name) && kind != records.Profile && kind != records.Session, kind == records.Blob && !w.isFresh(name), kind == records.Original:
		return nil
	case kind == records.Foreign:
		w.addIfFresh(name, small.Problem{Kind: records.ProblemPlace, Message: "the file is no record, and nothing else may be here", Hint: w.removalFix(name)})
		return nil
	case kind == records.Session && !w.isFresh(name):
		w.sessions[strings.TrimSuffix(path.Base(name), ".json")] = true
		return nil
	}
	data, err := w.read(ctx, name, f)
	if data == nil || err != nil {
		return err
	}
	w.findCredentials(name, data)
	if kind == records.Blob {
		if sum := records.DigestOf(data); sum != path.Base(name) {
			w.addIfFresh(name, small.Problem{Kind: records.ProblemPlace, Message: "the file's bytes have the sha256 " + sum + ", which is not its name", Hint: w.removalFix(name)})
		}
		return nil
	}
	r, problems := records.Read(name, data, small.Limits{MaxFileSize: kind.MaxSize(0)})
	for i := range problems {
		problems[i].Hint = w.removalFix(name)
	}
	w.addIfFresh(name, problems...)
	if r != nil {
		w.keepRecord(name, r)
	}
	return nil
}

// findCredentials adds the credentials in a fresh file of text.
func (w *Workspace) findCredentials(name string, data []byte) {
	if !w.isFresh(name) || !utf8.Valid(data) || !secret.Suspected(string(data)) {
		return
	}
	for _, m := range secret.Find(string(data)) {
		line := bytes.LastIndexByte(data[:m.Start], '\n') + 1
		w.addIfFresh(name, small.Problem{
			Kind: credential, Pos: small.Pos{Line: 1 + bytes.Count(data[:m.Start], []byte("\n")), Column: 1 + utf8.RuneCount(data[line:m.Start])},
			Message: "the file holds a credential (" + m.Shape.Name + ")", Hint: "revoke it where it was issued, if anybody else may have it; " + w.removalFix(name),
		})
	}
}

// read reads a file. If it cannot be read, that is a problem of the file, and the data is nil.
func (w *Workspace) read(ctx context.Context, name string, f history.File) ([]byte, error) {
	limits := small.Limits{MaxFileSize: records.KindOf(name).MaxSize(w.run.Source.Limits.FileSize())}
	data, problem, err := read.ReadFile(ctx, w.run.Source.Tree, f, limits)
	if problem != nil {
		w.addIfFresh(name, *problem)
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// keepRecord keeps what later checks need of a record.
func (w *Workspace) keepRecord(name string, r *records.Record) {
	if r.Kind != records.Profile && r.Kind != records.Manifest && w.profile != nil {
		w.mustBelong(name, r)
	}
	switch r.Kind {
	case records.Profile:
		w.profile = r
		return
	case records.Session:
		w.sessions[r.Text("session_id")] = true
	case records.Event:
		e := newEvent(name, r)
		if before := w.events[e.id]; before != nil {
			if w.isFresh(name) {
				w.addSecond(e, before.name, before.digest)
			} else {
				w.addSecond(before, e.name, e.digest)
			}
			return
		}
		w.events[e.id] = e
	}
}

// mustBelong adds a problem if a record's project or lineage is not the profile's.
func (w *Workspace) mustBelong(name string, r *records.Record) {
	for _, key := range []string{"project_id", "lineage_id"} {
		if want := w.profile.Text(key); r.Value(key) != nil && r.Text(key) != want {
			w.addIfFresh(name, small.Problem{
				Kind: records.ProblemPlace, Pos: r.Pos(key), Subject: key, Hint: w.removalFix(name),
				Message: string(r.Kind) + " of another project: " + key + " is " + wording.Clip(r.Text(key)) + "; " + records.ProfileFile + " has " + wording.Clip(want),
			})
		}
	}
}

// moveOut returns the fix for a file that does not belong in .small. git need not track it, so that to remove it might lose it.
func moveOut(file string) string {
	return wording.Commands("git rm --cached --ignore-unmatch -- "+file) + ", and move it out of .small"
}

// removalFix returns the fix for a file that has to be put back, if the change altered it, or else removed.
func (w *Workspace) removalFix(name string) string {
	file := wording.TopPath(small.InDir(w.dir, name))
	if w.fresh[name].Mode != "" {
		return "put it back as it was: " + wording.Commands("git restore --source="+history.Short(w.run.Scope.Before())+" --staged --worktree -- "+file)
	}
	if history.Uncommitted(w.Commit) || w.Commit == "" {
		return moveOut(file) + ", then record it again with the protocol's own program"
	}
	return "redo the commit that adds it (" + wording.Commands("git log -1 --oneline -- "+file) +
		") without it, if nobody else has that commit; then record it again with the protocol's own program"
}

func policyFile(a small.Artifact) string { return "policy/" + a.FileName() }

// CheckOf makes the check that reports one kind of problem.
func CheckOf(kind small.ProblemKind) rule.Check {
	return rule.On(func(w *Workspace, r *rule.Reporter) {
		for _, p := range w.problems {
			if p.Kind != kind {
				continue
			}
			f := finding.OfProblem(small.InDir(w.dir, p.name), p.Problem)
			if kind == decision && w.run.Collector.Strict {
				f.Severity = finding.SeverityError
			}
			r.Add(f)
		}
	})
}
