package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// holds checks all promises for a settings file without hooks of ours. It reports whether Add accepted it.
func holds(t *testing.T, f *File, text []byte) bool {
	t.Helper()
	command := f.Command("small-hook")
	with, err := f.Add(text, command)
	if err != nil {
		if e := failure.Of(err); !strings.HasPrefix(e.Message, f.Path+": ") || e.Remedy == "" {
			t.Errorf("%s: the error does not say where, or what to do: %v", f.Harness.Name, err)
		}
		return false
	}
	if again, err := f.Add(with, command); err != nil || !bytes.Equal(again, with) {
		t.Fatalf("%s: done twice, %q is %q, and not %q (%v)", f.Harness.Name, text, again, with, err)
	}
	found, err := f.FindCalls(with)
	if err != nil || len(found.Missing) > 0 || !reflect.DeepEqual(found.Commands, []string{command}) {
		t.Fatalf("%s: %q has %+v (%v)", f.Harness.Name, with, found, err)
	}
	if before := value(t, text); text != nil && !extends(value(t, with), before) {
		t.Fatalf("%s: %q lost something of %q", f.Harness.Name, with, text)
	}
	for _, other := range []string{`/opt/small hook`, "it's`", "no\u00a0break\xff"} {
		moved, err := f.Add(with, f.Command(wording.ShellQuote(other)))
		if err != nil {
			t.Fatal(err)
		}
		if found, err := f.FindCalls(moved); err != nil || len(found.Commands) != 1 || f.ProgramOf(found.Commands[0]) != other {
			t.Fatalf("%s: with another program %q has %+v (%v)", f.Harness.Name, moved, found, err)
		}
		if back, err := f.Add(moved, command); err != nil || !bytes.Equal(back, with) {
			t.Fatalf("%s: with its first program again, %q is %q (%v)", f.Harness.Name, with, back, err)
		}
	}
	switch left, gone, err := f.Remove(with); {
	case err != nil:
		t.Fatal(err)
	case gone != (text == nil), !gone && !bytes.Equal(left, text):
		t.Fatalf("%s: %q became %q, and then %q (gone: %v)", f.Harness.Name, text, with, left, gone)
	}
	if left, gone, err := f.Remove(text); err != nil || gone != (text == nil) || !bytes.Equal(left, text) {
		t.Fatalf("%s: with nothing to remove, %q became %q (gone: %v, %v)", f.Harness.Name, text, left, gone, err)
	}
	return true
}

