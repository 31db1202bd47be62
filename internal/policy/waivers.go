package policy

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

const (
	dayLayout = "2006-01-02"
	dayForm   = "a day such as 2026-12-31"
)

// readWaivers reads and checks the list of waivers.
func (r *reader) readWaivers(list *small.Value, logs []Log) []Waiver {
	var out []Waiver
	for i, item := range list.Items {
		subject := fmt.Sprintf("waivers.%d", i)
		if item.Kind != small.Map {
			out = append(out, Waiver{Pos: item.Pos}) // keeps the numbers of later waivers right; the schema has reported this one
			continue
		}
		w := Waiver{
			OfLog:  item.Get("log") != nil,
			Path:   r.readWaiverPath(item, i, logs),
			From:   digestAt(item.Get("from")),
			To:     digestAt(item.Get("to")),
			Reason: r.readReason(item, subject),
			Until:  r.readDay(item.Get("until"), subject+".until"),
			Pos:    item.Pos,
		}
		rule := item.Get("rule")
		if id, ok := rule.Str(); ok {
			r.checkRuleID(rule.Pos, id, subject+".rule")
			w.Rule, w.Edit = id, r.known.effects[id]
		}
		r.checkWaiverDigests(item, subject, w)
		out = append(out, w)
	}
	r.refuseDuplicateWaivers(out)
	return out
}

// readWaiverPath reads the path of waiver number i, under the key log for a waiver of a whole log, otherwise under path. It also checks that rule
// and path are absent in the first case, and present in the second.
func (r *reader) readWaiverPath(item *small.Value, i int, logs []Log) string {
	subject := fmt.Sprintf("waivers.%d", i)
	if item.Get("log") != nil {
		for _, key := range []string{"rule", "path"} {
			if v := item.Get(key); v != nil {
				r.fail(v.Pos, subject+"."+key, "a waiver of a whole log (log:) takes no %q", key)
			}
		}
		return r.readLogPath(item, "log", subject, logs)
	}
	for _, key := range []string{"rule", "path"} {
		if item.Get(key) == nil {
			r.report(Problem{Pos: item.Pos, Subject: subject + "." + key, Message: fmt.Sprintf("waiver %d lacks the key %q", i+1, key)})
		}
	}
	return r.readLogPath(item, "path", subject, logs)
}

// checkWaiverDigests checks that from and to of a waiver identify one edit or one rewrite.
func (r *reader) checkWaiverDigests(item *small.Value, subject string, w Waiver) {
	hasFrom, hasTo := item.Get("from") != nil, item.Get("to") != nil
	needsFrom, needsTo, known := w.Edit.RequiredDigests()
	switch {
	case w.OfLog:
		r.checkRewriteHeads(item, subject, w)
	case !hasFrom && !hasTo:
		r.fail(item.Pos, subject+".from", "the waiver names no edit: it has neither \"from\" nor \"to\"")
	case !known: // the rule is unknown or its edits have no required digests: either digest will do
	case needsFrom && !hasFrom:
		r.fail(item.Pos, subject+".from", "a waiver of %s needs \"from\", the digest before the edit", w.Rule)
	case needsTo && !hasTo:
		r.fail(item.Pos, subject+".to", "a waiver of %s needs \"to\", the entry's digest after the edit", w.Rule)
	case hasFrom && !needsFrom:
		r.fail(item.Get("from").Pos, subject+".from", "a waiver of %s takes no \"from\": there was no entry before", w.Rule)
	case hasTo && !needsTo:
		r.fail(item.Get("to").Pos, subject+".to", "a waiver of %s takes no \"to\": there is no entry after", w.Rule)
	case w.From != nil && w.To != nil && *w.From == *w.To:
		r.fail(item.Get("to").Pos, subject+".to", "\"from\" and \"to\" are the same digest: there is no edit")
	}
}

// checkRewriteHeads checks that from and to of a waiver of a whole log identify one rewrite.
func (r *reader) checkRewriteHeads(item *small.Value, subject string, w Waiver) {
	switch {
	case item.Get("from") == nil || item.Get("to") == nil:
		r.fail(item.Pos, subject+".from", "a waiver of a whole log needs \"from\" and \"to\", the log's heads before and after the rewrite")
	case w.From != nil && w.To != nil && *w.From == *w.To:
		r.fail(item.Get("to").Pos, subject+".to", "\"from\" and \"to\" are the same head: there is no rewrite")
	}
}

