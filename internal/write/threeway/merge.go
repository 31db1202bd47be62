package threeway

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Preference says which side's value is taken if both changed it differently. The zero value prefers neither.
type Preference string

// The preferences.
const (
	Ours   Preference = "ours"
	Theirs Preference = "theirs"
)

// Version is a workspace as one side, or a merge base, has it.
type Version struct {
	// Name is the side's name in messages.
	Name string
	// Commit is the commit that has the files; empty if none has them.
	Commit string
	// Files are the side's files; a missing one is nil.
	Files map[small.Artifact][]byte
	// Named are the ids of the tasks that the side's new entries name. NamedByPublished are the ids that its published entries name, of tasks that both
	// sides added.
	Named, NamedByPublished map[string]bool
	// Picked is true if the side is put on top of the other, as by a rebase: then its unpublished entries get the new id of a renumbered task.
	Picked bool
}

// Merge is two versions of a workspace to be merged.
type Merge struct {
	// Bases are the merge bases. If there are several, what they have in common is the base; if there is none, the base is empty.
	Bases        []Version
	Ours, Theirs Version
	// Dir is the workspace's directory, for messages.
	Dir string
	// Named is the argument of small-hook reconcile that names the other side, quoted for a shell; empty for a merge under way in git.
	Named string
	// PreferPlan is the value of --plan.
	PreferPlan Preference
	Limits     small.Limits
}

// file is one version of a file after parsing. The zero value is a missing file.
type file struct {
	data []byte
	doc  yaml.Node
	root *yaml.Node
}

// Workspace merges workspace.small.yml. Of updated_at the later one is taken. Any other field that both sides changed differently is an error.
func (m Merge) Workspace() ([]byte, error) {
	return m.merged(small.Workspace, func(path []string, v three) *yaml.Node {
		if len(path) != 1 || path[0] != "updated_at" {
			return nil
		}
		if isLater(v.theirs, v.ours) {
			return v.theirs
		}
		return v.ours
	})
}

// Handoff merges the handoff so that it matches the merged plan and workspace.small.yml: its replay id is the workspace's, and its current task
// is in the plan, or null. If both sides changed a field, the value of the side with the later workspace.small.yml is taken.
func (m Merge) Handoff(plan, workspace []byte) ([]byte, error) {
	newer := Ours
	if m.theirsIsNewer() {
		newer = Theirs
	}
	m.Ours, m.Theirs = m.renumberCurrentTask(m.Ours, plan), m.renumberCurrentTask(m.Theirs, plan)
	data, err := m.merged(small.Handoff, func(_ []string, v three) *yaml.Node { return v.of(newer) })
	if run, _ := m.sidesOfRuns(workspace); run != nil && run.Files[small.Handoff] != nil {
		data, err = run.Files[small.Handoff], nil
	}
	if err != nil || data == nil {
		return data, err
	}
	handoff, err := m.parse(small.Handoff, Version{Name: "the merge", Files: map[small.Artifact][]byte{small.Handoff: data}})
	if err != nil {
		return nil, err
	}
	changed := false
	run := get(get(m.parseOrNil(small.Workspace, workspace), "run"), "replay_id")
	if id := get(get(handoff.root, "replayId"), "value"); text(run) != "" && id != nil && text(id) != text(run) {
		id.SetString(text(run)) // it may have been no string
		changed = true
	}
	tasks := get(m.parseOrNil(small.Plan, plan), "tasks")
	current := get(get(handoff.root, "resume"), "current_task_id")
	if id := text(current); id != "" && !strings.HasPrefix(id, "meta/") && byID(tasks)[id] == nil {
		*current, changed = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, true
	}
	if !changed {
		return data, nil
	}
	return m.write(small.Handoff, handoff, handoff.root)
}

// renumberCurrentTask returns a side with the current task of its handoff renumbered as in the merged plan. A side that did not change its handoff
// stays as it is.
func (m Merge) renumberCurrentTask(v Version, plan []byte) Version {
	f, err := m.parse(small.Handoff, v)
	if err != nil || bytes.Equal(v.Files[small.Handoff], m.base(small.Handoff)) {
		return v
	}
	current := get(get(f.root, "resume"), "current_task_id")
	if text(current) == "" {
		return v
	}
	if to := m.Renumbered(v, plan)[text(current)]; to != "" {
		current.Value = to
		if data, err := m.write(small.Handoff, f, f.root); err == nil {
			v.Files = maps.Clone(v.Files)
			v.Files[small.Handoff] = data
		}
	}
	return v
}

