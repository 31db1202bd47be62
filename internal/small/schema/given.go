package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// MaxGiven is the size limit for a repository's own schema, in bytes.
const MaxGiven = 1 << 20

// The limits for a repository's own schema. The library compares each value of enum and required with all those before it, compiles the patterns of keys
// again for each key, and judges by a subschema as often as something refers to it.
const (
	maxParts        = 10_000  // subschemas
	maxWords        = 5_000   // values of one enum or required
	maxPattern      = 1_000   // bytes of a regular expression
	maxInstructions = 10_000  // instructions of a compiled regular expression
	maxProgram      = 100_000 // instructions of all regular expressions
	maxSteps        = 200_000 // comparisons of a value with a subschema, for one entry
	bytesPerStep    = 1_000   // bytes that one instruction reads, or that are written once, in the time of a step
)

// Given is a repository's own JSON Schema. Whatever its text says, judging by it ends soon, reads no other file and asks no server.
type Given struct {
	// Digest is the sha256 of the text.
	Digest  small.Digest
	root    *part
	library *gojsonschema.Schema
}

// part is a subschema, as far as it decides how much work it takes to judge a value.
type part struct {
	// same are the subschemas that judge the same value: those of allOf, the one that $ref names, and so on.
	same []*part
	// members, patterns, others and names are subschemas for objects; first, every, more and contains are for lists.
	members        map[string]*part
	patterns       []keyPattern
	others, names  *part
	first          []*part
	every          *part
	more, contains *part
	// weight is the work of all other keywords, whatever the value is.
	weight int
	// program are the instructions of the pattern, which each byte of a text passes through.
	program int
	// whole counts the keywords that write all of a value: enum, const and uniqueItems.
	whole int
	// state is used by refuseCircle.
	state uint8
}

type keyPattern struct {
	of      *regexp.Regexp
	program int
	part    *part
}

// Check judges a value. It returns the problems in a fixed order, with those of anyOf, if and the like, which say little, at the end.
func (g *Given) Check(v *small.Value) []small.Problem {
	value, problem := plainOf(v)
	if problem != nil {
		return []small.Problem{*problem}
	}
	if w := (&work{left: maxSteps, known: map[judgement]int{}, sizes: map[*small.Value]int{}}); w.stepsFor(g.root, v) > maxSteps {
		return []small.Problem{{Kind: small.ProblemSchema, Pos: v.Pos, Message: fmt.Sprintf("judging it takes more than %d steps; make the entry smaller, or the schema simpler", maxSteps)}}
	}
	return (&Schema{whole: "the entry"}).validate(g.library, v, value)
}

// validate returns the problems that the library finds in a value.
func (s *Schema) validate(library *gojsonschema.Schema, v *small.Value, value any) []small.Problem {
	result, err := library.Validate(gojsonschema.NewRawLoader(value))
	if err != nil {
		panic(fmt.Sprintf("schema: a value could not be judged: %v", err)) // only loading a value can fail, and this one is loaded
	}
	type ranked struct {
		small.Problem
		vague bool
	}
	var all []ranked
	for _, e := range result.Errors() {
		const separator = "\x00/\x00"
		path := strings.Split(e.Context().String(separator), separator)[1:]
		vague := false
		switch e.(type) {
		case *gojsonschema.NumberAnyOfError, *gojsonschema.NumberOneOfError, *gojsonschema.NumberAllOfError, *gojsonschema.ConditionThenError, *gojsonschema.ConditionElseError:
			vague = true
		}
		all = append(all, ranked{s.problem(path, v.At(path), e), vague})
	}
	slices.SortFunc(all, func(x, y ranked) int { // the library's order is random
		rank := func(vague bool) int {
			if vague {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(rank(x.vague), rank(y.vague)), cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column),
			cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Message, y.Message))
	})
	var out []small.Problem
	for i, p := range all {
		if i == 0 || p.Message != all[i-1].Message {
			out = append(out, p.Problem)
		}
	}
	return out
}

