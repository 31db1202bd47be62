package lane

import (
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// terminal are the statuses of a child on which nothing follows.
var terminal = []string{"complete", "failed", "escalated", "skipped", "cancelled"}

// done are the statuses of a dependency on which a child can build: it is
// complete, or it turned out not to be needed.
var done = []string{"complete", "skipped"}

// CheckChildren says what is wrong with a campaign's children, as they stand:
// fields, names that are there twice, dependencies that are unknown or go round
// in a circle, a child that is complete before what it depends on.
func (r *Record) CheckChildren() []small.Problem {
	if problems := childrenSchema().Check(r.doc); len(problems) > 0 {
		return withHints(problems)
	}
	byName := map[string]*Child{}
	var out []small.Problem
	for i := range r.Children {
		c := &r.Children[i]
		if first := byName[c.Name.Text]; first != nil {
			out = append(out, problem(c.Name.Pos, c.subject+".name", "give each child a name of its own",
				"the child %q is there twice; it stands in line %d already", clip(c.Name.Text), first.Name.Pos.Line))
			continue
		}
		byName[c.Name.Text] = c
	}
	for i := range r.Children {
		c := &r.Children[i]
		for _, d := range c.DependsOn {
			on := byName[d.Text]
			if on == nil {
				out = append(out, problem(d.Pos, c.subject+".dependsOn", "name a child of this campaign",
					"%q depends on %q, which is no child of the campaign", clip(c.Name.Text), clip(d.Text)))
				continue
			}
			if c.Status.Text == "complete" && on != c && !slices.Contains(done, on.Status.Text) {
				hint := "complete first what it depends on"
				if on.ended() {
					hint = "let it depend on the attempt that is complete"
				}
				out = append(out, problem(c.Status.Pos, c.subject+".status", hint,
					"%q is complete, and %q, on which it depends, is %s", clip(c.Name.Text), clip(d.Text), on.Status.Text))
			}
		}
	}
	return append(out, cycles(r.Children, byName)...)
}

// Ended are the children whose status is one on which nothing follows.
func (r *Record) Ended() []Undone {
	var out []Undone
	for i := range r.Children {
		if c := &r.Children[i]; c.ended() {
			out = append(out, Undone{Child: c.Name.Text, From: c.Status.Text, Pos: c.Name.Pos, Subject: c.subject, Was: small.EntryDigest(c.value)})
		}
	}
	return out
}

func (c *Child) ended() bool { return slices.Contains(terminal, c.Status.Text) }

// Undone is a child of a campaign that had ended.
type Undone struct {
	// Child is its name, From the status that it had, and To the one that it has
	// now; Gone says that there is no such child any more.
	Child, From, To string
	Gone            bool
	// Pos is where the later version of the record has the status; where it has
	// no such child, that of the list.
	Pos     small.Pos
	Subject string
	// Was is the digest of the child as it had ended.
	Was small.Digest
}

// Undone lists the children that had ended in an earlier version of the record
// and have not any more, by name: one that has another status, and one that is
// gone or has another name. A name that is there several times has to be there
// as often with such a status.
func (r *Record) Undone(earlier *Record) []Undone {
	now := map[string]int{}
	open := map[string]*Child{}
	for i := range r.Children {
		switch c := &r.Children[i]; {
		case c.ended():
			now[c.Name.Text]++
		case open[c.Name.Text] == nil:
			open[c.Name.Text] = c
		}
	}
	var out []Undone
	told := map[string]bool{}
	for _, was := range earlier.Ended() {
		if now[was.Child]--; now[was.Child] >= 0 || told[was.Child] {
			continue
		}
		told[was.Child] = true
		u := Undone{Child: was.Child, From: was.From, Gone: true, Subject: "campaignChildren " + was.Child, Was: was.Was}
		u.Pos = r.doc.Root.At([]string{"campaignChildren"}).Pos
		if c := open[was.Child]; c != nil {
			u.Gone, u.To, u.Pos, u.Subject = false, c.Status.Text, c.Status.Pos, c.subject+".status"
			if u.Pos.Line == 0 {
				u.Pos = c.value.Pos
			}
		}
		out = append(out, u)
	}
	return out
}
