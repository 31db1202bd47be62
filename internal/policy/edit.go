package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// opening is what a new configuration begins with.
const opening = "# yaml-language-server: $schema=" + SchemaAddress + "\n" +
	"# What this repository sets about its own gate. A change to this file counts\n" +
	"# once it has been merged, not in the change that makes it.\n" +
	"version: 1\n"

// AddWaivers returns the configuration with the waivers added at the end of its
// waivers, and everything else as it was, byte for byte. Empty data is a
// repository without a configuration. Of Until only the day (UTC) counts.
//
// It is an error if the configuration is not valid (*InvalidError), if a
// waiver would not be or is there already, and if the file is written in a way
// that cannot be extended (its remedy says what to add by hand). rules are as
// with Parse.
func AddWaivers(data []byte, waivers []Waiver, rules []Rule) ([]byte, error) {
	d, err := open(data, rules)
	if err != nil {
		return nil, err
	}
	line := map[string]int{}
	for _, old := range d.policy.Waivers {
		line[old.edit()] = old.Pos.Line
	}
	want := *d.policy
	want.Waivers = slices.Clone(want.Waivers)
	var added stanzas
	for _, w := range waivers {
		if !w.Until.IsZero() {
			y, m, d := w.Until.UTC().Date()
			w.Until = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		}
		if err := valid("waivers", w.stanza(), &Policy{Waivers: []Waiver{w}}, rules, w.Path, w.Reason); err != nil {
			return nil, fmt.Errorf("cannot write the waiver: %w", err)
		}
		if at, there := line[w.edit()]; there {
			return nil, &failure.Error{Message: fmt.Sprintf("line %d of %s waives this edit already", at, File), Remedy: "change that waiver instead"}
		}
		want.Waivers, added = append(want.Waivers, w), append(added, w.stanza())
	}
	return d.add("waivers", added, &want)
}

// AddBaseline returns the configuration with the baselines added: in place of
// the one for the same path, which keeps its comments, otherwise at the end.
// Everything else stays as it was, byte for byte, and errors are as with
// AddWaivers.
func AddBaseline(data []byte, baselines []Baseline, rules []Rule) ([]byte, error) {
	for _, b := range baselines {
		if err := valid("baseline", b.stanza(), &Policy{Baselines: []Baseline{b}}, rules, b.Path, b.Reason); err != nil {
			return nil, fmt.Errorf("cannot write the baseline: %w", err)
		}
		d, err := open(data, rules)
		if err != nil {
			return nil, err
		}
		want := *d.policy
		want.Baselines = slices.Clone(want.Baselines)
		same := func(old Baseline) bool { return old.Path == b.Path }
		if i := slices.IndexFunc(want.Baselines, same); i >= 0 {
			want.Baselines[i] = b
			data, err = d.replace("baseline", i, b.stanza(), &want)
		} else {
			want.Baselines = append(want.Baselines, b)
			data, err = d.add("baseline", stanzas{b.stanza()}, &want)
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// draft is a configuration that is being changed.
type draft struct {
	src    *yamltext.Source
	root   *small.Value
	policy *Policy
	rules  []Rule
}

// open reads a configuration for changing it. Empty data opens a new one.
func open(data []byte, rules []Rule) (*draft, error) {
	if strings.TrimSpace(string(data)) == "" {
		data = []byte(opening)
	}
	policy, err := Parse(File, data, rules)
	if err != nil {
		return nil, err
	}
	doc, problems := small.Parse(data, small.Limits{MaxFileSize: MaxSize})
	if doc == nil {
		return nil, fmt.Errorf("cannot read %s: %v", File, problems)
	}
	return &draft{rules: rules, src: yamltext.New(data), root: doc.Root, policy: policy}, nil
}

// valid checks that a stanza, alone in a configuration, reads as what is
// wanted.
func valid(key string, s stanza, want *Policy, rules []Rule, texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, which YAML requires", text)
		}
	}
	text := fmt.Sprintf("version: %d\n%s:\n%s", version, key, s.item(style{gap: 2, eol: "\n"}))
	got, err := Parse(File, []byte(text), rules)
	if err != nil {
		return err
	}
	full := Default()
	full.Waivers, full.Baselines = want.Waivers, want.Baselines
	if !equal(got, full) {
		return fmt.Errorf("it does not read back as it was:\n%s", text)
	}
	return nil
}

// finish makes the edits and checks what they have made. If that cannot be, or
// err says so already, the error names what is to be done by hand.
func (d *draft) finish(edits []yamltext.Edit, err error, want *Policy, byHand string) ([]byte, error) {
	text := d.src.Apply(edits)
	if err == nil && len(text) > MaxSize {
		err = fmt.Errorf("it would grow beyond %d bytes", MaxSize)
	}
	if err == nil {
		if got, wrong := Parse(File, text, d.rules); wrong != nil || !equal(got, want) {
			err = errors.New("the text there cannot be changed without changing the rest")
		}
	}
	if err != nil {
		return nil, &failure.Error{Message: File + " was not changed: " + err.Error(), Remedy: byHand, Err: err}
	}
	return text, nil
}

// byHand says to do something with stanzas by hand.
func byHand(todo string, s stanzas) string {
	return todo + " by hand:\n" + s.item(style{dash: 2, gap: 2, eol: "\n"})
}

// add appends stanzas to the list under key.
func (d *draft) add(key string, s stanzas, want *Policy) ([]byte, error) {
	edits, err := d.insertion(key, s)
	return d.finish(edits, err, want, byHand(fmt.Sprintf("add this item under %q", key+":"), s))
}

// replace changes the values of the list's item at index to the stanza's.
func (d *draft) replace(key string, index int, s stanza, want *Policy) ([]byte, error) {
	item := d.root.Get(key).Items[index]
	edits, err := d.replacement(item, s)
	return d.finish(edits, err, want, byHand(fmt.Sprintf("replace the item on line %d with this one", item.Pos.Line), stanzas{s}))
}

// equal reports whether two policies say the same, wherever it stands.
func equal(a, b *Policy) bool { return reflect.DeepEqual(placeless(a), placeless(b)) }

func placeless(p *Policy) Policy {
	out := *p
	out.Source = ""
	out.Waivers, out.Baselines = slices.Clone(p.Waivers), slices.Clone(p.Baselines)
	for i := range out.Waivers {
		out.Waivers[i].Pos, out.Waivers[i].Edit = small.Pos{}, 0
	}
	for i := range out.Baselines {
		out.Baselines[i].Pos = small.Pos{}
	}
	return out
}
