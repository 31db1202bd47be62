package small

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// FuzzParse demands of any bytes: no crash; either a document or problems, at
// places within the file; the YAML library's own decoder agrees with what was
// read; rewritten in another style, the document has the same canonical
// form.
func FuzzParse(f *testing.F) {
	for _, data := range smalltest.SeedTexts(f) {
		smalltest.Seed(f, func() { parsesAsTheLibrary(f, data) }, data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { parsesAsTheLibrary(t, data) })
}

func parsesAsTheLibrary(t testing.TB, data []byte) {
	t.Helper()
	doc, problems := Parse(data, Limits{})
	if (doc == nil) != (len(problems) > 0) {
		t.Fatalf("document %v and problems %v", doc, problems)
	}
	checkProblems(t, data, problems)
	if doc == nil {
		return
	}
	sameAsLibrary(t, data, doc)
	canonical := doc.Root.Canonical()
	model, ok := jsonModel(doc.Root)
	if !ok {
		return
	}
	if want := smalltest.CanonicalJSON(t, model); canonical != want {
		t.Fatalf("canonical form\n%s, want\n%s", canonical, want)
	}
	s := smalltest.Styler{R: smalltest.Seeded(uint64(len(data))), T: t}
	again := s.Document("again", model)
	if got := parsed(t, again).Root.Get("again").Canonical(); got != canonical {
		t.Fatalf("written anew:\n%s, was\n%s\n%q", got, canonical, again)
	}
}

func checkProblems(t testing.TB, data []byte, problems []Problem) {
	t.Helper()
	lines := 2 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + bytes.Count(data, []byte("\u0085")) +
		bytes.Count(data, []byte("\u2028")) + bytes.Count(data, []byte("\u2029"))
	for _, p := range problems {
		if p.Kind == "" || p.Message == "" || p.Pos.Line < 1 || p.Pos.Column < 1 || p.Pos.Line > lines || p.Pos.Column > len(data)+2 {
			t.Fatalf("%#v", p)
		}
		if len(p.Message) > 1000 || len(p.Hint) > 1000 || len(p.Subject) > 1000 {
			t.Fatalf("a message of %d bytes", len(p.Message)+len(p.Hint)+len(p.Subject))
		}
	}
}

// sameAsLibrary compares a document with what the library decodes to Go
// values, if it does.
func sameAsLibrary(t testing.TB, data []byte, doc *Document) {
	t.Helper()
	var decoded any
	err := func() (err error) {
		defer func() {
			if recover() != nil {
				err = errors.New("a panic")
			}
		}()
		return yaml.NewDecoder(bytes.NewReader(data)).Decode(&decoded)
	}()
	if err != nil && !errors.Is(err, io.EOF) {
		return // it has limits of its own, on aliases for instance
	}
	if hasKey(doc.Root, "<<") {
		return // the library does not merge a member of this name
	}
	if !equalDecoded(doc.Root, decoded) {
		t.Fatalf("read as\n%s\nthe library reads\n%#v", doc.Root.Canonical(), decoded)
	}
}

func hasKey(v *Value, key string) bool {
	for _, f := range v.Fields {
		if f.Key == key || hasKey(f.Value, key) {
			return true
		}
	}
	return slices.ContainsFunc(v.Items, func(item *Value) bool { return hasKey(item, key) })
}

func equalDecoded(v *Value, d any) bool {
	switch d := d.(type) {
	case nil:
		return v.Kind == Null
	case bool:
		return v.Kind == Bool && v.truth == d
	case string:
		return v.Kind == String && v.Text == d || v.Kind == Other && v.Tag == BinaryTag
	case int, int64, uint64:
		return v.Kind == Number && v.Tag == IntTag
	case float64:
		if math.IsInf(d, 0) || math.IsNaN(d) {
			return v.Kind == Other && v.Tag == FloatTag
		}
		n, ok := readDecimal(v)
		f, err := strconv.ParseFloat(n.String(), 64)
		return v.Kind == Number && (!ok || err == nil && f == d)
	case time.Time:
		return v.Kind == Other && v.Tag == TimestampTag
	case []any:
		if v.Kind != List || len(v.Items) != len(d) {
			return false
		}
		for i := range d {
			if !equalDecoded(v.Items[i], d[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		if v.Kind != Map || len(v.Fields) != len(d) {
			return false
		}
		for _, f := range v.Fields {
			member, ok := d[f.Key]
			if !ok || !equalDecoded(f.Value, member) {
				return false
			}
		}
		return true
	case map[any]any: // the library's choice if a key has a custom tag
		named, others := map[string]any{}, []any{}
		for k, member := range d {
			if name, ok := k.(string); ok {
				named[name] = member
			} else {
				others = append(others, member)
			}
		}
		fields := slices.Clone(v.Fields)
		for _, f := range v.Fields {
			if f.HasStringKey() {
				continue
			}
			at := slices.IndexFunc(others, func(member any) bool { return equalDecoded(f.Value, member) })
			if at < 0 {
				return false
			}
			others = slices.Delete(others, at, at+1)
		}
		fields = slices.DeleteFunc(fields, func(f Field) bool { return !f.HasStringKey() })
		return len(others) == 0 && equalDecoded(&Value{Kind: v.Kind, Fields: fields}, named)
	}
	return false
}

// jsonModel turns a value into a random value's form, false if JSON has no
// such value or a key is too long for one line.
func jsonModel(v *Value) (any, bool) {
	switch v.Kind {
	case Null:
		return nil, true
	case Bool:
		return v.truth, true
	case Number:
		text, ok := canonicalNumber(v)
		// RFC 8785 writes a large integer in fewer digits than it has.
		again, same := canonicalNumber(&Value{Tag: FloatTag, Text: text})
		return json.Number(text), ok && same && again == text
	case String:
		return v.Text, true
	case List:
		out := []any{}
		for _, item := range v.Items {
			m, ok := jsonModel(item)
			if !ok {
				return nil, false
			}
			out = append(out, m)
		}
		return out, true
	case Map:
		out := map[string]any{}
		for _, f := range v.Fields {
			m, ok := jsonModel(f.Value)
			if !ok || !f.HasStringKey() || len(f.Key) > 100 {
				return nil, false
			}
			out[f.Key] = m
		}
		return out, true
	}
	return nil, false
}

// FuzzDigestParse demands that only what String writes is read.
func FuzzDigestParse(f *testing.F) {
	for _, text := range []string{"", "sha256:", Digest{}.String(), strings.ToUpper(Digest{1, 2, 255}.String()), "sha256:xyz", Digest{255}.String() + "0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDigest(text); err == nil && d.String() != text {
			t.Fatalf("%q is read as %s", text, d)
		}
	})
}