// refuseDuplicateWaivers reports a second waiver for the same edit, since the two
// may differ in reason and last day.
func (r *reader) refuseDuplicateWaivers(waivers []Waiver) {
	first := make(map[string]int, len(waivers))
	for i, w := range waivers {
		if w.Path == "" || w.From == nil && w.To == nil {
			continue // it has a problem already
		}
		subject := fmt.Sprintf("waivers.%d", i)
		key := w.editKey()
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

// readBaselines reads and checks the list of baselines.
func (r *reader) readBaselines(list *small.Value, logs []Log) []Baseline {
	var out []Baseline
	lines := map[string]int{}
	for i, item := range list.Items {
		if item.Kind != small.Map {
			continue
		}
		subject := fmt.Sprintf("baseline.%d", i)
		b := Baseline{Path: r.readLogPath(item, "path", subject, logs), Reason: r.readReason(item, subject), Pos: item.Pos}
		if head := digestAt(item.Get("head")); head != nil {
			b.Head = *head
		}
		if n, err := strconv.Atoi(item.At([]string{"entries"}).Canonical()); err == nil { // otherwise the schema has reported it
			b.Entries = n
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

// readLogPath reads the path of a log, under the given key of a waiver or baseline.
// It also accepts any path if the rule is about records, and that of a record of
// protocol 2.0.0 in a waiver with a rule.
func (r *reader) readLogPath(item *small.Value, key, subject string, logs []Log) string {
	subject += "." + key
	v := item.Get(key)
	text, ok := v.Str()
	if !ok {
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
	case key == "log" && namesAnyFolder(logs, text):
		return text
	case r.isRecordRule(item.Get("rule")), matchesAnyLog(logs, text), inside && item.Get("rule") != nil && records.KindOf(name) != "":
		return text
	case !inside || name != small.Progress.FileName():
		p.Message = fmt.Sprintf("the path %q is not the path of a log", wording.Clip(text))
		p.Hint = "a log's path ends in " + small.Progress.Path("") + ", or matches a pattern under logs:"
	default:
		return text
	}
	r.report(p)
	return ""
}

// digestAt returns the digest in a value; nil if there is none. The schema reports malformed ones.
func digestAt(v *small.Value) *small.Digest {
	text, _ := v.Str()
	d, err := small.ParseDigest(text)
	if err != nil {
		return nil
	}
	return &d
}

// readReason reads the reason of a waiver or baseline, and refuses a blank one.
func (r *reader) readReason(item *small.Value, subject string) string {
	v := item.Get("reason")
	text, ok := v.Str()
	if ok && strings.TrimSpace(text) == "" {
		r.fail(v.Pos, subject+".reason", "the reason is blank")
	}
	return text
}

// checkRuleID reports an id that no rule has.
func (r *reader) checkRuleID(pos small.Pos, id, subject string) {
	if slices.Contains(r.known.ids, id) {
		return
	}
	p := Problem{Pos: pos, Subject: subject, Message: fmt.Sprintf("there is no rule %q", wording.Clip(id))}
	if len(r.problems) < maxAdvised {
		p.Suggestion = nearestRule(id, r.known.ids)
	}
	if p.Suggestion == "" {
		p.Hint = "`small-hook explain` lists the rules"
	}
	r.report(p)
}

// ParseDay reads a day such as 2026-12-31, the form of a waiver's last day. It
// returns the day's beginning in UTC.
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

// readDay reads the last day of a waiver; zero if v is nil.
func (r *reader) readDay(v *small.Value, subject string) time.Time {
	text, ok := v.Str()
	if !ok {
		return time.Time{}
	}
	day, err := ParseDay(text)
	if err != nil {
		r.fail(v.Pos, subject, "%v", err)
	}
	return day
}

// isRecordRule reports whether a value is the id of a rule about records.
func (r *reader) isRecordRule(rule *small.Value) bool {
	id, ok := rule.Str()
	return ok && r.known.effects[id].Has(ledger.OfRecord)
}
