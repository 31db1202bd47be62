package policy

import (
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

const (
	dayLayout = "2006-01-02"
	dayForm   = "a day such as 2026-12-31"
)

func (r *reader) waivers(v *small.Value) []Waiver {
	var out []Waiver
	for i, item := range r.list(v, "waivers") {
		subject := fmt.Sprintf("waivers.%d", i)
		if r.mapping(item, subject, "rule", "path", "from", "to", "reason", "until") == nil {
			out = append(out, Waiver{Pos: item.Pos}) // so that numbers stay right
			continue
		}
		w := Waiver{
			Path:   r.path(item, subject),
			From:   r.digest(item, subject, "from"),
			To:     r.digest(item, subject, "to"),
			Reason: r.reason(item, subject),
			Until:  r.day(item.Get("until"), subject+".until"),
			Pos:    item.Pos,
		}
		if rule := item.Get("rule"); rule == nil {
			r.fail(item.Pos, subject+".rule", "the waiver names no rule")
		} else if id, ok := r.text(rule, subject+".rule"); ok {
			w.Rule = id
			r.rule(rule.Pos, id, subject+".rule")
			w.Edit = r.rules.effects[id]
		}
		r.sides(item, subject, w)
		out = append(out, w)
	}
	r.distinct(out)
	return out
}

// sides checks that a waiver names one edit.
func (r *reader) sides(item *small.Value, subject string, w Waiver) {
	hasFrom, hasTo := item.Get("from") != nil, item.Get("to") != nil
	needsFrom, needsTo, one := w.Edit.Names()
	switch {
	case !hasFrom && !hasTo:
		r.fail(item.Pos, subject+".from", "the waiver names no edit: it has neither \"from\" nor \"to\"")
	case !one:
	case needsFrom && !hasFrom:
		r.fail(item.Pos, subject+".from", "a waiver of %s needs \"from\", the digest before the edit", w.Rule)
	case needsTo && !hasTo:
		r.fail(item.Pos, subject+".to", "a waiver of %s needs \"to\", the entry's digest after the edit", w.Rule)
	case hasFrom && !needsFrom:
		r.fail(item.Get("from").Pos, subject+".from", "a waiver of %s has no \"from\": there was no entry before", w.Rule)
	case hasTo && !needsTo:
		r.fail(item.Get("to").Pos, subject+".to", "a waiver of %s has no \"to\": there is no entry after", w.Rule)
	case w.From != nil && w.To != nil && *w.From == *w.To:
		r.fail(item.Get("to").Pos, subject+".to", "\"from\" and \"to\" are the same digest: there is no edit")
	}
}

// distinct checks that no two waivers speak of the same edit: which one's
// reason and end would hold?
func (r *reader) distinct(waivers []Waiver) {
	first := make(map[string]int, len(waivers))
	for i, w := range waivers {
		if w.Path == "" || w.From == nil && w.To == nil {
			continue // it has a problem already
		}
		subject := fmt.Sprintf("waivers.%d", i)
		key := w.edit()
		if j, found := first[key]; found {
			r.report(Problem{
				Pos: w.Pos, Subject: subject,
				Message: fmt.Sprintf("waiver %d is for the same edit as waiver %d on line %d", i+1, j+1, waivers[j].Pos.Line),
				Hint:    "keep one of them",
			})
			continue
		}
		first[key] = i
	}
}

func (r *reader) baselines(v *small.Value) []Baseline {
	var out []Baseline
	lines := map[string]int{}
	for i, item := range r.list(v, "baseline") {
		subject := fmt.Sprintf("baseline.%d", i)
		if r.mapping(item, subject, "path", "entries", "head", "reason") == nil {
			continue
		}
		b := Baseline{Path: r.path(item, subject), Reason: r.reason(item, subject), Pos: item.Pos}
		if entries := item.Get("entries"); entries != nil {
			b.Entries = int(r.between(entries, subject+".entries", 1, math.MaxInt32))
		} else {
			r.fail(item.Pos, subject+".entries", "the baseline does not say how many entries it covers")
		}
		if item.Get("head") == nil {
			r.fail(item.Pos, subject+".head", "the baseline has no \"head\"")
		} else if head := r.digest(item, subject, "head"); head != nil {
			b.Head = *head
		}
		if line := lines[b.Path]; line > 0 && b.Path != "" {
			r.report(Problem{
				Pos: item.Pos, Subject: subject,
				Message: fmt.Sprintf("%q already has a baseline, on line %d", wording.Clip(b.Path), line),
				Hint:    "keep the later one",
			})
		}
		lines[b.Path] = item.Pos.Line
		out = append(out, b)
	}
	return out
}

// path reads the path of a log, or of a record where the rule is about those, which may
// have any name.
func (r *reader) path(item *small.Value, subject string) string {
	subject += ".path"
	v := item.Get("path")
	text, ok := r.text(v, subject)
	if !ok {
		if v == nil {
			r.fail(item.Pos, subject, "the path is missing")
		}
		return ""
	}
	p := Problem{Pos: v.Pos, Subject: subject}
	_, name, inside := small.SplitPath(text)
	switch {
	case text == "":
		p.Message = "the path is empty"
	case path.IsAbs(text) || path.Clean(text) != text || strings.HasPrefix(text, "../") || strings.Contains(text, `\`):
		p.Message = fmt.Sprintf("write the path %q from the repository's root, with / and without . or ..", wording.Clip(text))
		if clean := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(text, `\`, "/")), "/"); clean != text {
			p.Suggestion = wording.Clip(clean)
		}
	case r.ofRecord(item.Get("rule")):
		return text
	case !inside || name != small.Progress.FileName():
		p.Message = fmt.Sprintf("the path %q is not the path of a log", wording.Clip(text))
		p.Hint = "it ends in " + small.Progress.Path("")
	default:
		return text
	}
	r.report(p)
	return ""
}

func (r *reader) digest(item *small.Value, subject, key string) *small.Digest {
	v := item.Get(key)
	text, ok := r.text(v, subject+"."+key)
	if !ok {
		return nil
	}
	d, err := small.ParseDigest(text)
	if err != nil {
		r.fail(v.Pos, subject+"."+key, "%v", err)
		return nil
	}
	return &d
}

func (r *reader) reason(item *small.Value, subject string) string {
	v := item.Get("reason")
	text, ok := r.text(v, subject+".reason")
	switch {
	case v == nil:
		r.fail(item.Pos, subject+".reason", "the reason is missing")
	case ok && strings.TrimSpace(text) == "":
		r.fail(v.Pos, subject+".reason", "the reason is blank")
	}
	return text
}

// ParseDay reads a day as a waiver's end is written: 2026-12-31. The result is
// its beginning in UTC.
func ParseDay(text string) (time.Time, error) {
	day, err := time.Parse(dayLayout, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a day of the calendar; expected %s", wording.Clip(text), dayForm)
	}
	if day.IsZero() {
		return time.Time{}, fmt.Errorf("the day %s cannot be used; leave it out for a waiver that does not end", text)
	}
	return day, nil
}

// day reads the last day of a waiver. A nil value is none.
func (r *reader) day(v *small.Value, subject string) time.Time {
	text, ok := r.text(v, subject)
	if !ok {
		return time.Time{}
	}
	day, err := ParseDay(text)
	if err != nil {
		r.fail(v.Pos, subject, "%v", err)
	}
	return day
}

func (r *reader) ofRecord(rule *small.Value) bool {
	id, ok := rule.Str()
	return ok && r.rules.effects[id].Has(ledger.OfRecord)
}
