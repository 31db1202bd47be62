package records

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// The problems that a record may have besides those of any file.
const (
	// ProblemCanonical is a record whose bytes or digest do not match its content.
	ProblemCanonical small.ProblemKind = "canonical"
	// ProblemPlace is a record at a wrong path, or of another project.
	ProblemPlace small.ProblemKind = "place"
	// ProblemImport is an original that differs from its manifest's description.
	ProblemImport small.ProblemKind = "import"
)

// The schemas check no formats, as migrations write invalid times.
//
//go:embed *.json
var schemaFiles embed.FS

var schemas = sync.OnceValue(func() map[Kind]func() *schema.Schema {
	const hex64 = "64 lower-case hex digits"
	out := map[Kind]func() *schema.Schema{}
	for _, kind := range []Kind{Profile, Session, Event, Receipt, Manifest} {
		raw, err := schemaFiles.ReadFile(string(kind) + ".json")
		if err != nil {
			panic(fmt.Sprintf("records: the schema of a %s is not embedded: %v", kind, err))
		}
		out[kind] = schema.Of(raw, map[string]string{
			"digest": hex64, "observed_frontier": hex64, "input_digest": hex64, "sha256": hex64,
			"intent_digest": hex64 + ", or absent", "constraints_digest": hex64 + ", or absent",
		})
	}
	return out
})

// keyOrder lists a record's keys in the order in which the protocol's own program writes them; it sorts only nested
// keys. A key with a question mark is left out if its value is empty.
var keyOrder = sync.OnceValue(func() map[Kind][]string {
	return map[Kind][]string{
		Profile: strings.Fields("small_version project_id lineage_id mode policy_revision intent_digest? constraints_digest? import_id?"),
		Session: strings.Fields("small_version project_id lineage_id session_id label? actor_label? model_label? parent_session_id? from_handoff? " +
			"observed_frontier tool_version created_at"),
		Event: strings.Fields("small_version project_id lineage_id session_id event_id kind sequence previous_event? parents? occurred_at task_id? " +
			"task_revision? policy_revision? source_digest? payload"),
		Receipt: strings.Fields("small_version project_id receipt_id strength availability producer? task_id? task_revision? policy_revision? " +
			"source_digest? validator? outcome? artifact_path? artifact_digest? artifact_size? metadata?"),
	}
})

// Record is one parsed record.
type Record struct {
	Kind   Kind
	root   *small.Value
	fields map[string]any
}

// Text returns the text under a path of keys; empty if there is none.
func (r *Record) Text(keys ...string) string {
	text, _ := r.Value(keys...).(string) //nolint:errcheck // the schema refuses other types
	return text
}