// plainOf returns a value in the Go types that encoding/json uses. A date of YAML becomes a text. Other scalars that JSON lacks, and numbers that no
// double comes near, are a problem: the library takes hours for some numbers, and ends the program for others.
func plainOf(v *small.Value) (any, *small.Problem) {
	switch v.Kind {
	case small.Null:
		return nil, nil
	case small.Bool:
		return v.IsTrue(), nil
	case small.String:
		return v.Text, nil
	case small.Number:
		if text, ok := v.Double(); ok {
			return json.Number(text), nil
		}
	case small.Other:
		if v.Tag == small.TimestampTag {
			return v.Text, nil
		}
	case small.List:
		out := make([]any, len(v.Items))
		for i, item := range v.Items {
			var problem *small.Problem
			if out[i], problem = plainOf(item); problem != nil {
				return nil, problem
			}
		}
		return out, nil
	case small.Map:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			if !f.HasStringKey() {
				return nil, &small.Problem{Kind: small.ProblemSchema, Pos: f.KeyPos, Message: fmt.Sprintf("the key %q is no string", wording.Clip(f.Key))}
			}
			var problem *small.Problem
			if out[f.Key], problem = plainOf(f.Value); problem != nil {
				return nil, problem
			}
		}
		return out, nil
	}
	return nil, &small.Problem{Kind: small.ProblemSchema, Pos: v.Pos, Message: fmt.Sprintf("%s is %s, which no schema can judge", wording.Clip(v.Text), unjudged[v.Kind])}
}

var unjudged = map[small.Kind]string{small.Number: "a number beyond those of computers", small.Other: small.Other.String()}

// work estimates the steps that the library would take to judge a value.
type work struct {
	left  int
	known map[judgement]int
	sizes map[*small.Value]int
}

type judgement struct {
	part  *part
	value *small.Value
}

// sizeOf returns about how many bytes a value is written with.
func (w *work) sizeOf(v *small.Value) int {
	n, known := w.sizes[v]
	if !known {
		n = len(v.Text) + 1
		for _, item := range v.Items {
			n += w.sizeOf(item)
		}
		for _, f := range v.Fields {
			n += len(f.Key) + w.sizeOf(f.Value)
		}
		w.sizes[v] = n
	}
	return n
}

// stepsFor returns the number of steps for a value, or some number above maxSteps.
func (w *work) stepsFor(p *part, v *small.Value) int {
	if p == nil {
		return 0
	}
	if n, known := w.known[judgement{p, v}]; known {
		return n
	}
	if w.left--; w.left < 0 {
		return maxSteps + 1
	}
	n := 1 + p.weight + p.program*len(v.Text)/bytesPerStep
	if p.whole > 0 {
		n += p.whole * w.sizeOf(v) / bytesPerStep
	}
	add := func(p *part, v *small.Value) { n = min(n+w.stepsFor(p, v), maxSteps+1) }
	for _, q := range p.same {
		add(q, v)
	}
	for i, item := range v.Items {
		add(p.every, item)
		add(p.contains, item)
		switch {
		case i < len(p.first):
			add(p.first[i], item)
		case len(p.first) > 0:
			add(p.more, item)
		}
	}
	for _, f := range v.Fields {
		n = min(n+len(p.members)/50, maxSteps+1)
		if p.names != nil {
			add(p.names, &small.Value{Kind: small.String, Text: f.Key})
		}
		member := p.members[f.Key]
		add(member, f.Value)
		matched := member != nil
		for _, k := range p.patterns {
			if n += 1 + k.program/50 + k.program*len(f.Key)/bytesPerStep; n > maxSteps {
				return n
			}
			if k.of.MatchString(f.Key) {
				matched = true
				add(k.part, f.Value)
			}
		}
		if !matched {
			add(p.others, f.Value)
		}
	}
	w.known[judgement{p, v}] = n
	return n
}
