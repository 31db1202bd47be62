package smalltest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// The properties of entry digests are tested on random JSON values (nil, bool, json.Number, string, []any, map[string]any) that a styler
// writes as YAML in every way that keeps the meaning.

// CanonicalJSON is the canonical form of a value by an independent implementation.
func CanonicalJSON(t testing.TB, v any) string {
	t.Helper()
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jcs.Transform(plain)
	if err != nil {
		t.Fatalf("%s: %v", plain, err)
	}
	return string(out)
}

// Seeded returns a random source; the seed makes a failure repeatable.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Pick picks one at random.
func Pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

var randomTexts = []string{
	"", " ", "x", "x ", " x", "a  b", "a\tb", "\tx", "null", "~", "true", "Yes", "no", "12", "1e3", "0x1f", ".5", ".inf", "1_000", "010",
	"2026-01-02", "2026-01-02T03:04:05.1Z", "- x", "-", "?", "a: b", "a:", "#x", "a #b", "&a", "*a", "!x", "<<", "|", ">", "%x", "@x", "`x`",
	"it's", `say "hi"`, `back\slash`, "[x]", "{x}", "a,b", "line\nline", "line\n", "line\n\n", "\nline", "  indented\nline\n", "line\n  indented\n\n\nline\n",
	"tab\n\ttab\n", "trailing \nspace\n", "größer", "日本語", "🙂🙃", "\u00a0", "\u0085", "\u2028", "\u2029", "\ufeff", "\x00", "\x1b[31m", "\r\n", "\r", "\u007f", "\ue000", "\ufffd",
	"go test ./... # all", "---", "...", "=", "https://example.org/a?b=c#d", strings.Repeat("long words ", 30), "\U0010ffff",
}

