package lane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Signal is something in a change that requires a lane.
type Signal struct {
	// Name is one of SignalNames. It is stable.
	Name string
	// Fits is the lane with the least rigour that allows it.
	Fits Lane
	// Why is a sentence for people, without its full stop.
	Why string
	// Files are the paths of the files that gave the signal, sorted; Lines are the lines that gave it, if any. Both come from the change as they are: sanitise them before printing.
	Files []string
	Lines []Line
}

// change is the input of the signals.
type change struct {
	// files are the files that count and differ in more than comments; work are those of them that are no tests, documents or generated files.
	files, work []File
	// routes and exports are the lines with routes and exported declarations that the work adds or removes.
	routes, exports []Line
	cfg             *Settings
}

// table has the kinds of signals, in reporting order. One kind may give several signals, which require different lanes.
var table = []struct {
	name string
	find func(c *change) []Signal
}{
	{"migration", migration},
	{"contract", func(c *change) []Signal {
		is := func(f *File) bool {
			return f.Lines > 0 && matches("contracts", f.Path, c.cfg) && !matches("tests", f.Path, c.cfg)
		}
		return slices.Concat(
			fromFiles(Deep, "an interface between services is changed or removed", c.files, func(f *File) bool { return is(f) && f.lost > 0 }),
			fromFiles(Standard, "an interface between services is added", c.files, func(f *File) bool { return is(f) && f.lost == 0 }),
		)
	}},
	{"security", security},
	{"exported", func(c *change) []Signal {
		added, gone, changed := compare(c.exports)
		return slices.Concat(
			fromLines(Deep, "an exported declaration is changed or removed", slices.Concat(gone, changed)),
			fromLines(Standard, "an exported declaration is added", added),
		)
	}},
	{"endpoint", func(c *change) []Signal {
		added, gone, _ := compare(c.routes)
		return slices.Concat(
			fromLines(Deep, "an endpoint is removed", gone),
			fromLines(Standard, "an endpoint is added", added),
		)
	}},
	{"size", size},
}

// Signals lists the signals of a change. It skips files that do not count.
func Signals(files []File, cfg *Settings) []Signal {
	c := &change{cfg: cfg}
	for i := range files {
		f := &files[i]
		if !Counts(f.Path) || matches("ignore", f.Path, cfg) {
			continue
		}
		if f.Lines > 0 || f.generated {
			c.files = append(c.files, *f)
		}
		if !IsWork(f.Path, cfg) {
			continue
		}
		if f.Lines > 0 {
			c.work = append(c.work, *f)
		}
		c.routes = append(c.routes, f.routes...)
		if matches("exported", f.Path, cfg) {
			c.exports = append(c.exports, f.exports...)
		}
	}
	var out []Signal
	for _, kind := range table {
		if slices.Contains(cfg.Off, kind.name) {
			continue
		}
		for _, s := range kind.find(c) {
			s.Name = kind.name
			out = append(out, s)
		}
	}
	return out
}

// migration finds changes of a schema or stored data, by path or by SQL.
func migration(c *change) []Signal {
	kind := func(fits Lane, why string, reversible bool) []Signal {
		var lines []Line
		signals := fromFiles(fits, why, c.files, func(f *File) bool {
			switch {
			case matches("reversible", f.Path, c.cfg) != reversible:
				return false
			case matches("migrations", f.Path, c.cfg):
				return true
			case isExcluded("migrations", f.Path, c.cfg), matches("tests", f.Path, c.cfg), IsDocument(f.Path, c.cfg):
				return false
			}
			lines = append(lines, f.statements...)
			return len(f.statements) > 0
		})
		for i := range signals {
			signals[i].Lines = lines
		}
		return signals
	}
	return append(
		kind(Deep, "a schema or stored data changes, perhaps irreversibly", false),
		kind(Standard, "a schema or stored data changes reversibly", true)...,
	)
}

