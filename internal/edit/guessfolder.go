package edit

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// numberedName matches names that begin with a number, as names of migrations do; a letter, adr or rfc may stand before it, but no letter follows it, as
// in a hash.
// datedName matches names that begin with a date or a time. aboutName matches names of files about the folder, and of files that new ones are copied from.
var (
	numberedName = expression.Of(`^((?i:adr|rfc)[-_]?|[A-Za-z]?)(?:[0-9]+(?:[^0-9A-Za-z]|$)|[0-9]{8}T?[0-9])`)
	datedName    = expression.Of(`^[A-Za-z]?(?:[0-9]{4}[-_]?[0-9]{2}[-_]?[0-9]{2}|[0-9]{10})`)
	aboutName    = expression.Of(`(?i)^(readme|index|__init__)?\.|^([_0]*|0*[-_]|m?adr[-_]|decision[-_])template`)
)

// growing are endings of files that may grow, such as a journal with a file for each day.
var growing = []string{".md", ".txt", ".log", ".jsonl", ".ndjson", ".csv", ".tsv"}

// guessFolder takes each file of a folder as an entry or, if lines or items are added to the files later, each file as a log of its own. It leaves out
// files with other endings than most, those whose names begin with no number if most names do, also later ones, and those about the folder.
func guessFolder(at string, files []history.File, read func(string) ([]byte, error), limits small.Limits) (guess, error) {
	var g guess
	base := policy.Log{Entries: policy.FileEntries}
	ending := mostFrequentEnding(files)
	files = g.leaveOut(files, "with another ending", func(f history.File) bool { return ending != "" && path.Ext(f.Path) != ending })
	records := g.leaveOut(files, "with a name such as readme, index, template, __init__ or .gitkeep", isAbout)
	if isAbout(records[0]) { // then nothing was left
		return g, &failure.Error{
			Message: wording.Printable(at) + " has no record yet, only " + wording.Count(len(records), "file") + " such as readme, index, template, __init__ or .gitkeep",
			Remedy:  "commit the first record, then again; or " + remedyByHand(policy.LiteralPattern(at)+"/*", "entries: files"),
		}
	}
	records = g.leaveOut(records, "kept as a symbolic link or a submodule", func(f history.File) bool { return !f.Regular() })
	first := "*"
	if letters, most := mostAreNumbered(records); most {
		records = g.leaveOut(records, "whose name begins with no number", func(f history.File) bool { return !numberedName().MatchString(path.Base(f.Path)) })
		first = letters + "[0-9]*"
	}
	below, isRecord := "/", map[string]bool{}
	for _, f := range records {
		g.files, isRecord[f.Path] = append(g.files, f.Path), true
		if path.Dir(f.Path) != at {
			below = "/**/"
		}
	}
	base.Path = policy.LiteralPattern(at) + below + first + policy.LiteralPattern(ending)
	for _, f := range files {
		if !isRecord[f.Path] && policy.Matches([]string{base.Path}, f.Path) {
			base.Exclude = append(base.Exclude, policy.LiteralPattern(f.Path))
		}
	}
	notGuarded := g.reasons
	g.reasons = slices.Concat([]string{"each file is an entry"}, notGuarded)
	g.guessOrder(&base)
	open, err := g.guessStatus(&base, read)
	if err != nil {
		return g, err
	}
	g.addReading(base, "")
	if open != "" {
		g.addReading(base, "a file whose status is Draft or Proposed may change (open)", func(l *policy.Log) { l.Open = open })
	}
	if base.Order == policy.ByNumber {
		g.addReading(base, "a new file has to sort after those that are there by its whole name (order: name)", func(l *policy.Log) { l.Order = policy.ByName })
	}
	if base.Order != "" {
		g.addReading(base, "a new file may have any name: earlier files did not always come in order", func(l *policy.Log) { l.Order = "" })
	}
	grown := policy.Log{Path: base.Path, Exclude: base.Exclude, Entries: policy.LineEntries}
	g.reasons = notGuarded
	switch {
	case slices.Contains(growing, ending):
		g.addReading(grown, "each file is a log of its own, which lines are added to (entries: lines)")
	case slices.Contains([]string{".yml", ".yaml", ".json"}, ending):
		data, err := read(g.files[0])
		if err != nil {
			return g, err
		}
		if grown.At, err = findOnlyList(g.files[0], data, ending == ".json", limits); err == nil {
			grown.Entries = policy.ListEntries
			g.addReading(grown, "each file is a list of its own, which items are added to (entries: list)")
		}
	}
	return g, nil
}