func randomString(r *rand.Rand) string {
	if r.IntN(3) > 0 {
		return Pick(r, randomTexts)
	}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(Pick(r, []string{"a", "B", "word", " ", "\n", "\t", "'", `"`, `\`, ":", "#", "-", ",", "é", "\u2028", "🙂", "1", "\x07"}))
	}
	return b.String()
}

// RandomNumbers are numbers that can be written in only one way.
var RandomNumbers = []string{
	"0", "1", "-1", "7", "42", "255", "1000", "1204", "-65536", "9007199254740991", "9007199254740992", "1e21", "1e22", "147573952589676412928",
	"0.1", "-0.5", "1.5", "3.141592653589793", "5e-324", "1e-7", "0.000001", "123.456",
}

func randomValue(r *rand.Rand, depth int) any {
	n := 12
	if depth <= 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number(Pick(r, RandomNumbers))
	case 3, 4, 5, 6, 7:
		return randomString(r)
	case 8, 9:
		return RandomMap(r, depth-1)
	}
	list := make([]any, r.IntN(4))
	for i := range list {
		list[i] = randomValue(r, depth-1)
	}
	return list
}

// RandomMap makes a mapping of random values.
func RandomMap(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range r.IntN(6) {
		key := Pick(r, []string{"task_id", "timestamp", "evidence", "notes", "command", "a", "b", "é", "z", "12", "true", "<<", "\ue000", "\uffff", "🙂", "🙃x", "日", "\n", "a b", "", "#", "\x01"})
		m[key] = randomValue(r, depth)
	}
	return m
}

// Styler writes values as YAML in random styles.
type Styler struct {
	R *rand.Rand
	b strings.Builder
	// names are the anchors by the canonical form of their values.
	names   map[string]string
	anchors int
	T       testing.TB
	// keep is set after a block scalar: a blank line could belong to it.
	keep bool
	// plainOnly leaves anchors, aliases, merge keys and tags out.
	plainOnly bool
}

func (s *Styler) chance(percent int) bool { return s.R.IntN(100) < percent }

// Document writes a document with one member, value.
func (s *Styler) Document(key string, value any) string {
	s.names = map[string]string{}
	if s.chance(20) {
		s.b.WriteString("\ufeff")
	}
	if s.chance(20) {
		s.b.WriteString("---\n")
	}
	s.mapping(map[string]any{key: value}, 0, true)
	if s.chance(20) {
		s.b.WriteString("...\n")
	}
	text := s.b.String()
	if s.chance(25) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func (s *Styler) pad(n int) { s.b.WriteString(strings.Repeat(" ", n)) }

// comment writes what may precede a line of a block at an indentation.
func (s *Styler) comment(indent int) {
	if !s.keep && s.chance(10) {
		s.b.WriteString("\n")
	}
	if s.chance(10) {
		s.pad(s.R.IntN(indent + 1))
		s.b.WriteString("# a comment: - with 'things' in it\n")
	}
	s.keep = false
}

// mapping writes a block mapping. Unless begin is set, the first line's indentation is already written.
func (s *Styler) mapping(m map[string]any, indent int, begin bool) {
	keys := slices.Collect(maps.Keys(m))
	s.R.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	merged := 0
	if len(keys) > 1 && s.chance(12) && !s.plainOnly {
		merged = 1 + s.R.IntN(len(keys)-1)
	}
	write := func(key string, after func()) {
		if begin {
			s.comment(indent)
			s.pad(indent)
		}
		begin = true
		s.b.WriteString(key + ":")
		after()
	}
	own := keys[merged:]
	at := s.R.IntN(len(own) + 1)
	for i := range len(own) + 1 {
		if i == at && merged > 0 {
			write("<<", func() { s.b.WriteString(" " + s.mergeSource(m, keys[:merged], own) + "\n") })
		}
		if i < len(own) {
			write(s.key(own[i]), func() { s.after(m[own[i]], indent, true) })
		}
	}
}

// mergeSource writes the value of a merge key: the members in keys, and others that the mapping overrides.
func (s *Styler) mergeSource(m map[string]any, keys, own []string) string {
	first, second := map[string]any{}, map[string]any{}
	for _, k := range keys {
		if s.chance(50) {
			first[k] = m[k]
			if s.chance(50) {
				second[k] = "hidden by the first source"
			}
		} else {
			second[k] = m[k]
		}
	}
	if s.chance(50) {
		first[own[0]] = "hidden by the mapping"
	}
	if len(second) == 0 && s.chance(50) {
		return s.flow(first)
	}
	return "[" + s.flow(first) + ", " + s.flow(second) + "]"
}

// after writes a value after its key or dash; indent is the indentation of the key or dash.
func (s *Styler) after(v any, indent int, inMapping bool) {
	if name, ok := s.alias(v); ok {
		s.b.WriteString(" " + name)
		s.endLine()
		return
	}
	if !s.plainOnly && s.chance(10) {
		defer s.anchor(v)()
	}
	deeper := indent + 1 + s.R.IntN(4)
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && s.chance(70) {
			s.endLine()
			s.mapping(v, deeper, true)
			return
		}
	case []any:
		if len(v) > 0 && s.chance(70) {
			s.endLine()
			if inMapping && s.chance(40) {
				deeper = indent
			}
			s.sequence(v, deeper)
			return
		}
	case string:
		if s.blockScalar(v, indent) {
			return
		}
	case nil:
		if s.chance(30) {
			s.endLine()
			return
		}
	}
	s.b.WriteString(" " + s.inline(v, indent))
	s.endLine()
}

func (s *Styler) endLine() {
	if s.chance(15) {
		comment := Pick(s.R, []string{"  # why", " #", "\t# tab"})
		if strings.HasSuffix(s.b.String(), "-") {
			comment = " #" // the parser does not accept a tab after a dash
		}
		s.b.WriteString(comment)
	}
	s.b.WriteString("\n")
}

func (s *Styler) sequence(items []any, indent int) {
	for _, item := range items {
		s.comment(indent)
		s.pad(indent)
		s.b.WriteString("-")
		if m, ok := item.(map[string]any); ok && len(m) > 0 && s.chance(60) {
			gap := 1 + s.R.IntN(3)
			s.pad(gap)
			s.mapping(m, indent+1+gap, false)
			continue
		}
		s.after(item, indent, false)
	}
}

func (s *Styler) alias(v any) (string, bool) {
	name, ok := s.names[CanonicalJSON(s.T, v)]
	return name, ok && s.chance(50)
}

// anchor writes an anchor and returns a function that makes it usable once its node is complete.
func (s *Styler) anchor(v any) func() {
	s.anchors++
	name := fmt.Sprintf("a%d", s.anchors)
	s.b.WriteString(" &" + name)
	return func() { s.names[CanonicalJSON(s.T, v)] = "*" + name }
}

func (s *Styler) flow(v any) string { return s.inline(v, 0) }

// inline writes a value on one line, or on several that are indented deeper
// than indent.
func (s *Styler) inline(v any, indent int) string {
	switch v := v.(type) {
	case nil:
		return Pick(s.R, []string{"null", "~", "Null", "NULL"})
	case bool:
		text := strconv.FormatBool(v)
		return Pick(s.R, []string{text, strings.ToUpper(text), strings.ToUpper(text[:1]) + text[1:]})
	case json.Number:
		return s.number(string(v))
	case string:
		return s.text(v, indent)
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, s.inline(item, indent))
		}
		return "[" + s.join(parts) + "]"
	case map[string]any:
		keys := slices.Collect(maps.Keys(v))
		s.R.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		var parts []string
		for _, k := range keys {
			parts = append(parts, s.key(k)+": "+s.inline(v[k], indent))
		}
		return "{" + s.join(parts) + "}"
	}
	s.T.Fatalf("no YAML for a %T", v)
	return ""
}

func (s *Styler) join(parts []string) string {
	text := strings.Join(parts, Pick(s.R, []string{", ", ",", " , "}))
	if len(parts) > 0 && s.chance(20) {
		text += ","
	}
	return text
}

// number writes a number in one of YAML's ways.
func (s *Styler) number(text string) string {
	ways := []string{text}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		ways = append(ways, text+".0", text+".", text+"e0", text+"E+0")
		if n > 0 {
			ways = append(ways, fmt.Sprintf("%#x", n), fmt.Sprintf("0o%o", n), fmt.Sprintf("0b%b", n), "+"+text, "0"+strconv.FormatInt(n, 8), text[:1]+"_"+text[1:])
		}
		if !s.plainOnly {
			ways = append(ways, "!!int "+text, `!!int "`+text+`"`, "!!float "+text)
		}
	} else if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		ways = append(ways, text+"0", text+"e0", text+"00E-0")
	}
	if text == "0" {
		ways = append(ways, "-0", "0.0", "-0.0", "0e7")
	}
	return Pick(s.R, ways)
}

var (
	// Cases is the number of random cases for each property.
	Cases     = flag.Uint64("cases", uint64(gittest.Cases(200, 4000)), "how many random cases each property is tried on")
	firstSeed = flag.Uint64("seed", gittest.Seed(1), "the first random case's seed")
)

// Seeds yields the seeds of a property's random cases.
func Seeds(yield func(uint64) bool) {
	for seed := *firstSeed; seed < *firstSeed+*Cases; seed++ {
		if !yield(seed) {
			return
		}
	}
}