// sidesOfRuns returns the side whose run the merged workspace.small.yml names, and the other one; nil if both have the same run, or one has none.
func (m Merge) sidesOfRuns(workspace []byte) (run, other *Version) {
	now, ours, theirs := m.runOf(workspace), m.runOf(m.Ours.Files[small.Workspace]), m.runOf(m.Theirs.Files[small.Workspace])
	switch {
	case ours == theirs, ours == "", theirs == "":
		return nil, nil
	case now == ours:
		return &m.Ours, &m.Theirs
	case now == theirs:
		return &m.Theirs, &m.Ours
	}
	return nil, nil
}

// runOf returns the run that a workspace.small.yml names; empty if it names none.
func (m Merge) runOf(workspace []byte) string {
	return text(get(get(m.parseOrNil(small.Workspace, workspace), "run"), "replay_id"))
}

// of returns the value of the preferred side; if p is empty, ours.
func (v three) of(p Preference) *yaml.Node {
	if p == Theirs {
		return v.theirs
	}
	return v.ours
}

// theirsIsNewer reports whether their workspace.small.yml was written later than ours.
func (m Merge) theirsIsNewer() bool {
	when := func(v Version) *yaml.Node {
		return get(m.parseOrNil(small.Workspace, v.Files[small.Workspace]), "updated_at")
	}
	return isLater(when(m.Theirs), when(m.Ours))
}

// isLater reports whether a is a later time than b. An invalid time is earlier than any.
func isLater(a, b *yaml.Node) bool {
	at, ok := ledger.ParseInstant(text(a))
	other, known := ledger.ParseInstant(text(b))
	return ok && (!known || at.After(other))
}

// merged merges the versions of one file. If a side does not have the file, the other side's is taken.
func (m Merge) merged(a small.Artifact, decide func([]string, three) *yaml.Node) ([]byte, error) {
	base, ours, theirs := m.base(a), m.Ours.Files[a], m.Theirs.Files[a]
	switch {
	case theirs == nil, ours != nil && bytes.Equal(base, theirs), bytes.Equal(ours, theirs):
		return ours, nil
	case ours == nil, bytes.Equal(base, ours):
		return theirs, nil
	}
	f, err := m.three(a)
	if err != nil {
		return nil, err
	}
	return m.combine(a, f, decide)
}

// base returns the file at the merge base; nil if there is not exactly one merge base.
func (m Merge) base(a small.Artifact) []byte {
	if len(m.Bases) != 1 {
		return nil
	}
	return m.Bases[0].Files[a]
}

// files are the three versions of one file.
type files struct{ base, ours, theirs *file }

func (m Merge) three(a small.Artifact) (f files, err error) {
	f.base = &file{}
	for i, b := range m.Bases {
		root := m.parseOrNil(a, b.Files[a])
		if f.base.root = common(f.base.root, root); i == 0 {
			f.base.root = root
		}
	}
	if f.ours, err = m.parse(a, m.Ours); err == nil {
		f.theirs, err = m.parse(a, m.Theirs)
	}
	return f, err
}

func (m Merge) combine(a small.Artifact, f files, decide func([]string, three) *yaml.Node) ([]byte, error) {
	w := &merger{decide: decide}
	root := w.merge(nil, three{f.base.root, f.ours.root, f.theirs.root})
	switch {
	case len(w.conflicts) > 0:
		return nil, m.undecided(a, w.conflicts)
	case f.ours.data != nil && same(root, f.ours.root):
		return f.ours.data, nil
	case f.theirs.data != nil && same(root, f.theirs.root):
		return f.theirs.data, nil
	}
	return m.write(a, f.ours, root)
}

