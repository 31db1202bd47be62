package edit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/policy"
)

var (
	headingForm = expression.Of(`^(#{1,4}) `)
	bulletForm  = expression.Of(`^[-*] `)
	dateForm    = expression.Of(datePattern)
	versionForm = expression.Of(`[0-9]+(?:\.[0-9]+)+`)
	linkForm    = expression.Of(linkDefinition)
	// firstDay matches a heading that begins with a date, as that of the only day in a journal does; a title has a date elsewhere.
	firstDay = expression.Of(`^#+ \[?` + datePattern)
)

const (
	// datePattern matches a date.
	datePattern = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	// linkDefinition matches a line that defines a link in Markdown.
	linkDefinition = `^\[[^]]+\]: `
	// unreleased is the heading of a changelog for changes that are not released yet, in lower case.
	unreleased = "unreleased"
)

// outline describes a text in Markdown.
type outline struct {
	// level is the mark, such as "##", of the headings that begin entries; headings are these.
	level    string
	headings []heading
	// dated is true if only headings with dates begin entries, and others of this level stand before them.
	dated bool
	// bullets is the number of list items, rows that of lines of tables. links reports whether some lines define links.
	bullets, rows int
	links         bool
}

// heading is a heading in Markdown. text includes the mark.
type heading struct{ mark, text string }

// hasDate reports whether the heading has a date; that of the changes that are not released yet will have one.
func (h heading) hasDate() bool {
	return dateForm().MatchString(h.text) || h.isUnreleased()
}

func (h heading) isUnreleased() bool { return strings.Contains(strings.ToLower(h.text), unreleased) }

// outlineOf reads a text in Markdown. It skips what stands between two lines that begin with ```.
func outlineOf(data []byte) (o outline) {
	var headings []heading
	fenced := false
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if m := headingForm().FindStringSubmatch(line); m != nil {
			headings = append(headings, heading{m[1], strings.TrimSpace(line)})
		}
		o.links = o.links || linkForm().MatchString(line)
		if bulletForm().MatchString(line) {
			o.bullets++
		}
		if strings.HasPrefix(line, "|") {
			o.rows++
		}
	}
	o.chooseLevel(headings)
	return o
}

// chooseLevel chooses the headings that begin entries: those of the highest level with more than one heading, where "##" counts with one, too. It
// prefers a level at which dated headings are the last ones: notes that are revised may stand before them, as in an agent's log of its progress.
func (o *outline) chooseLevel(headings []heading) {
	byLevel := map[string][]heading{}
	for _, h := range headings {
		byLevel[h.mark] = append(byLevel[h.mark], h)
	}
	levels := slices.Sorted(maps.Keys(byLevel))
	for _, level := range levels {
		if len(byLevel[level]) > 1 || level == "##" {
			o.level, o.headings = level, byLevel[level]
			break
		}
	}
	for _, level := range levels {
		first := slices.IndexFunc(headings, func(h heading) bool { return h.mark == level && h.hasDate() })
		if first < 0 || slices.ContainsFunc(headings[first:], func(h heading) bool { return len(h.mark) <= len(level) && !h.hasDate() }) {
			continue
		}
		dated := slices.DeleteFunc(slices.Clone(byLevel[level]), func(h heading) bool { return !h.hasDate() })
		if level == o.level || len(dated) > 1 || len(level) < len(o.level) && firstDay().MatchString(dated[0].text) {
			o.level, o.headings = level, byLevel[level]
			if o.dated = len(dated) < len(o.headings) && !slices.ContainsFunc(dated, heading.isUnreleased); o.dated {
				o.headings = dated
			}
			return
		}
	}
}

// plainForms are forms of lines with which entries begin in text that is not Markdown, and what such a line begins with. Marks may stand before it, as in
// "=== Iteration 2 ===". The second form is that of deb-changelog(5).
var plainForms = []struct{ pattern, with string }{
	{`^(\[|[=*-]+ ?)?` + datePattern, "a date"},
	{`^[a-z0-9][a-z0-9+.-]* \([^ )]+\) [^;]+; `, "a package and its version"},
	{`^([Vv]ersion:? |v)?[0-9]+(\.[0-9]+)+([ :]|$)`, "a version"},
	{`^([=*-]+ ?)?(?i:cycle|day|entry|iteration|loop|run|session|step) #?[0-9]+`, "a word such as session or iteration and its number"},
}

// plainStart finds the form of at least two lines in a text that is not Markdown. with says what these lines begin with; headings are the lines. with
// is empty if there are none. single is true if they are all lines, so that each line is an entry.
func plainStart(data []byte) (pattern, with string, headings []heading, single bool) {
	for _, form := range plainForms {
		matches := expression.Of(form.pattern)()
		var found []heading
		single = true
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimRight(line, "\r\n"); matches.MatchString(line) {
				found = append(found, heading{text: line})
			} else if len(found) > 0 && strings.TrimSpace(line) != "" {
				single = false
			}
		}
		if len(found) > 1 {
			return form.pattern, form.with, found, single
		}
	}
	return "", "", nil, false
}

// hasBlocks reports whether blocks begin with headings of Markdown, of level 2 or below, or with lines of a plain form. A line with one # may be a comment.
func hasBlocks(data []byte) bool {
	_, with, _, single := plainStart(data)
	return with != "" && !single || len(outlineOf(data).level) > 1
}