// Texts returns the list of texts under a path of keys.
func (r *Record) Texts(keys ...string) []string {
	list, _ := r.Value(keys...).([]any) //nolint:errcheck // the schema refuses other types
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Int returns the number under a path of keys; 0 if there is none.
func (r *Record) Int(keys ...string) int64 {
	n, _ := r.Value(keys...).(json.Number) //nolint:errcheck // the schema refuses other types
	i, err := n.Int64()
	if err != nil {
		return 0
	}
	return i
}

// Value returns the value under a path of keys; nil if there is none.
func (r *Record) Value(keys ...string) any {
	var v any = r.fields
	for _, key := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// Pos returns the place of a key's value, or of the record if it lacks the key.
func (r *Record) Pos(key string) small.Pos {
	if v := r.root.Get(key); v != nil {
		return v.Pos
	}
	return r.root.Pos
}

// Read parses the record with a name below .small. The kind of the name must have a schema. If it returns no record,
// the problems say why.
func Read(name string, data []byte, limits small.Limits) (*Record, []small.Problem) {
	kind := KindOf(name)
	doc, problems := small.ParseJSON(data, limits)
	if doc == nil {
		return nil, problems
	}
	problems = append(schemas()[kind]().Check(doc), checkIntegers(doc.Root, nil)...)
	r := &Record{Kind: kind, root: doc.Root}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&r.fields); err != nil {
		return nil, append(problems, small.Problem{Kind: small.ProblemYAML, Pos: doc.Root.Pos, Message: "not JSON: " + err.Error()})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if keyOrder()[kind] != nil {
		problems = append(problems, r.checkCanonical(data)...)
	}
	return r, append(problems, r.checkPlace(name)...)
}

// checkIntegers returns a problem for each number in a value that is not an integer.
func checkIntegers(v *small.Value, path []string) (out []small.Problem) {
	if v.Kind == small.Number && v.Tag != small.IntTag {
		return []small.Problem{{
			Kind: small.ProblemSchema, Pos: v.Pos, Subject: strings.Join(path, "."),
			Message: fmt.Sprintf("%s is %.40s; a record's numbers are integers", wording.Quote(strings.Join(path, ".")), v.Text),
		}}
	}
	for i, item := range v.Items {
		out = append(out, checkIntegers(item, append(path, fmt.Sprint(i)))...)
	}
	for _, f := range v.Fields {
		out = append(out, checkIntegers(f.Value, append(path, wording.Clip(f.Key)))...)
	}
	return out
}

// checkCanonical compares a record's text and digest with those computed from its content.
func (r *Record) checkCanonical(data []byte) (out []small.Problem) {
	text := r.canonicalText("")
	if r.Kind != Profile {
		want, got := DigestOf(text), r.Text("digest")
		if got != want {
			out = append(out, small.Problem{
				Kind: ProblemCanonical, Pos: r.Pos("digest"), Subject: "digest",
				Message: fmt.Sprintf("%q is %s; the digest of the record's content is %s", "digest", got, want),
			})
		}
		text = r.canonicalText(got)
	}
	if want := slices.Concat(text, []byte("\n")); !bytes.Equal(data, want) {
		at := 0
		for at < min(len(data), len(want)) && data[at] == want[at] {
			at++
		}
		out = append(out, small.Problem{
			Kind: ProblemCanonical, Pos: small.Pos{Line: 1 + bytes.Count(data[:at], []byte("\n")), Column: 1 + len([]rune(string(data[bytes.LastIndexByte(data[:at], '\n')+1:at])))},
			Message: fmt.Sprintf("the record is not written in its canonical form, which ends with one line feed: it has %q where %q is expected",
				data[at:min(at+16, len(data))], want[at:min(at+16, len(want))]),
		})
	}
	return out
}

// canonicalText returns the record's canonical text, with a digest unless that is empty.
func (r *Record) canonicalText(digest string) []byte {
	out := []byte{'{'}
	add := func(key string, v any) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		text, err := json.Marshal(v) // sorts keys, and escapes as the protocol does
		if err != nil {
			panic(fmt.Sprintf("records: a decoded value cannot be encoded: %v", err))
		}
		out = append(append(out, `"`+key+`":`...), text...)
	}
	for _, key := range keyOrder()[r.Kind] {
		key, optional := strings.CutSuffix(key, "?")
		if v := r.fields[key]; !optional || !isEmpty(v) {
			add(key, v)
		}
	}
	if digest != "" {
		add("digest", digest)
	}
	return append(out, '}')
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case json.Number:
		return v == "0"
	}
	return reflect.ValueOf(v).Len() == 0 // a text, a list or an object: the schemas allow no boolean here
}

// checkPlace compares a record's name with the one that its ids require.
func (r *Record) checkPlace(name string) []small.Problem {
	key, want := "", ""
	switch r.Kind {
	case Session:
		key, want = "session_id", "sessions/"+r.Text("session_id")+".json"
	case Event:
		key, want = "event_id", "events/"+r.Text("session_id")+"/"+r.Text("event_id")+".json"
	case Receipt:
		key, want = "digest", "receipts/sha256/"+r.Text("digest")+".json"
	case Manifest:
		key, want = "import_id", path.Join("imports/v1", r.Text("import_id"), "manifest.json")
	}
	if key == "" || want == name {
		return nil
	}
	return []small.Problem{{Kind: ProblemPlace, Pos: r.Pos(key), Subject: key, Message: fmt.Sprintf("the record is at %s; by its content it belongs at %s", name, want)}}
}