// security finds changes to access control and credentials, by path or because many lines of the work mention them.
func security(c *change) []Signal {
	out := fromFiles(Deep, "security-relevant files change", c.work, func(f *File) bool { return matches("security", f.Path, c.cfg) })
	sensitive, lines := 0, 0
	for i := range c.work {
		lines += c.work[i].Lines
		sensitive += c.work[i].sensitive
	}
	if len(out) > 0 || sensitive < leastSensitive || sensitive*sensitiveOneIn < lines {
		return out
	}
	why := fmt.Sprintf("%d of %d lines mention permissions, passwords and the like", sensitive, lines)
	return fromFiles(Deep, why, c.work, func(f *File) bool { return f.sensitive > 0 })
}

// Work is about security if at least leastSensitive of its lines are sensitive, and at least one line in sensitiveOneIn.
const leastSensitive, sensitiveOneIn = 6, 6

// size finds a change with too much work for the lane fast. Tests, documents and moved files do not count.
func size(c *change) []Signal {
	var files []string
	lines := 0
	for i := range c.work {
		files = append(files, c.work[i].Path)
		lines += c.work[i].Lines
	}
	if len(files) <= c.cfg.Files && (c.cfg.Lines == 0 || lines <= c.cfg.Lines) {
		return nil
	}
	allowed := wording.Count(c.cfg.Files, "file")
	if c.cfg.Lines > 0 {
		allowed = fmt.Sprintf("%d and %d", c.cfg.Files, c.cfg.Lines)
	}
	s := Signal{Fits: Standard, Files: files}
	s.Why = fmt.Sprintf("%s and %s of work differ; fast allows %s", wording.Count(len(files), "file"), wording.Count(lines, "line"), allowed)
	if len(files) > sweepingFiles && lines > sweepingLines && c.cfg.Lines > 0 {
		s.Fits = Deep
		s.Why = fmt.Sprintf("%d files and %d lines of work differ, too much to review at once", len(files), lines)
	}
	return []Signal{s}
}

// A change of the work with more files and more lines than these requires the lane deep.
const sweepingFiles, sweepingLines = 10, 400

// fromFiles returns the signal of the files that give it; none if no file does.
func fromFiles(fits Lane, why string, files []File, gives func(f *File) bool) []Signal {
	var paths []string
	for i := range files {
		if gives(&files[i]) {
			paths = append(paths, files[i].Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return []Signal{{Fits: fits, Why: why, Files: paths}}
}

// fromLines returns the signal of some lines; none if there are no lines.
func fromLines(fits Lane, why string, lines []Line) []Signal {
	if len(lines) == 0 {
		return nil
	}
	s := Signal{Fits: fits, Why: why, Lines: lines}
	for _, l := range lines {
		s.Files = append(s.Files, l.Path)
	}
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	return []Signal{s}
}

// compare splits differing lines into added, removed and changed declarations. A declaration that only moved is none of these.
func compare(all []Line) (added, gone, changed []Line) {
	was, is := map[string]string{}, map[string]string{}
	for _, l := range all {
		if l.gone {
			was[l.name] = l.form
		} else {
			is[l.name] = l.form
		}
	}
	for _, l := range all {
		before, stood := was[l.name]
		after, stands := is[l.name]
		switch {
		case l.gone && !stands:
			gone = append(gone, l)
		case !l.gone && !stood:
			added = append(added, l)
		case !l.gone && before != after:
			changed = append(changed, l)
		}
	}
	return added, gone, changed
}

// Fits returns the lane with the least rigour that allows every signal.
func Fits(signals []Signal) Lane {
	fits := Fast
	for i := range signals {
		fits = Stricter(fits, signals[i].Fits)
	}
	return fits
}

// Refused returns the signals that a lane does not allow.
func Refused(l Lane, signals []Signal) []Signal {
	return slices.DeleteFunc(slices.Clone(signals), func(s Signal) bool { return !l.Less(s.Fits) })
}

// Why says in a few words why a lane fits the signals.
func Why(signals []Signal) string {
	var names []string
	for i := range signals {
		if signals[i].Fits == Fits(signals) && !slices.Contains(names, signals[i].Name) {
			names = append(names, signals[i].Name)
		}
	}
	if len(names) == 0 {
		return "no signal requires more"
	}
	if len(names) == 1 {
		return names[0] + " requires it"
	}
	return strings.Join(names, ", ") + " require it"
}
