package policy

import (
	"errors"
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

// newFileText is the beginning of a new configuration.
const newFileText = "# yaml-language-server: $schema=" + SchemaAddress + "\n" +
	"# What this repository sets about its own gate. A change to this file counts\n" +
	"# once it has been merged, not in the change that makes it.\n" +
	"version: 1\n"

// AddWaivers returns the configuration with waivers added at the end of its list
// of waivers. All other bytes stay. Empty data stands for a repository without a
// configuration. Only the day (UTC) of a waiver's Until is written.
//
// It is an error if the configuration is not valid (*InvalidError), if a waiver
// is not valid or waives an edit that is waived already, and if the file is
// written in a way that cannot be extended. The remedy of the last one says what
// to add by hand. known is as in Parse.
func AddWaivers(data []byte, waivers []Waiver, known *Known) ([]byte, error) {
	data, policy, err := openForEdit(data, known)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{} // of the existing waivers, by edit
	for _, old := range policy.Waivers {
		lines[old.editKey()] = old.Pos.Line
	}
	var added []stanza
	for _, w := range waivers {
		if !w.Until.IsZero() {
			y, m, d := w.Until.UTC().Date()
			w.Until = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		}
		alone, err := readAlone("waivers", w.stanza(), known, w.Path, w.Reason)
		if err == nil && !slices.Equal(alone.Waivers[0].stanza(), w.stanza()) {
			err = errChanged(w.stanza())
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the waiver: %w", err)
		}
		if line, found := lines[w.editKey()]; found {
			return nil, &failure.Error{Message: fmt.Sprintf("line %d of %s waives this edit already", line, File), Remedy: "change that waiver instead"}
		}
		added = append(added, w.stanza())
	}
	text, err := yamltext.AppendItems(data, "waivers", "baseline", added, small.Limits{MaxFileSize: MaxSize})
	return checkEdited(text, err, known, `add this item under "waivers:" by hand`, added...)
}

// AddBaseline returns the configuration with the baselines added, which have different paths: each in place of the one for the same path, whose
// comments stay, or at the end of the list. All other bytes stay. Errors are as in AddWaivers.
func AddBaseline(data []byte, baselines []Baseline, known *Known) ([]byte, error) {
	for _, b := range baselines {
		alone, err := readAlone("baseline", b.stanza(), known, b.Path, b.Reason)
		if err == nil && !slices.Equal(alone.Baselines[0].stanza(), b.stanza()) {
			err = errChanged(b.stanza())
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the baseline: %w", err)
		}
	}
	if len(baselines) == 0 {
		return data, nil
	}
	data, policy, err := openForEdit(data, known)
	if err != nil {
		return nil, err
	}
	at := map[string]int{} // the indexes of the existing baselines, by path
	for i, old := range policy.Baselines {
		at[old.Path] = i
	}
	var replaced, added []stanza
	items, byHand := map[int]stanza{}, "replace the items for the same paths with these by hand"
	for _, b := range baselines {
		if i, found := at[b.Path]; found {
			items[i], replaced = b.stanza(), append(replaced, b.stanza())
			if len(replaced) == 1 && len(baselines) == 1 {
				byHand = fmt.Sprintf("replace the item on line %d with this one by hand", policy.Baselines[i].Pos.Line)
			}
		} else {
			added = append(added, b.stanza())
		}
	}
	limits := small.Limits{MaxFileSize: MaxSize}
	if len(replaced) > 0 {
		data, err = yamltext.SetItems(data, "baseline", items, limits)
		if data, err = checkEdited(data, err, known, byHand, replaced...); err != nil {
			return nil, err
		}
	}
	if len(added) > 0 {
		data, err = yamltext.AppendItems(data, "baseline", "waivers", added, limits)
		return checkEdited(data, err, known, `add this item under "baseline:" by hand`, added...)
	}
	return data, nil
}

// SetSince returns the configuration with a since commit in the stanzas of the logs at the given paths, and those stanzas as they were, without the
// ones that have this since commit already. All other bytes stay. A path of no configured log is ignored. Errors are as in AddWaivers.
func SetSince(data []byte, commit string, paths []string, known *Known) ([]byte, []Log, error) {
	data, policy, err := openForEdit(data, known)
	if err != nil {
		return nil, nil, err
	}
	var changed []Log
	var added []stanza
	items := map[int]stanza{}
	for i := range policy.Logs {
		l := &policy.Logs[i]
		if l.Since == commit || !slices.ContainsFunc(paths, func(path string) bool { return policy.LogFor(path) == l }) {
			continue
		}
		items[i] = stanza{{Key: "since", Value: quote(commit)}}
		added, changed = append(added, stanza{{Key: "path", Value: quote(l.Path)}, items[i][0]}), append(changed, *l)
	}
	if len(changed) == 0 {
		return data, nil, nil
	}
	text, err := yamltext.SetItems(data, "logs", items, small.Limits{MaxFileSize: MaxSize})
	text, err = checkEdited(text, err, known, `under "logs:", give these stanzas since: by hand`, added...)
	return text, changed, err
}

// AddLog returns the configuration with a stanza added at the end of its logs. All other bytes stay. files are the paths that the stanza is to
// guard: it is an error if an existing stanza matches one of them. Other errors are as in AddWaivers.
func AddLog(data []byte, l Log, files []string, known *Known) ([]byte, error) {
	data, policy, err := openForEdit(data, known)
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
			out.Message += fmt.Sprintf(", which %s matches too; the first stanza that matches a path counts", wording.Printable(file))
			out.Remedy += ", or first exclude there the paths that it should not match"
		}
		return nil, out
	}
	if _, err = l.AsRead(known); err != nil {
		return nil, fmt.Errorf("cannot write the stanza: %w", err)
	}
	text, err := yamltext.AppendItems(data, "logs", "waivers", []stanza{l.stanza()}, small.Limits{MaxFileSize: MaxSize})
	return checkEdited(text, err, known, `add this item under "logs:" by hand`, l.stanza())
}

