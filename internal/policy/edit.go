package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// opening is the beginning of a new configuration.
const opening = "# yaml-language-server: $schema=" + SchemaAddress + "\n" +
	"# What this repository sets about its own gate. A change to this file counts\n" +
	"# once it has been merged, not in the change that makes it.\n" +
	"version: 1\n"

// AddWaivers returns the configuration with the waivers added at the end of its
// waivers, and everything else as it was, byte for byte. Empty data is a
// repository without a configuration. Of Until only the day (UTC) counts.
//
// It is an error if the configuration is not valid (*InvalidError), if a
// waiver would not be valid or is there already, and if the file is written in a
// way that cannot be extended (its remedy says what to add by hand). known is as
// with Parse.
func AddWaivers(data []byte, waivers []Waiver, known *Known) ([]byte, error) {
	data, policy, err := open(data, known)
	if err != nil {
		return nil, err
	}
	line := map[string]int{}
	for _, old := range policy.Waivers {
		line[old.edit()] = old.Pos.Line
	}
	var added []stanza
	for _, w := range waivers {
		if !w.Until.IsZero() {
			y, m, d := w.Until.UTC().Date()
			w.Until = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		}
		alone, err := readAlone("waivers", w.stanza(), known, w.Path, w.Reason)
		if err == nil && !slices.Equal(alone.Waivers[0].stanza(), w.stanza()) {
			err = unlike(w.stanza())
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the waiver: %w", err)
		}
		if at, there := line[w.edit()]; there {
			return nil, &failure.Error{Message: fmt.Sprintf("line %d of %s waives this edit already", at, File), Remedy: "change that waiver instead"}
		}
		added = append(added, w.stanza())
	}
	text, err := yamltext.AppendItems(data, "waivers", "baseline", added, small.Limits{MaxFileSize: MaxSize})
	return finish(text, err, known, `add this item under "waivers:" by hand`, added...)
}

// AddBaseline returns the configuration with the baselines added: in place of
// the one for the same path, which keeps its comments, otherwise at the end.
// Everything else stays as it was, byte for byte, and errors are as with
// AddWaivers.
func AddBaseline(data []byte, baselines []Baseline, known *Known) ([]byte, error) {
	for _, b := range baselines {
		alone, err := readAlone("baseline", b.stanza(), known, b.Path, b.Reason)
		if err == nil && !slices.Equal(alone.Baselines[0].stanza(), b.stanza()) {
			err = unlike(b.stanza())
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the baseline: %w", err)
		}
		var policy *Policy
		if data, policy, err = open(data, known); err != nil {
			return nil, err
		}
		limits, byHand := small.Limits{MaxFileSize: MaxSize}, `add this item under "baseline:" by hand`
		if i := slices.IndexFunc(policy.Baselines, func(old Baseline) bool { return old.Path == b.Path }); i >= 0 {
			byHand = fmt.Sprintf("replace the item on line %d with this one by hand", policy.Baselines[i].Pos.Line)
			data, err = yamltext.ReplaceItem(data, "baseline", i, b.stanza(), limits)
		} else {
			data, err = yamltext.AppendItems(data, "baseline", "waivers", []stanza{b.stanza()}, limits)
		}
		if data, err = finish(data, err, known, byHand, b.stanza()); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// AddLog returns the configuration with a stanza of logs at the end of its logs, and everything else as it was, byte for byte. files are
// paths that it is to guard: it is an error if an existing stanza has one of them. Other errors are as with AddWaivers.
func AddLog(data []byte, l Log, files []string, known *Known) ([]byte, error) {
	data, policy, err := open(data, known)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		old := policy.LogFor(file)
		if old == nil {
			continue
		}
		out := &failure.Error{Message: fmt.Sprintf("line %d of %s has a stanza for %s already", old.Pos.Line, File, quote(old.Path)), Remedy: "change that stanza instead"}
		if old.Path != l.Path {
			out.Message += fmt.Sprintf(", which %s matches too; of several stanzas the first counts", wording.Printable(file))
			out.Remedy += ", or name what it does not mean under its exclude: first"
		}
		return nil, out
	}
	if _, err = l.AsRead(known); err != nil {
		return nil, fmt.Errorf("cannot write the stanza: %w", err)
	}
	text, err := yamltext.AppendItems(data, "logs", "waivers", []stanza{l.stanza()}, small.Limits{MaxFileSize: MaxSize})
	return finish(text, err, known, `add this item under "logs:" by hand`, l.stanza())
}

// AsRead returns the stanza as it is read from a configuration, ready to judge with. An error says why it cannot be written into one.
func (l Log) AsRead(known *Known) (Log, error) {
	alone, err := readAlone("logs", l.stanza(), known, l.Path, l.At)
	if err != nil {
		return l, err
	}
	if !slices.Equal(alone.Logs[0].stanza(), l.stanza()) {
		return l, unlike(l.stanza())
	}
	return alone.Logs[0], nil
}

// open reads a configuration that is to be changed. Empty data opens a new one.
func open(data []byte, known *Known) ([]byte, *Policy, error) {
	if strings.TrimSpace(string(data)) == "" {
		data = []byte(opening)
	}
	policy, err := Parse(File, data, known)
	return data, policy, err
}

// readAlone reads a stanza in a configuration that has nothing else; whether its path is that of a log shows in the real configuration. YAML
// does not take texts that are not UTF-8.
func readAlone(key string, s stanza, known *Known, texts ...string) (*Policy, error) {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%q is not UTF-8, which YAML requires", text)
		}
	}
	text := fmt.Sprintf("version: %d\n%s:\n%s", version, key, yamltext.Lines("- ", s, "\n"))
	if key != "logs" {
		text += "logs: [{path: '**', entries: lines}]\n"
	}
	return Parse(File, []byte(text), known)
}

