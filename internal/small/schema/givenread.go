package schema

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// ReadGiven reads a repository's own schema. The problem, if there is one, has its place in the text.
func ReadGiven(data []byte) (*Given, *small.Problem) {
	if len(data) > MaxGiven {
		return nil, &small.Problem{Kind: small.ProblemTooLarge, Pos: small.Pos{Line: 1, Column: 1}, Message: fmt.Sprintf("it has %d bytes; at most %d are read", len(data), MaxGiven)}
	}
	doc, problems := small.ParseJSON(data, small.Limits{MaxFileSize: MaxGiven})
	if doc == nil {
		return nil, &problems[0]
	}
	r := &givenReader{root: doc.Root, known: map[*small.Value]named{}, definitions: map[string]any{}}
	g := &Given{Digest: sha256.Sum256(data)}
	var schema map[string]any
	g.root, schema = r.refer(doc.Root)
	for _, check := range []func(){r.checkByMeta, r.refuseCircle} {
		if r.problem == nil {
			check()
		}
	}
	if r.problem != nil {
		return nil, r.problem
	}
	schema["definitions"] = r.definitions
	loader := gojsonschema.NewSchemaLoader()
	loader.AutoDetect, loader.Draft = false, gojsonschema.Hybrid // each keyword of the drafts 4 to 7 counts
	compiled, err := loader.Compile(gojsonschema.NewRawLoader(schema))
	if err != nil {
		return nil, &small.Problem{Kind: small.ProblemSchema, Pos: doc.Root.Pos, Message: wording.Clip(err.Error())}
	}
	g.library = compiled
	return g, nil
}

// givenReader reads a schema into parts, and writes a new one for the library, in which each subschema is a definition with a number as its name, and each
// $ref names such a definition. So no address, id or pointer of the file reaches the library.
type givenReader struct {
	root        *small.Value
	known       map[*small.Value]named
	definitions map[string]any
	program     int
	problem     *small.Problem
}

type named struct {
	part *part
	name string
}

func (r *givenReader) fail(pos small.Pos, hint, format string, args ...any) {
	if r.problem == nil {
		r.problem = &small.Problem{Kind: small.ProblemSchema, Pos: pos, Hint: hint, Message: fmt.Sprintf(format, args...)}
	}
}

// metaSchema is the address of the meta-schema of a draft. The library has the meta-schemas' texts, and asks no server for them.
const metaSchema = "http://json-schema.org/draft-0%d/schema"

// checkByMeta judges the schema by the meta-schema of draft 4, if it names that draft, or else of draft 7.
func (r *givenReader) checkByMeta() {
	value, problem := plainOf(r.root)
	if problem != nil {
		r.problem = problem
		return
	}
	draft := 7
	if name, _ := r.root.Get("$schema").Str(); strings.TrimSuffix(name, "#") == fmt.Sprintf(metaSchema, 4) {
		draft = 4
	}
	meta, err := gojsonschema.NewSchema(gojsonschema.NewReferenceLoader(fmt.Sprintf(metaSchema, draft)))
	if err != nil {
		panic(fmt.Sprintf("schema: the library lacks draft %d: %v", draft, err))
	}
	if problems := (&Schema{whole: "the schema"}).validate(meta, r.root, value); len(problems) > 0 {
		r.problem = &problems[0]
	}
}

// later maps keywords of later drafts, which the library would ignore, to what to write instead.
var later = map[string]string{
	"unevaluatedProperties": "write additionalProperties", "unevaluatedItems": "write additionalItems", "prefixItems": "write a list under items",
	"dependentRequired": "write dependencies", "dependentSchemas": "write dependencies", "minContains": "write contains", "maxContains": "",
	"$anchor": "", "$dynamicAnchor": "", "$dynamicRef": "write $ref", "$recursiveAnchor": "", "$recursiveRef": "write $ref",
}

// asserting are the keywords without subschemas by which the library judges.
var asserting = []string{
	"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "format",
	"maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties", "required",
}

// holding are the keywords with subschemas.
var holding = []string{
	"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependencies", "properties", "patternProperties", "additionalProperties", "propertyNames",
	"items", "additionalItems", "contains",
}