// guessBlocks takes each block of a text that begins with a heading of Markdown as an entry; without headings, each that begins with a line of a plain
// form, and without these, each item of a list.
func (g *guess) guessBlocks(base policy.Log, at string, data []byte) error {
	base.Entries = policy.BlockEntries
	o := outlineOf(data)
	pattern, with, plain, _ := plainStart(data)
	entries := len(o.headings)
	if o.level != "" {
		with = ""
	}
	switch {
	case o.dated:
		base.Start = "^" + o.level + " .*" + datePattern
		g.reasons = append(g.reasons, fmt.Sprintf("each block from a heading with %s and a date is an entry, and what stands before the first of them is free (start: %s)", o.level, wording.Quote(base.Start)))
	case o.level != "":
		base.Start = "^" + o.level + " "
		g.reasons = append(g.reasons, fmt.Sprintf("each block from a line that begins with %q is an entry (start: %s)", o.level+" ", wording.Quote(base.Start)))
	case with != "":
		base.Start, o.headings, entries = pattern, plain, len(plain)
		g.reasons = append(g.reasons, fmt.Sprintf("each block from a line that begins with %s is an entry (start: %s)", with, wording.Quote(base.Start)))
	case o.rows > 2 && o.rows > o.bullets:
		entries = o.rows
		base.Start = `^\|`
		g.reasons = append(g.reasons, "each row of a table is an entry (start: "+wording.Quote(base.Start)+")")
	case o.bullets > 1:
		entries = o.bullets
		base.Start = "^[-*] "
		g.reasons = append(g.reasons, "each item of a list with - or * is an entry, with the lines below it (start: "+wording.Quote(base.Start)+")")
	default:
		return &failure.Error{
			Message: wording.Printable(at) + " has no two headings of one level, no two lines that begin with a date or a version, no table and no list: entries could begin with any of these",
			Remedy:  remedyByHand(base.Path, `entries: blocks, start: "^## "`),
		}
	}
	if o.links {
		base.Identity.WithoutLines = linkDefinition
		g.reasons = append(g.reasons, "lines that define links are not compared (identity: without_lines)")
	}
	if isOpen(o.headings) {
		base.Open = policy.OpenNewest
		g.reasons = append(g.reasons, "the section of unreleased changes may change (open: newest)")
	}
	if why := descent(o.headings); why != "" {
		base.Order = policy.NewestFirst
		g.reasons = append(g.reasons, "new entries stand before older ones: "+why+" (order: newest-first)")
	}
	g.addBlockReadings(base, &o, entries)
	return nil
}

// addBlockReadings adds the readings of a text of blocks: base, and milder ones.
func (g *guess) addBlockReadings(base policy.Log, o *outline, entries int) {
	descends := base.Order == policy.NewestFirst
	several := entries > 1 // if the only entry may change, nothing is guarded
	g.addReading(base, "")
	if base.Open != policy.OpenNewest && several {
		g.addReading(base, "the newest entry may change until there is a newer one (open: newest)", setOpenNewest)
	}
	if !descends {
		g.addReading(base, "new entries stand before older ones (order: newest-first)", setNewestFirst)
	}
	if !descends && several {
		g.addReading(base, "new entries stand before older ones, and the newest may change (order: newest-first, open: newest)", setNewestFirst, setOpenNewest)
	}
	g.addReading(base, "a new entry may stand anywhere (order: free)", setFreeOrder, func(l *policy.Log) { l.Open = "" })
	if len(releases(o.headings)) == 0 && o.level != "" { // sections by topic, which lines are added to
		lines := policy.Log{Path: base.Path, Entries: policy.LineEntries}
		g.reasons = []string{"each line is an entry"}
		g.addReading(lines, "a section may grow: new lines stand at the end (entries: lines)")
		g.addReading(lines, "a section may grow: a new line may stand anywhere (entries: lines, order: free)", setFreeOrder)
	}
}

// isOpen reports whether the first heading or the last one is that of changes that are not released yet.
func isOpen(headings []heading) bool {
	return len(headings) > 0 && (headings[0].isUnreleased() || headings[len(headings)-1].isUnreleased())
}

// releases returns the headings, except that of unreleased changes, that have a date or a version.
func releases(headings []heading) (out []string) {
	for _, h := range headings {
		if !h.isUnreleased() && (dateForm().MatchString(h.text) || versionForm().MatchString(h.text)) {
			out = append(out, h.text)
		}
	}
	return out
}

// descent says why the headings are those of entries of which the newest is the first; empty if they are not. Headings without a date or a version
// do not count.
func descent(headings []heading) string {
	first, last := "", ""
	if all := releases(headings); len(all) > 0 {
		first, last = all[0], all[len(all)-1]
	}
	switch {
	case isLaterHeading(first, last):
		return "the headings descend, from " + wording.Quote(first) + " to " + wording.Quote(last)
	case len(headings) > 0 && headings[0].isUnreleased() && !isLaterHeading(last, first):
		return "the section of unreleased changes is the first"
	}
	return ""
}

// isLaterHeading reports whether heading a has a later date than heading b or, if the dates do not tell, a higher version.
func isLaterHeading(a, b string) bool {
	if x, y := dateForm().FindString(a), dateForm().FindString(b); x != "" && y != "" && x != y {
		return x > y
	}
	x, y := versionForm().FindString(a), versionForm().FindString(b)
	return x != "" && y != "" && compareVersions(x, y) > 0
}

// compareVersions compares versions: numbers joined by dots.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		return cmp.Or(len(x)-len(y), strings.Compare(x, y))
	})
}