func unlike(s stanza) error {
	return fmt.Errorf("it does not read back as it was:\n%s", yamltext.Lines("- ", s, "\n"))
}

// finish checks that the edited text is valid. If the edit could not be made, the error says what to do by hand.
func finish(text []byte, err error, known *Known, byHand string, stanzas ...stanza) ([]byte, error) {
	if err == nil {
		_, err = Parse(File, text, known)
	}
	if err == nil {
		return text, nil
	}
	byHand += ":\n"
	for _, s := range stanzas {
		byHand += yamltext.Lines("  - ", s, "\n")
	}
	return nil, &failure.Error{Message: File + " was not changed: " + err.Error(), Remedy: byHand, Err: err}
}

// ruleForm is the form of an id that needs no quotes in YAML.
var ruleForm = expression.Of(`^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$`)

// stanza is a waiver or baseline about to be written: keys and YAML text of
// their values, in order.
type stanza = []yamltext.Member

func (w Waiver) stanza() stanza {
	s := stanza{{Key: "rule", Value: w.Rule}, {Key: "path", Value: quote(w.Path)}}
	if w.OfLog {
		s = stanza{{Key: "log", Value: quote(w.Path)}}
	} else if !ruleForm().MatchString(w.Rule) {
		s[0].Value = quote(w.Rule)
	}
	if w.From != nil {
		s = append(s, yamltext.Member{Key: "from", Value: quote(w.From.String())})
	}
	if w.To != nil {
		s = append(s, yamltext.Member{Key: "to", Value: quote(w.To.String())})
	}
	s = append(s, yamltext.Member{Key: "reason", Value: quote(w.Reason)})
	if !w.Until.IsZero() {
		s = append(s, yamltext.Member{Key: "until", Value: w.Until.UTC().Format(dayLayout)})
	}
	return s
}

func (b Baseline) stanza() stanza {
	return stanza{
		{Key: "path", Value: quote(b.Path)},
		{Key: "entries", Value: strconv.Itoa(b.Entries)},
		{Key: "head", Value: quote(b.Head.String())},
		{Key: "reason", Value: quote(b.Reason)},
	}
}

// stanza leaves out the keys that the program never suggests: exclude, frozen and schema.
func (l Log) stanza() stanza {
	s := stanza{{Key: "path", Value: quote(l.Path)}, {Key: "entries", Value: l.Entries}}
	add := func(key, value string) {
		if value != "" && value != quote("") {
			s = append(s, yamltext.Member{Key: key, Value: value})
		}
	}
	add("at", quote(l.At))
	add("start", quote(l.Start))
	add("identity", l.Identity.text())
	add("order", l.Order)
	add("open", quote(l.Open))
	add("since", quote(l.Since))
	return s
}

// text is the value of identity in YAML; empty for the default.
func (i Identity) text() string {
	list := func(fields []string) string {
		quoted := make([]string, len(fields))
		for i, f := range fields {
			quoted[i] = quote(f)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	switch {
	case len(i.Only) > 0:
		return "{only: " + list(i.Only) + "}"
	case len(i.Without) > 0:
		return "{without: " + list(i.Without) + "}"
	case i.WithoutLines != "":
		return "{without_lines: " + quote(i.WithoutLines) + "}"
	}
	return ""
}

// quote writes a text between double quotes. In them, a text that is UTF-8
// means the same to YAML as to Go: strconv.Quote escapes whatever is not printable,
// with escapes that both have (YAML 1.2.2, section 5.7).
func quote(s string) string { return strconv.Quote(s) }
