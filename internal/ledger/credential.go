package ledger

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// Credential is a credential in an entry. It holds no part of the value but Prefix.
type Credential struct {
	// Kind is the vendor and the kind. Prefix is the literal with which the value begins; empty if its kind has none.
	Kind, Prefix string
	// Field is the dotted path inside the entry.
	Field string
	Pos   small.Pos
}

// HasCredential reports whether an entry has a credential.
func HasCredential(e Entry) bool { return len(e.Credentials) > 0 }

// maxCredentials bounds how many an entry lists.
const maxCredentials = 10

// mayHoldCredential reports quickly whether a value, or one inside it, may hold a credential.
func mayHoldCredential(v *small.Value) bool {
	if secret.Suspected(v.Text) || slices.ContainsFunc(v.Items, mayHoldCredential) {
		return true
	}
	for i := range v.Fields {
		if secret.Suspected(v.Fields[i].Key) || mayHoldCredential(v.Fields[i].Value) {
			return true
		}
	}
	return false
}

// credentialsOf finds the credentials in the keys and values of an entry, at any depth.
func credentialsOf(entry *small.Value) []Credential {
	if !mayHoldCredential(entry) {
		return nil
	}
	var found []Credential
	var path []string
	add := func(matches []secret.Match, text string, pos small.Pos) {
		for _, m := range matches {
			if len(found) == maxCredentials {
				return
			}
			found = append(found, Credential{
				Kind: m.Shape.Name, Prefix: m.Shape.Prefix(text[m.Start:m.End]), Field: strings.Join(path, "."), Pos: pos,
			})
		}
	}
	var search func(key string, v *small.Value)
	search = func(key string, v *small.Value) {
		if v.Text != "" {
			add(secret.FindValue(key, v.Text), v.Text, v.Pos)
		}
		depth := len(path)
		for i, item := range v.Items {
			path = append(path[:depth], strconv.Itoa(i))
			search(key, item)
		}
		for i := range v.Fields {
			f := &v.Fields[i]
			path = append(path[:depth], wording.Clip(f.Key))
			add(secret.Find(f.Key), f.Key, f.KeyPos)
			search(f.Key, f.Value)
		}
		path = path[:depth]
	}
	search("", entry)
	return slices.Clip(found)
}

// Masked returns an entry with the credentials in its keys and values masked; the entry itself if it has none.
func Masked(entry *small.Value) *small.Value {
	out, _ := masked("", entry)
	return out
}

// masked returns a field's value with its credentials masked, and the kind of the first one; the value itself if it has none.
func masked(key string, v *small.Value) (out *small.Value, kind string) {
	if v == nil || !secret.Suspected(key) && !mayHoldCredential(v) {
		return v, ""
	}
	all := *v
	all.Items, all.Fields = slices.Clone(v.Items), slices.Clone(v.Fields)
	if all.Text, kind = secret.MaskKind(key, v.Text); kind != "" {
		all.Kind, all.Tag, all.Plain = small.String, "!!str", false
	}
	var held string
	for i, item := range all.Items {
		all.Items[i], held = masked(key, item)
		kind = cmp.Or(kind, held)
	}
	for i := range all.Fields {
		f := &all.Fields[i]
		f.Value, held = masked(f.Key, f.Value)
		kind = cmp.Or(kind, held)
		f.Key, held = secret.MaskKind("", f.Key)
		kind = cmp.Or(kind, held)
	}
	if kind == "" {
		return v, ""
	}
	return &all, kind
}