// subschemas reads the value of a keyword with subschemas, and returns its value in the library's schema.
func (r *givenReader) subschemas(p *part, key string, v *small.Value) (out any) {
	each := map[string]any{}
	switch key {
	case "additionalProperties":
		p.others, out = r.read(v)
	case "propertyNames":
		p.names, out = r.read(v)
	case "additionalItems":
		p.more, out = r.read(v)
	case "contains":
		p.contains, out = r.read(v)
	case "items":
		if v.Kind != small.List {
			p.every, out = r.read(v)
			return out
		}
		list := make([]any, len(v.Items))
		p.first = make([]*part, len(v.Items))
		for i, item := range v.Items {
			p.first[i], list[i] = r.read(item)
		}
		return list
	case "properties":
		p.members = map[string]*part{}
		for _, f := range v.Fields {
			p.members[f.Key], each[f.Key] = r.read(f.Value)
		}
		return each
	case "patternProperties":
		for _, f := range v.Fields {
			k := keyPattern{}
			k.of, k.program = r.expression(f.KeyPos, f.Key)
			k.part, each[f.Key] = r.read(f.Value)
			p.patterns = append(p.patterns, k)
		}
		return each
	case "dependencies":
		for _, f := range v.Fields {
			if f.Value.Kind == small.List {
				each[f.Key] = r.plain(f.Value)
				p.weight += len(f.Value.Items)
			} else {
				each[f.Key] = r.sameValue(p, f.Value)
			}
		}
		return each
	default:
		return r.sameValue(p, v)
	}
	return out
}

// sameValue reads a schema, or a list of schemas, that judges the same value as the part p.
func (r *givenReader) sameValue(p *part, v *small.Value) any {
	if v.Kind == small.List {
		list := []any{}
		for _, item := range v.Items {
			list = append(list, r.sameValue(p, item))
		}
		return list
	}
	q, out := r.read(v)
	p.same = append(p.same, q)
	return out
}

// read reads a subschema, and returns its value in the library's schema.
func (r *givenReader) read(v *small.Value) (*part, any) {
	if v.Kind == small.Bool {
		return &part{}, v.IsTrue()
	}
	return r.refer(v)
}

// refer reads a subschema that is a mapping, unless it was read before, and returns a reference to its definition.
func (r *givenReader) refer(v *small.Value) (*part, map[string]any) {
	known, is := r.known[v]
	if !is {
		known = named{&part{}, strconv.Itoa(len(r.known))}
		written := map[string]any{}
		r.known[v], r.definitions[known.name] = known, written
		switch {
		case v.Kind != small.Map:
			r.fail(v.Pos, "", "a schema is expected here, not %s", v.Kind)
		case len(r.known) > maxParts:
			r.fail(v.Pos, "", "more than %d subschemas are in the file", maxParts)
		case v.Get("$ref") != nil:
			r.reference(known.part, written, v)
		}
		for i := 0; i < len(v.Fields) && r.problem == nil; i++ {
			r.keyword(known.part, written, v, &v.Fields[i])
		}
	}
	return known.part, map[string]any{"$ref": "#/definitions/" + known.name}
}

// reference follows a $ref.
func (r *givenReader) reference(p *part, written map[string]any, v *small.Value) {
	ref := v.Get("$ref")
	to, is := ref.Str()
	if !is || to != "#" && !strings.HasPrefix(to, "#/") {
		r.fail(ref.Pos, `copy what it names to "definitions" and write "#/definitions/NAME"`, "$ref is %s; only references within the file, which begin with #/, are followed", quoted(ref))
		return
	}
	target := r.root
	pointer, err := url.PathUnescape(to[1:])
	if err == nil && pointer != "" {
		for step := range strings.SplitSeq(pointer[1:], "/") {
			if target = child(target, strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")); target == nil {
				break
			}
		}
	}
	if err != nil || target == nil {
		r.fail(ref.Pos, "", "$ref is %s, which is not in the file", quoted(ref))
		return
	}
	q, out := r.read(target)
	p.same = append(p.same, q)
	written["$ref"] = out
	if to, is := out.(map[string]any); is {
		written["$ref"] = to["$ref"]
	} else {
		delete(written, "$ref")
		written["allOf"] = []any{out} // true or false
	}
}

