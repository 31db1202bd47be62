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

// MaxGiven is the size of the largest schema of a repository that is read, in bytes.
const MaxGiven = 1 << 20

// What a schema of a repository may cost. The library compares each value of enum and required with all before it, compiles the patterns of
// keys again for each key, and judges by a subschema as often as it is referred to.
const (
	maxParts        = 10_000  // subschemas
	maxWords        = 5_000   // values of one enum or required
	maxPattern      = 1_000   // bytes of a regular expression
	maxInstructions = 10_000  // of a compiled regular expression
	maxProgram      = 100_000 // instructions of all of them
	maxSteps        = 200_000 // comparisons of a value with a subschema, for one entry
)

// Given is a JSON Schema that a repository brings along. Whatever its text says, judging by it ends soon, reads no other file and asks no
// server.
type Given struct {
	// Digest is that of the text.
	Digest  small.Digest
	root    *part
	library *gojsonschema.Schema
}

// part is what a subschema asks for, as far as it decides how much work a value is.
type part struct {
	// same are judged by the same value: those of allOf, the one that $ref names, and so on.
	same []*part
	// members, patterns, others and names are for objects; first, every, more and contains for lists.
	members        map[string]*part
	patterns       []keyPattern
	others, names  *part
	first          []*part
	every          *part
	more, contains *part
	// weight is the work of all other keywords.
	weight int
	// state is used while circles are looked for.
	state uint8
}

type keyPattern struct {
	of     *regexp.Regexp
	weight int
	part   *part
}

// Check judges a value. It returns the problems in a fixed order; the ones that say most come first.
func (g *Given) Check(v *small.Value) []small.Problem {
	value, problem := plainOf(v)
	if problem != nil {
		return []small.Problem{*problem}
	}
	if w := (&work{left: maxSteps, known: map[judgement]int{}}); w.of(g.root, v) > maxSteps {
		return []small.Problem{{Kind: small.ProblemSchema, Pos: v.Pos, Message: fmt.Sprintf("judging it takes more than %d steps; make the entry smaller, or the schema simpler", maxSteps)}}
	}
	return (&Schema{whole: "the entry"}).found(g.library, v, value)
}

// found is what the library finds in a value.
func (s *Schema) found(library *gojsonschema.Schema, v *small.Value, value any) []small.Problem {
	result, err := library.Validate(gojsonschema.NewRawLoader(value))
	if err != nil {
		panic(fmt.Sprintf("schema: a value could not be judged: %v", err)) // only loading one can fail
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
	slices.SortFunc(all, func(x, y ranked) int { // the library walks maps in no order
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

// plainOf returns a value as the Go types that encoding/json uses. A date of YAML is a text, as it is to JSON; another scalar that JSON lacks, and
// a number that no double comes near, cannot be judged: the library would take hours for some, and ends the program for others.
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

// work counts the steps that the library takes to judge a value, without taking them.
type work struct {
	left  int
	known map[judgement]int
}

type judgement struct {
	part  *part
	value *small.Value
}

var someName = &small.Value{Kind: small.String}

// of returns the number of steps for a value, or some number above maxSteps.
func (w *work) of(p *part, v *small.Value) int {
	if p == nil {
		return 0
	}
	if n, known := w.known[judgement{p, v}]; known {
		return n
	}
	if w.left--; w.left < 0 {
		return maxSteps + 1
	}
	n := 1 + p.weight
	add := func(p *part, v *small.Value) { n = min(n+w.of(p, v), maxSteps+1) }
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
		add(p.names, someName)
		member := p.members[f.Key]
		add(member, f.Value)
		matched := member != nil
		for _, k := range p.patterns {
			n = min(n+1+k.weight, maxSteps+1)
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
