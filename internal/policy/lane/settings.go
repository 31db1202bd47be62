package lane

import (
	_ "embed"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/policy"
)

// Sections are the parts of the configuration about lanes.
var Sections = []policy.Section{
	{Key: "lane", Schema: laneSchema, New: func() policy.Settings { return new(defaultLane) }},
	{Key: "lanes", Schema: lanesSchema, New: func() policy.Settings { return defaultSettings() }},
}

const laneSchema = `{"description": "The lane of a change that claims none itself.", "type": "string", "enum": ["fast", "standard", "deep"]}`

//go:embed lanes.json
var lanesSchema string

// Names are the lanes of a change, from the least rigour to the most.
var Names = []string{"fast", "standard", "deep"}

// Settings are a project's choices about lanes: which signals of a change count, and what each lane demands.
type Settings struct {
	// Files and Lines are the largest numbers of files and lines that a fast change may change; Lines 0 means no limit.
	Files, Lines int
	// Off are the names of signals that are turned off.
	Off []string
	// Patterns are the project's own, by key of PatternKeys. They follow the default ones. Of those that match a path the last counts, and one that
	// begins with ! excludes the path.
	Patterns map[string][]string
	// Minimum is the least strict lane in which a change is judged; empty for none.
	Minimum string
	// QAAfterMerge is true if a change may be merged without the entries of After. Only an audit then asks for them.
	QAAfterMerge bool
	// Fast, Standard and Deep are the lanes' demands.
	Fast, Standard, Deep Rigour
}

// SignalNames are the names of all signals.
var SignalNames = []string{"size", "migration", "contract", "endpoint", "exported", "security"}

// PatternKeys are the lists of patterns that a project can add to.
var PatternKeys = []string{"migrations", "reversible", "contracts", "exported", "security", "documents", "tests", "ignore"}

func defaultSettings() *Settings {
	return &Settings{
		Files: 3, Lines: 20,
		Standard: Rigour{Strict: true},
		Deep: Rigour{
			Strict: true, WarningsAreErrors: true, NoInsertions: true, Rules: map[string]policy.Level{"replay/stale": policy.Error},
			Before: []string{"meta/analysis"}, After: []string{"meta/qa"},
		},
	}
}

// Rigour is what a lane demands of a change beyond what is demanded of every change.
type Rigour struct {
	// Strict makes strict rules apply too, as --strict does.
	Strict bool
	// WarningsAreErrors raises every warning to an error.
	WarningsAreErrors bool
	// NoInsertions forbids new entries in front of entries that the log already has, even if a meta/reconcile-merge entry permits them.
	NoInsertions bool
	// Rules raises the levels of rules.
	Rules map[string]policy.Level
	// Before and After are patterns of task ids. For each pattern the change must add an entry, before its work or after it.
	Before, After []string
}

// Rigour returns a lane's demands; none for an unknown name.
func (l *Settings) Rigour(lane string) Rigour {
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

// SettingsIn returns the settings of a policy.
func SettingsIn(p *policy.Policy) *Settings {
	if l, set := p.Sections["lanes"].(*Settings); set {
		return l
	}
	return defaultSettings()
}

// Values returns pointers to the fields that the configuration sets, by key.
func (l *Settings) Values() map[string]any {
	values := map[string]any{
		"files": &l.Files, "lines": &l.Lines, "minimum": &l.Minimum, "off": &l.Off, "qa": policy.BoolWord("after-merge", &l.QAAfterMerge),
	}
	for name, of := range map[string]*Rigour{"fast": &l.Fast, "standard": &l.Standard, "deep": &l.Deep} {
		values[name+".strict"], values[name+".rules"] = &of.Strict, &of.Rules
		values[name+".before"], values[name+".after"] = &of.Before, &of.After
		values[name+".warnings"] = policy.BoolWord(string(policy.Error), &of.WarningsAreErrors)
		values[name+".insertions"] = policy.BoolWord("forbidden", &of.NoInsertions)
	}
	return values
}

// Check validates rules and patterns, and normalises the patterns of paths.
func (l *Settings) Check(r policy.SectionReader) {
	for _, lane := range Names {
		r.CheckRuleIDs(lane + ".rules")
		r.Patterns(lane+".before", nil)
		r.Patterns(lane+".after", nil)
	}
	l.Patterns = map[string][]string{}
	for _, key := range PatternKeys {
		if r.At(key) != nil {
			l.Patterns[key] = r.Patterns(key, pathPattern)
		}
	}
}

// pathPattern is the [policy.PatternCheck] for patterns that may begin with !. Unlike policy.FilePattern it allows . and .. in a pattern.
func pathPattern(pattern string) (message, hint string) {
	rest, not := strings.CutPrefix(pattern, "!")
	mended := policy.TrimRoot(rest)
	if strings.HasSuffix(mended, "/") {
		mended += "**"
	}
	if mended == rest {
		return "", ""
	}
	if not {
		mended = "!" + mended
	}
	return "the pattern " + wording.Quote(pattern) + " matches no path of a file", "write " + wording.Quote(mended)
}

// defaultLane is the lane of a change that claims none itself.
type defaultLane struct{ lane Lane }

// Values returns a pointer to the lane, which the configuration sets.
func (g *defaultLane) Values() map[string]any { return map[string]any{"": &g.lane} }

// Check accepts every value.
func (*defaultLane) Check(policy.SectionReader) {}

// Default returns the lane that a policy gives a change that claims none itself; empty if it gives none.
func Default(p *policy.Policy) Lane {
	if g, set := p.Sections["lane"].(*defaultLane); set {
		return g.lane
	}
	return ""
}
