package small

import (
	"cmp"
	"slices"
)

// appendCanonical appends a value's canonical JSON (RFC 8785). A number that a double does not hold and a scalar that
// JSON lacks are written as their tag and their source text as a JSON string. That is deliberately not JSON, so that
// no other value has the same bytes. A key that is not a string is written like a value; it differs from every string
// key, which begins with a quote.
func appendCanonical(out []byte, v *Value) []byte {
	switch v.Kind {
	case Null:
		return append(out, "null"...)
	case Bool:
		if v.truth {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	case String:
		return appendString(out, v.Text)
	case Number:
		if text, ok := canonicalNumber(v); ok {
			return append(out, text...)
		}
	case List:
		out = append(out, '[')
		for i, item := range v.Items {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, item)
		}
		return append(out, ']')
	case Map:
		return appendObject(out, v)
	}
	out = append(out, v.Tag...)
	return appendString(out, v.Text)
}

// JSONString writes a text as a JSON string in its canonical form (RFC 8785, section 3.2.2.2).
func JSONString(text string) string { return string(appendString(nil, text)) }

func appendObject(out []byte, v *Value) []byte {
	fields := v.Fields
	if !slices.IsSortedFunc(fields, compareFields) {
		fields = slices.Clone(fields)
		slices.SortFunc(fields, compareFields)
	}
	out = append(out, '{')
	for i := range fields {
		f := &fields[i]
		if i > 0 {
			out = append(out, ',')
		}
		if f.HasStringKey() {
			out = appendString(out, f.Key)
		} else {
			out = append(out, f.NonStringKey...)
		}
		out = appendCanonical(append(out, ':'), f.Value)
	}
	return append(out, '}')
}

func compareFields(a, b Field) int {
	return cmp.Or(cmp.Compare(a.NonStringKey, b.NonStringKey), compareKeys(a.Key, b.Key))
}

// compareKeys orders member names by their UTF-16 code units (RFC 8785,
// section 3.2.3). UTF-8 has the same order with one exception: in UTF-16 the
// characters above U+FFFF, whose first byte here is at least 0xF0, come before
// those from U+E000 to U+FFFF, whose first byte is 0xEE or 0xEF.
func compareKeys(a, b string) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		switch {
		case x == y:
		case x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0):
			return cmp.Compare(y, x)
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// mustEscape is true for the bytes that a JSON string must escape.
var mustEscape = func() (out [256]bool) {
	for c := range byte(' ') {
		out[c] = true
	}
	out['"'], out['\\'] = true, true
	return out
}()

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string as RFC 8785 does (section 3.2.2.2): only
// quotes, backslashes and control characters are escaped.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if !mustEscape[c] {
			continue
		}
		out = append(out, s[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\t':
			out = append(out, `\t`...)
		case '\n':
			out = append(out, `\n`...)
		case '\f':
			out = append(out, `\f`...)
		case '\r':
			out = append(out, `\r`...)
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(out, s[done:]...), '"')
}

// Canonical returns the value's canonical form, from which its digest is computed.
func (v *Value) Canonical() string { return string(appendCanonical(nil, v)) }

// Display returns the value as text for people: a string's content, otherwise its
// canonical form.
func (v *Value) Display() string {
	if v.Kind == String {
		return v.Text
	}
	return v.Canonical()
}