// mostFrequentEnding returns the ending that more than half of the files have, or .sql if more than a third have it, as a tool may keep a description of
// the database beside each of its migrations; empty if there is none.
func mostFrequentEnding(files []history.File) string {
	endings := map[string]int{}
	for _, f := range files {
		endings[path.Ext(f.Path)]++
	}
	if endings[".sql"]*3 > len(files) {
		return ".sql"
	}
	ending := slices.MaxFunc(slices.Sorted(maps.Keys(endings)), func(a, b string) int { return cmp.Compare(endings[a], endings[b]) })
	if endings[ending]*2 <= len(files) {
		return ""
	}
	return ending
}

// isAbout reports whether a file's name is that of a file about its folder.
func isAbout(f history.File) bool { return aboutName().MatchString(path.Base(f.Path)) }

// leaveOut returns the files that are not left out, and adds the reason; with says what the others have in common. If it would leave
// out all files, it leaves out none.
func (g *guess) leaveOut(files []history.File, with string, isOut func(history.File) bool) []history.File {
	kept := slices.DeleteFunc(slices.Clone(files), isOut)
	if len(kept) == 0 || len(kept) == len(files) {
		return files
	}
	g.reasons = append(g.reasons, "not guarded: "+wording.Count(len(files)-len(kept), "file")+" "+with)
	return kept
}

// mostAreNumbered reports whether at least three quarters of the files, and two of them, have names that begin with a number, all after the same
// letters or none. letters are these.
func mostAreNumbered(files []history.File) (letters string, most bool) {
	numbered := 0
	for _, f := range files {
		m := numberedName().FindStringSubmatch(path.Base(f.Path))
		switch {
		case m == nil:
		case numbered > 0 && m[1] != letters:
			return "", false
		default:
			letters = m[1]
			numbered++
		}
	}
	return letters, numbered > 1 && numbered*4 >= len(files)*3
}

// guessOrder chooses the order of the guessed files: by their names, if all begin with numbers, of which some may be dates.
func (g *guess) guessOrder(base *policy.Log) {
	base.Order = policy.ByNumber
	for _, f := range g.files {
		switch name := path.Base(f); {
		case !numberedName().MatchString(name):
			base.Order = ""
			return
		case datedName().MatchString(name):
			base.Order = policy.ByName
		}
	}
	if base.Order == policy.ByNumber {
		g.reasons = append(g.reasons, "the names begin with numbers: a new file needs a greater number than those that are there (order: number)")
	} else {
		g.reasons = append(g.reasons, "the names begin with dates: a new file has to sort after those that are there (order: name)")
	}
}

// statusForm is a form in which decisions say their status.
type statusForm struct {
	// status matches the line and captures the status. If heading is set, the line is the first one with text below a line that heading matches.
	status, heading func() *regexp.Regexp
	// lines match the lines that change with the status, and are described by may. open matches the status of a decision that is not made yet.
	lines, may, open string
}