// AsRead returns the stanza as if it were read from a configuration, so that logs can be judged by it. The error says why it cannot be written
// into a configuration.
func (l Log) AsRead(known *Known) (Log, error) {
	alone, err := readAlone("logs", l.stanza(), known, l.Path, l.At)
	if err != nil {
		return l, err
	}
	if !slices.Equal(alone.Logs[0].stanza(), l.stanza()) {
		return l, errChanged(l.stanza())
	}
	return alone.Logs[0], nil
}

// openForEdit reads a configuration that is to be changed. For empty data it returns a new one.
func openForEdit(data []byte, known *Known) ([]byte, *Policy, error) {
	if strings.TrimSpace(string(data)) == "" {
		data = []byte(newFileText)
	}
	policy, err := Parse(File, data, known)
	return data, policy, err
}

// readAlone reads a stanza in a configuration that has nothing else, in which every path is that of a log: checkEdited checks the path in the
// real configuration. texts are values of the stanza; an error names one that is not UTF-8.
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
	policy, err := Parse(File, []byte(text), known)
	var invalid *InvalidError
	if errors.As(err, &invalid) { // it is about a text that the user has not seen
		err = errors.New(invalid.Problems[0].withoutPlace())
	}
	return policy, err
}

// errChanged returns the error for a stanza that has other values when it is read back.
func errChanged(s stanza) error {
	return fmt.Errorf("read back, this text has other values:\n%s", yamltext.Lines("- ", s, "\n"))
}

// checkEdited returns the edited text if it is a valid configuration. err is the error of the edit. The remedy of the returned error is byHand,
// with the stanzas.
func checkEdited(text []byte, err error, known *Known, byHand string, stanzas ...stanza) ([]byte, error) {
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

// plainRuleID matches a rule id that needs no quotes in YAML.
var plainRuleID = expression.Of(`^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$`)

// stanza is an item to write into the configuration: its keys in order, with the
// YAML text of their values.
type stanza = []yamltext.Member

func (w Waiver) stanza() stanza {
	s := stanza{{Key: "rule", Value: w.Rule}, {Key: "path", Value: quote(w.Path)}}
	if w.OfLog {
		s = stanza{{Key: "log", Value: quote(w.Path)}}
	} else if !plainRuleID().MatchString(w.Rule) {
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

// stanza leaves out the keys that the program never writes: frozen and schema.
func (l Log) stanza() stanza {
	s := stanza{{Key: "path", Value: quote(l.Path)}, {Key: "entries", Value: l.Entries}}
	add := func(key, value string) {
		if value != "" && value != quote("") {
			s = append(s, yamltext.Member{Key: key, Value: value})
		}
	}
	if len(l.Exclude) > 0 {
		add("exclude", quoteList(l.Exclude))
	}
	add("at", quote(l.At))
	add("start", quote(l.Start))
	add("identity", l.Identity.yaml())
	add("order", l.Order)
	add("open", quote(l.Open))
	add("since", quote(l.Since))
	return s
}

// InOneLine returns the stanza as an item of a list in YAML, in one line.
func (l Log) InOneLine() string {
	keys := []string{}
	for _, m := range l.stanza() {
		keys = append(keys, m.Key+": "+m.Value)
	}
	return "- {" + strings.Join(keys, ", ") + "}"
}

// yaml returns the value of the key identity in YAML; empty for the default.
func (i Identity) yaml() string {
	switch {
	case len(i.Only) > 0:
		return "{only: " + quoteList(i.Only) + "}"
	case len(i.Without) > 0:
		return "{without: " + quoteList(i.Without) + "}"
	case i.WithoutLines != "":
		return "{without_lines: " + quote(i.WithoutLines) + "}"
	}
	return ""
}

// quote returns a double-quoted YAML string. s must be UTF-8. strconv.Quote escapes
// whatever is not printable, with escapes that Go and YAML share (YAML 1.2.2,
// section 5.7).
func quote(s string) string { return strconv.Quote(s) }

// quoteList returns a YAML list of texts in one line.
func quoteList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