// parse parses a side's version of a file.
func (m Merge) parse(a small.Artifact, v Version) (*file, error) {
	data := v.Files[a]
	if data == nil {
		return &file{}, nil
	}
	doc, problems := small.Parse(data, m.Limits)
	why := ""
	switch {
	case doc == nil:
		why = fmt.Sprintf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	case doc.Linked():
		why = "it uses anchors, aliases or tags"
	}
	f := &file{data: data}
	if why == "" {
		if err := yaml.Unmarshal(data, &f.doc); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s of %s cannot be merged: %s", a.Path(m.Dir), v.Name, why),
			Remedy:  m.remedyKeepOne(a, v),
		}
	}
	f.root = f.doc.Content[0]
	return f, nil
}

// parseOrNil parses a file; nil if it cannot be parsed.
func (m Merge) parseOrNil(a small.Artifact, data []byte) *yaml.Node {
	f, err := m.parse(a, Version{Files: map[small.Artifact][]byte{a: data}})
	if err != nil {
		return nil
	}
	return f.root
}

// write encodes a file as the protocol's own program does. It fails if the result does not read the same: yaml.v3 changes some texts.
func (m Merge) write(a small.Artifact, form *file, root *yaml.Node) ([]byte, error) {
	doc := form.doc
	doc.Content = []*yaml.Node{root}
	data, err := yaml.Marshal(&doc)
	if err == nil && same(m.parseOrNil(a, data), root) {
		return data, nil
	}
	return nil, &failure.Error{
		Message: fmt.Sprintf("%s cannot be written without changing a text of several lines", a.Path(m.Dir)),
		Remedy:  m.remedyKeepOne(a, Version{}),
		Err:     err,
	}
}

// commandWithPlan returns the command that repeats the merge with a preference for one plan.
func (m Merge) commandWithPlan(plan Preference) string {
	return m.commandWith(" --plan " + string(plan))
}

// commandWith returns the command that repeats the merge, with flags.
func (m Merge) commandWith(flags string) string {
	return wording.Commands(strings.TrimSuffix("small-hook reconcile "+m.Named, " ") + flags)
}

// undecided returns the failure for a file in which both sides changed fields differently.
func (m Merge) undecided(a small.Artifact, all []conflict) error {
	var what []string
	for _, o := range all {
		what = append(what, fmt.Sprintf("%s: %s of %s, %s of %s", nameField(o.path), describeValue(o.ours), m.Ours.Name, describeValue(o.theirs), m.Theirs.Name))
	}
	remedy := m.remedyKeepOne(a, Version{})
	if a == small.Plan {
		remedy = fmt.Sprintf("%s takes these from %s (--plan theirs takes them from %s); the rest of both plans is merged", m.commandWithPlan(Ours), m.Ours.Name, m.Theirs.Name)
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s: both sides changed the same field differently: %s", a.Path(m.Dir), strings.Join(what, "; ")),
		Remedy:  remedy,
	}
}

// remedyKeepOne returns the fix that keeps one side's file: ours, unless our file is the bad one, which cannot be merged. bad is the zero value if both
// can be read.
func (m Merge) remedyKeepOne(a small.Artifact, bad Version) string {
	source, name := "HEAD", m.Ours.Name
	if bad.Name != "" && bad.Name == m.Ours.Name && m.Theirs.Commit != "" {
		source, name = m.Theirs.Commit, m.Theirs.Name
	}
	return fmt.Sprintf("keep the file of %s: `git restore --source=%s --staged --worktree -- %s`; then %s; or edit the file, stage it, and type the last command",
		name, source, wording.TopPath(a.Path(m.Dir)), m.commandWith(""))
}

// nameField names a field in a message.
func nameField(path []string) string {
	if len(path) > 1 && isTasks(path[:1]) {
		return strings.TrimSuffix(fmt.Sprintf("task %s, %s", wording.Quote(path[1]), strings.Join(path[2:], ".")), ", ")
	}
	return wording.Clip(strings.Join(path, "."))
}

// describeValue describes a value in a message.
func describeValue(n *yaml.Node) string {
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == yaml.ScalarNode:
		return wording.Quote(n.Value)
	case n.Kind == yaml.SequenceNode:
		return "a list of " + wording.Count(len(n.Content), "element")
	}
	return "a mapping"
}