// child returns the member or item of a value that one step of a JSON pointer (RFC 6901) names; nil if there is none.
func child(v *small.Value, step string) *small.Value {
	if v.Kind == small.Map {
		return v.Get(step)
	}
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.Items) {
		return v.Items[i]
	}
	return nil
}

// keyword reads one member of the subschema v.
func (r *givenReader) keyword(p *part, written map[string]any, v *small.Value, f *small.Field) {
	holds := slices.Contains(holding, f.Key)
	asserts := holds || slices.Contains(asserting, f.Key)
	instead, isLater := later[f.Key]
	switch {
	case f.Key == "definitions" || f.Key == "$defs":
		for _, definition := range f.Value.Fields {
			r.read(definition.Value)
		}
	case isLater:
		r.fail(f.KeyPos, instead, "the keyword %q is of a later draft than 7, and would be ignored", f.Key)
	case v != r.root && f.Value.Kind == small.String && (f.Key == "$id" || f.Key == "id"):
		r.fail(f.KeyPos, "remove it", "%q inside the schema changes where references lead", f.Key)
	case asserts && v.Get("$ref") != nil:
		r.fail(f.KeyPos, `put both into "allOf"`, "the keyword %q is ignored beside $ref", f.Key)
	case holds:
		written[f.Key] = r.subschemas(p, f.Key, f.Value)
	case asserts:
		written[f.Key] = r.assertion(p, f)
	}
}

// assertion reads a keyword without subschemas.
func (r *givenReader) assertion(p *part, f *small.Field) any {
	n := len(f.Value.Items)
	if n > maxWords {
		r.fail(f.Value.Pos, "", "%q has %d values; at most %d are read", f.Key, n, maxWords)
		return nil
	}
	p.weight += n / 50
	switch text, is := f.Value.Str(); {
	case is && f.Key == "pattern":
		_, p.program = r.expression(f.Value.Pos, text)
		p.weight += p.program / 50
	case f.Key == "enum", f.Key == "const", f.Key == "uniqueItems":
		p.whole++
	}
	return r.plain(f.Value)
}

// plain returns a value of the schema for the library; checkByMeta reports one that cannot be judged.
func (r *givenReader) plain(v *small.Value) any {
	out, _ := plainOf(v)
	return out
}

// expression reads a regular expression, and counts its instructions.
func (r *givenReader) expression(pos small.Pos, text string) (of *regexp.Regexp, program int) {
	if len(text) > maxPattern {
		r.fail(pos, "", "a regular expression has %d bytes; at most %d are read", len(text), maxPattern)
		return nil, 0
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	var compiled *syntax.Prog
	if err == nil {
		compiled, err = syntax.Compile(parsed.Simplify())
	}
	if err != nil {
		r.fail(pos, "the syntax is that of RE2, without lookahead and backreferences", "%s is no regular expression: %v", strconv.Quote(wording.Clip(text)), err)
		return nil, 0
	}
	program = len(compiled.Inst)
	if r.program += program; program > maxInstructions || r.program > maxProgram {
		r.fail(pos, "repeat less: a{1000} is a thousand steps", "the regular expression %s is too large by itself, or together with those before it", strconv.Quote(wording.Clip(text)))
		return nil, 0
	}
	return regexp.MustCompile(text), program
}

// refuseCircle refuses a schema in which a subschema leads back to itself for the same value: the library would not end.
func (r *givenReader) refuseCircle() {
	const open, done = 1, 2
	var follow func(p *part) bool
	follow = func(p *part) bool {
		if p.state == 0 {
			p.state = open
			for _, q := range p.same {
				if !follow(q) {
					return false
				}
			}
			p.state = done
		}
		return p.state == done
	}
	places := make([]small.Pos, 0, len(r.known))
	for v, known := range r.known {
		if !follow(known.part) {
			places = append(places, v.Pos)
		}
	}
	if len(places) > 0 {
		pos := slices.MinFunc(places, func(a, b small.Pos) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
		r.fail(pos, "", "the schema leads back to itself for the same value, by $ref, allOf, anyOf, oneOf, not, if, then, else or dependencies")
	}
}
