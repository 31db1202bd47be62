package policy

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// LaneNames are the lanes that a change can be in, from the least rigour to the
// most.
var LaneNames = []string{"fast", "standard", "deep"}

// Lanes is what a project says about lanes: which signals of a change count for
// it, and what each lane demands.
type Lanes struct {
	// Files and Lines are the most that a fast change has of each; Lines 0 is
	// no limit.
	Files, Lines int
	// Off are signals that are switched off, by name.
	Off []string
	// Patterns are the project's own, by key of PatternKeys. They come after the
	// default ones; of those that match a path the last counts, and one that begins
	// with ! takes it out.
	Patterns map[string][]string
	// Minimum is the least lane that a change is judged in; empty for none.
	Minimum string
	// QAAfterMerge leaves it to an audit to look for the evidence that a lane
	// demands after the work.
	QAAfterMerge bool
	// Fast, Standard and Deep are what the lanes demand.
	Fast, Standard, Deep Rigour
}

// SignalNames are the signals that a change can show.
var SignalNames = []string{"size", "migration", "contract", "endpoint", "exported", "security"}

// PatternKeys are the lists of patterns that a project can add to.
var PatternKeys = []string{"migrations", "reversible", "contracts", "exported", "security", "documents", "tests", "ignore"}

func defaultLanes() Lanes {
	return Lanes{
		Files: 3, Lines: 20,
		Standard: Rigour{Strict: true},
		Deep: Rigour{
			Strict: true, WarningsAreErrors: true, NoInsertions: true, Rules: map[string]Level{"replay/stale": Error},
			Before: []string{"meta/analysis"}, After: []string{"meta/qa"},
		},
	}
}

// Rigour is what one lane demands of a change, beyond what holds for all.
type Rigour struct {
	// Strict turns strict rules on.
	Strict bool
	// WarningsAreErrors raises every warning to an error.
	WarningsAreErrors bool
	// NoInsertions forbids entries before older ones even where an entry makes
	// them explicit.
	NoInsertions bool
	// Rules raises the levels of rules.
	Rules map[string]Level
	// Before and After are patterns for the task ids of entries that the change
	// must bring: for each pattern one, before its work and after it.
	Before, After []string
}

// Rigour is what a lane demands; nothing for a name that is no lane's.
func (l *Lanes) Rigour(lane string) Rigour {
	switch lane {
	case "fast":
		return l.Fast
	case "standard":
		return l.Standard
	case "deep":
		return l.Deep
	}
	return Rigour{}
}

func (r *reader) lanes(v *small.Value, p *Policy) {
	l := &p.Lanes
	l.Patterns = map[string][]string{}
	keys := append([]string{"files", "lines", "minimum", "qa", "off", "fast", "standard", "deep"}, PatternKeys...)
	for _, f := range r.mapping(v, "lanes", keys...) {
		subject := "lanes." + f.Key
		switch f.Key {
		case "files":
			l.Files = int(r.between(f.Value, subject, 1, 1_000_000))
		case "lines":
			l.Lines = int(r.between(f.Value, subject, 0, 1_000_000_000))
		case "minimum":
			l.Minimum = r.oneOf(f.Value, subject, LaneNames...)
		case "qa":
			l.QAAfterMerge = r.oneOf(f.Value, subject, "before-merge", "after-merge") == "after-merge"
		case "off":
			for i, item := range r.list(f.Value, subject) {
				l.Off = append(l.Off, r.oneOf(item, fmt.Sprintf("%s.%d", subject, i), SignalNames...))
			}
		case "fast":
			r.rigour(f.Value, subject, &l.Fast)
		case "standard":
			r.rigour(f.Value, subject, &l.Standard)
		case "deep":
			r.rigour(f.Value, subject, &l.Deep)
		default:
			l.Patterns[f.Key] = r.patterns(f.Value, subject, lanePattern)
		}
	}
}

// rigour reads what one lane demands; what is not given stays.
func (r *reader) rigour(v *small.Value, subject string, out *Rigour) {
	for _, f := range r.mapping(v, subject, "strict", "warnings", "insertions", "rules", "before", "after") {
		at := subject + "." + f.Key
		switch f.Key {
		case "strict":
			out.Strict = r.boolean(f.Value, at)
		case "warnings":
			out.WarningsAreErrors = r.oneOf(f.Value, at, string(Error), string(Warning)) == string(Error)
		case "insertions":
			out.NoInsertions = r.oneOf(f.Value, at, "allowed", "forbidden") == "forbidden"
		case "rules":
			out.Rules = map[string]Level{}
			for _, rule := range r.mapping(f.Value, at) {
				r.rule(rule.KeyPos, rule.Key, at+"."+rule.Key)
				out.Rules[rule.Key] = Level(r.oneOf(rule.Value, at+"."+rule.Key, string(Error), string(Warning)))
			}
		case "before":
			out.Before = r.patterns(f.Value, at, nil)
		case "after":
			out.After = r.patterns(f.Value, at, nil)
		}
	}
}

// MatchTask reports whether a pattern of Before or After matches a task id.
func MatchTask(pattern, task string) bool { return matchesText([]string{pattern}, task) }

// lanePattern says why a pattern can never match the path of a file.
func lanePattern(pattern string) (message, hint string) {
	rest, not := strings.CutPrefix(pattern, "!")
	mended := strings.TrimLeft(strings.TrimPrefix(rest, "./"), "/")
	if strings.HasSuffix(mended, "/") {
		mended += "**"
	}
	if mended == rest {
		return "", ""
	}
	if not {
		mended = "!" + mended
	}
	return fmt.Sprintf("the pattern %q matches no path of a file", wording.Clip(pattern)), fmt.Sprintf("write %q", wording.Clip(mended))
}
