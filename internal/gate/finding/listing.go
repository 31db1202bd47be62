package finding

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/secret"
)

// What a report lists is bounded, so that a hostile history cannot use up memory
// or disk. Findings beyond the bounds are only counted.
const (
	// maxListed is the limit in bytes for all findings of one kind: errors,
	// warnings, notes or waived ones. About 10,000 usual findings fit.
	maxListed = 16 << 20
	// maxFindingText is the limit in bytes for one text of a finding, and
	// maxFindingChanges that for all its changes.
	maxFindingText    = 64 << 10
	maxFindingChanges = 1 << 20
	// maxSide is the limit of listed entries for one branch of a finding.
	maxSide = 1000
	// weightOfFinding and weightOfChange are the bytes that each takes without its texts.
	weightOfFinding = 768
	weightOfChange  = 64
)

// Listing puts findings into a report while there is room for their kind, and counts the others.
type Listing struct {
	used map[Severity]int
	// Find, if set, chooses the findings that are listed; all others are only counted.
	Find func(*Finding) bool
	// Err is the first error in reading a finding's changes.
	Err error
}

// Add lists or counts one finding; kind is its severity, or SeverityWaived.
func (l *Listing) Add(r *Report, f Finding, kind Severity) {
	if l.used[kind] >= maxListed || l.Find != nil && !l.Find(&f) {
		r.More.add(kind)
		return
	}
	if f.Whole != nil {
		var err error
		if f.Changes, err = f.Whole(); err != nil && l.Err == nil {
			l.Err = err
		}
		f.Whole = nil // it holds the whole log
	}
	f.mask()
	f.shorten()
	l.insert(r, f, kind)
}

// insert lists a finding without masking or shortening it, or counts it if there is no room.
func (l *Listing) insert(r *Report, f Finding, kind Severity) {
	if l.used == nil {
		l.used = map[Severity]int{}
	}
	weight := f.weight()
	if l.used[kind] > 0 && l.used[kind]+weight > maxListed {
		l.used[kind] = maxListed // so that no smaller finding is listed after one that was left out
		r.More.add(kind)
		return
	}
	l.used[kind] += weight
	if kind == SeverityWaived {
		r.Waived = append(r.Waived, f)
	} else {
		r.Findings = append(r.Findings, f)
	}
}

// bound sorts the findings of several reports together, and applies the limits again.
func (r *Report) bound() {
	findings, waived := SortFindings(r.Findings), SortFindings(r.Waived)
	r.Findings, r.Waived = nil, nil
	var l Listing
	for _, f := range findings {
		l.insert(r, f, f.Severity)
	}
	for _, f := range waived {
		l.insert(r, f, SeverityWaived)
	}
}

func (c Counts) plus(d Counts) Counts {
	return Counts{Errors: c.Errors + d.Errors, Warnings: c.Warnings + d.Warnings, Waived: c.Waived + d.Waived, Notes: c.Notes + d.Notes}
}

func (c *Counts) add(kind Severity) {
	switch kind {
	case SeverityError:
		c.Errors++
	case SeverityWaived:
		c.Waived++
	case SeverityNote:
		c.Notes++
	default:
		c.Warnings++
	}
}

// texts returns pointers to the finding's own texts and to those of the entries that it names.
func (f *Finding) texts() []*string {
	texts := []*string{&f.Message, &f.Fix, &f.Reason}
	of := func(entries []EntryRef) {
		for i := range entries {
			texts = append(texts, &entries[i].TaskID, &entries[i].Timestamp, &entries[i].AgentID)
		}
	}
	for _, e := range []*EntryRef{f.Entry, f.EntryAfter} {
		if e != nil {
			texts = append(texts, &e.TaskID, &e.Timestamp, &e.AgentID)
		}
	}
	for i := range f.Sides {
		of(f.Sides[i].Entries)
	}
	of(f.Common.Last)
	return texts
}

// mask masks credentials under every rule, because reports are kept and sent on. The path stays, because waivers name it; report writers mask it.
func (f *Finding) mask() {
	for _, text := range f.texts() {
		*text = secret.Mask(*text)
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		c.From, c.To = secret.MaskChange(c.Field, c.From, c.To)
		c.Field = secret.Mask(c.Field)
	}
}

func (f *Finding) shorten() {
	room := maxFindingChanges
	for i := range f.Changes {
		c := &f.Changes[i]
		for _, text := range []*string{&c.Field, &c.From, &c.To} {
			shortenText(text)
			room -= weightOf(*text)
		}
		if room -= weightOfChange; room < 0 {
			f.MoreChanges = len(f.Changes) - i
			f.Changes = slices.Clone(f.Changes[:i])
			break
		}
	}
	for i := range f.Sides {
		s := &f.Sides[i]
		if rest := len(s.Entries) - maxSide; rest > 0 {
			s.Entries, s.More = slices.Clone(s.Entries[:maxSide]), rest
		}
	}
	for _, text := range f.texts() {
		shortenText(text)
	}
}

// shortenText cuts a long text and adds its digest, so that two texts with equal beginnings differ. It copies a short text, so that the log of
// which it is a part can be freed.
func shortenText(text *string) {
	if len(*text) <= maxFindingText {
		*text = strings.Clone(*text)
		return
	}
	end := maxFindingText
	for !utf8.RuneStart((*text)[end]) && end > maxFindingText-utf8.UTFMax {
		end--
	}
	*text = fmt.Sprintf("%s… %d more bytes; sha256:%x of all", (*text)[:end], len(*text)-end, sha256.Sum256([]byte(*text)))
}

// weight estimates how many bytes a finding takes, in memory and in a report.
func (f *Finding) weight() int {
	w := weightOfFinding
	for _, text := range []string{f.Message, f.Path, f.Fix, f.Reason, f.Subject} {
		w += weightOf(text)
	}
	for _, e := range []*EntryRef{f.Entry, f.EntryAfter} {
		w += e.weight()
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		w += weightOfChange + weightOf(c.Field) + weightOf(c.From) + weightOf(c.To)
	}
	for _, s := range f.Sides {
		for i := range s.Entries {
			w += s.Entries[i].weight()
		}
	}
	return w
}

func (e *EntryRef) weight() int {
	if e == nil {
		return 0
	}
	return weightOfChange + weightOf(e.TaskID) + weightOf(e.Timestamp) + weightOf(e.AgentID)
}

// weightOf returns how many bytes a text takes when it is escaped as in JSON.
func weightOf(text string) int {
	w := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			w += len(`\u0000`) - 1
		case c == '"' || c == '\\' || c >= utf8.RuneSelf:
			w++
		}
	}
	return w
}