// statusForms are the forms that tools and templates for decision records write: adr-tools and M. Nygard's template put the status below a heading, MADR
// into front matter and, before version 3, into a list.
var statusForms = []statusForm{
	{
		status: expression.Of(`^Status: *([A-Za-z]+)`), lines: "^(Status|Superseded by):",
		may: "a line that begins with Status: or Superseded by:", open: "^Status: *(Draft|Proposed)",
	},
	{
		status: expression.Of(`^status: *["']?([A-Za-z]+)`), lines: "^(status|superseded-by):",
		may: "a line that begins with status: or superseded-by:", open: `^status: *["']?(draft|proposed)`,
	},
	{
		status: expression.Of(`^[-*] Status: *([A-Za-z]+)`), lines: "^[-*] (Status|Superseded by):",
		may: "an item of a list that begins with Status: or Superseded by:", open: "^[-*] Status: *([Dd]raft|[Pp]roposed)",
	},
	{
		status: expression.Of(`^(?:[-*] )?\*\*Status:?\*\*:? *([A-Za-z]+)`), lines: `^([-*] )?\*\*(Status|Superseded by):?\*\*`,
		may: "a line, or an item of a list, that begins with **Status** or **Superseded by**", open: `^([-*] )?\*\*Status:?\*\*:? *([Dd]raft|[Pp]roposed)`,
	},
	{
		status: expression.Of(`^\| *\**Status:?\** *\| *([A-Za-z]+)`), lines: `^\| *\**(Status|Superseded by):?\** *\|`,
		may: "a row of a table that begins with Status or Superseded by", open: `^\| *\**Status:?\** *\| *([Dd]raft|[Pp]roposed)`,
	},
	{
		status: expression.Of(`^#+ *Status: *([A-Za-z]+)`), lines: "^#+ *(Status|Superseded by):",
		may: "a heading that begins with Status: or Superseded by:", open: "^#+ *Status: *([Dd]raft|[Pp]roposed)",
	},
	{
		heading: expression.Of(`^#+ *Status\s*$`), status: expression.Of(`^([A-Za-z]+)`),
		lines: `^((Accepted|Approved|Deprecated|Draft|Pending|Proposed|Rejected|Superseded)( ?[-–—,(]? ?[0-9]{4}-[0-9]{2}-[0-9]{2}\)?)?)?\.?\s*$|` +
			`^(Amend|Clarif|Supersede|Supercede)[a-z]* (by )?(\[|ADR|[0-9])`,
		may: "blank lines and lines such as Accepted, or Superseded by [another decision],", open: `^(Draft|Pending|Proposed)( ?[-–—,(]? ?[0-9]{4}-[0-9]{2}-[0-9]{2}\)?)?\.?\s*$`,
	},
}

// statusIn returns the status that a text has in this form; empty if it has none.
func (f *statusForm) statusIn(text string) string {
	below := f.heading == nil
	for line := range strings.Lines(text) {
		switch {
		case !below:
			below = f.heading().MatchString(line)
		case f.heading != nil && strings.TrimSpace(line) == "":
		default:
			if m := f.status().FindStringSubmatch(line); m != nil {
				return m[1]
			}
			below = f.heading == nil
		}
	}
	return ""
}

// maxFilesRead bounds the files of a folder that are read to find out whether they have a status.
const maxFilesRead = 50

// guessStatus lets the status of decisions change if at least half of the Markdown files among the first maxFilesRead files have one of the same form, and
// files that are Draft or Proposed.
// If there are none, a milder stanza may have the returned value of open.
func (g *guess) guessStatus(base *policy.Log, read func(string) ([]byte, error)) (open string, err error) {
	var texts []string
	for _, f := range g.files[:min(len(g.files), maxFilesRead)] {
		if path.Ext(f) != ".md" {
			continue
		}
		data, err := read(f)
		if err != nil {
			return "", err
		}
		texts = append(texts, string(data))
	}
	for i := range statusForms {
		form := &statusForms[i]
		have, undecided := 0, false
		for _, text := range texts {
			if status := form.statusIn(text); status != "" {
				have++
				undecided = undecided || slices.Contains([]string{"draft", "pending", "proposed"}, strings.ToLower(status))
			}
		}
		if have == 0 || have*2 < len(texts) {
			continue
		}
		base.Identity.WithoutLines = form.lines
		g.reasons = append(g.reasons, form.may+" may change (identity: without_lines)")
		if !undecided {
			return form.open, nil
		}
		base.Open = form.open
		g.reasons = append(g.reasons, "a file whose status is Draft or Proposed may change (open)")
		return "", nil
	}
	return "", nil
}
