package policy

import (
	"fmt"
	"strconv"
	"strings"
)

// stanza is a waiver or baseline about to be written: keys and YAML text of
// their values, in order.
type stanza [][2]string

func (w Waiver) stanza() stanza {
	s := stanza{{"rule", w.Rule}, {"path", quote(w.Path)}}
	if !ruleForm().MatchString(w.Rule) {
		s[0][1] = quote(w.Rule)
	}
	if w.From != nil {
		s = append(s, [2]string{"from", quote(w.From.String())})
	}
	if w.To != nil {
		s = append(s, [2]string{"to", quote(w.To.String())})
	}
	s = append(s, [2]string{"reason", quote(w.Reason)})
	if !w.Until.IsZero() {
		s = append(s, [2]string{"until", w.Until.UTC().Format(dayLayout)})
	}
	return s
}

func (b Baseline) stanza() stanza {
	return stanza{
		{"path", quote(b.Path)},
		{"entries", strconv.Itoa(b.Entries)},
		{"head", quote(b.Head.String())},
		{"reason", quote(b.Reason)},
	}
}

// value is the YAML text of a key's value.
func (s stanza) value(key string) string {
	for _, member := range s {
		if member[0] == key {
			return member[1]
		}
	}
	return ""
}

// quote writes a text between double quotes. A text that is UTF-8 means the
// same to YAML there as to Go: strconv.Quote escapes whatever is not printable,
// with escapes that both have (YAML 1.2.2, section 5.7).
func quote(s string) string { return strconv.Quote(s) }

// style is how the items of a block list look in a file.
type style struct {
	// dash is the number of spaces before an item's dash, gap the distance
	// from the dash to the item.
	dash, gap int
	// eol ends a line.
	eol string
}

// item writes the stanza as one item of a block list, line end included.
func (s stanza) item(st style) string {
	lead := strings.Repeat(" ", st.dash) + "-" + strings.Repeat(" ", st.gap-1)
	var b strings.Builder
	for i, member := range s {
		if i == 1 {
			lead = strings.Repeat(" ", st.dash+st.gap)
		}
		fmt.Fprintf(&b, "%s%s: %s%s", lead, member[0], member[1], st.eol)
	}
	return b.String()
}

// stanzas are the items that are added to one list.
type stanzas []stanza

func (s stanzas) item(st style) string {
	var b strings.Builder
	for _, one := range s {
		b.WriteString(one.item(st))
	}
	return b.String()
}