// value reads a document as a program would.
func value(t *testing.T, text []byte) (v any) {
	t.Helper()
	if text == nil {
		return nil
	}
	plain, err := hujson.Standardize(append(bytes.TrimPrefix(bytes.Clone(text), []byte(byteOrderMark)), '\n'))
	if err == nil {
		err = json.Unmarshal(plain, &v)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// extends reports whether a value has everything that another one has, in order.
func extends(more, less any) bool {
	switch less := less.(type) {
	case map[string]any:
		with, is := more.(map[string]any)
		for name, v := range less {
			is = is && extends(with[name], v)
		}
		return is
	case []any:
		with, is := more.([]any)
		is = is && len(with) >= len(less)
		for i := 0; is && i < len(less); i++ {
			is = extends(with[i], less[i])
		}
		return is
	}
	return reflect.DeepEqual(more, less)
}

func TestNoFile(t *testing.T) {
	t.Parallel()
	for _, f := range All {
		if !holds(t, f, nil) {
			t.Errorf("%s: no new file", f.Harness.Name)
		}
	}
}

// Random settings, with hooks of others, white space and, where allowed, comments in every possible place.
func TestRandomSettings(t *testing.T) {
	t.Parallel()
	for seed := range gittest.Cases(100, 500) {
		for _, f := range All {
			g := generator{rand.New(rand.NewPCG(gittest.Seed(uint64(seed)), 15)), f}
			if text := g.settings(); !holds(t, f, text) {
				_, err := f.Add(text, "x")
				t.Fatalf("seed %d: %q is refused: %v", seed, text, err)
			}
		}
	}
}

// generator makes settings at random.
type generator struct {
	*rand.Rand
	file *File
}

func (g *generator) settings() []byte {
	mark := ""
	if g.IntN(9) == 0 {
		mark = byteOrderMark
	}
	style := g.IntN(4)
	members := []string{}
	names := g.file.only
	if names == nil {
		names = []string{"other", "\\u00e9"}
	}
	for _, name := range names {
		if name != hooksMember && g.IntN(2) == 0 {
			members = append(members, fmt.Sprintf(`"%s":%s`, name, g.value(2)))
		}
	}
	if g.IntN(4) > 0 {
		members = append(members, `"hooks":`+g.hooks())
	}
	if g.file.versioned || g.file.version && g.IntN(2) == 0 {
		members = append(members, `"version":1`)
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := "{" + strings.Join(members, ",") + "}"
	switch style {
	case 0: // compact
	case 1, 2:
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, []byte(text), "", []string{"  ", "    ", "\t", " "}[g.IntN(4)]); err != nil {
			panic(err)
		}
		text = pretty.String() + "\n"
		if style == 2 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
	default:
		text = g.loosen(text)
	}
	return []byte(mark + text)
}

// loosen adds white space, and comments and commas where allowed, to a compact text.
func (g *generator) loosen(text string) string {
	loose := g.space()
	inString := false
	for i, c := range text {
		if c == '"' && text[i-1] != '\\' {
			inString = !inString
			if inString {
				loose += g.space() + `"`
			} else {
				loose += `"` + g.space()
			}
			continue
		}
		if inString || !strings.ContainsRune("{}[],:", c) {
			loose += string(c)
			continue
		}
		loose += g.space() + string(c) + g.space()
	}
	if g.file.comments != nil && g.IntN(4) == 0 {
		loose += "// the end"
	}
	return loose
}

func (g *generator) space() string {
	all := []string{"", "", " ", "\n", "\r\n", "\t", "  ", "\n    "}
	if g.file.comments != nil {
		all = append(all, "// line\n", "/* block */", "// it\u00e9, {[\n  ", "/*\n*/", "/**/")
	}
	return all[g.IntN(len(all))] + all[g.IntN(len(all))]
}

func (g *generator) hooks() string {
	var members []string
	for _, name := range append([]string{"Unknown"}, g.file.events...) {
		if g.IntN(2) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, g.entries()))
		}
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

func (g *generator) entries() string {
	var entries []string
	for range g.IntN(3) {
		entries = append(entries, []string{
			`{"type":"command","command":"make \"check\""}`, `{"matcher":"Bash","hooks":[{"type":"command","command":"./lint.sh"}]}`,
			`{"hooks":[]}`, `{}`, g.value(1), `{"command":7,"hooks":{}}`, `{"hooks":[{"type":"prompt","prompt":"[{,"},{"command":"x"}]}`,
		}[g.IntN(7)])
	}
	return "[" + strings.Join(entries, ",") + "]"
}

func (g *generator) value(depth int) string {
	if depth == 0 {
		return []string{"1", "-0.5e3", `"a\\b"`, "null", "true", `"\u00e9, {["`, "{}", "[]"}[g.IntN(8)]
	}
	var values []string
	for range g.IntN(3) {
		values = append(values, g.value(depth-1))
	}
	if g.IntN(2) == 0 {
		return "[" + strings.Join(values, ",") + "]"
	}
	for i := range values {
		values[i] = fmt.Sprintf(`"k%d":%s`, i, values[i])
	}
	return "{" + strings.Join(values, ",") + "}"
}

func FuzzSettings(f *testing.F) {
	for _, text := range []string{"", "{}", "{ }\n", `{"hooks":{}}`, "\ufeff{\r\n\"hooks\": {\r\n}\r\n}", "{// a\n/* b */\"hooks\": {\"Stop\": [1 /**/]}}// c", `{"version":1}`, "[[", `{"hooks":{"AfterTool":[{"hooks":[`} {
		f.Add([]byte(text), 0)
		f.Add([]byte(text), 4)
	}
	f.Fuzz(func(t *testing.T, text []byte, of int) {
		file := All[uint(of)%uint(len(All))]
		if plain, err := hujson.Standardize(append(bytes.Clone(text), '\n')); err != nil || !bytes.Contains(plain, []byte("agent-hook")) && !bytes.Contains(plain, []byte(`\u`)) {
			holds(t, file, append([]byte{}, text...))
			return
		}
		// For any content, nothing panics, and a second call changes nothing.
		with, err := file.Add(text, file.Command("small-hook"))
		if err != nil {
			return
		}
		if again, err := file.Add(with, file.Command("small-hook")); err != nil || !bytes.Equal(again, with) {
			t.Fatalf("done twice, %q is %q (%v)", with, again, err)
		}
		left, _, err := file.Remove(with)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := file.Remove(left); err != nil || !bytes.Equal(again, left) {
			t.Fatalf("removed twice, %q is %q (%v)", left, again, err)
		}
	})
}
