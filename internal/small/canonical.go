package small

import (
	"cmp"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// appendCanonical appends a value's canonical JSON (RFC 8785). A number that a
// double does not hold and a scalar that JSON lacks are written as their tag
// followed by their source text as a JSON string. That is deliberately no
// JSON: no other value can then have the same bytes.
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

func appendObject(out []byte, v *Value) []byte {
	fields := slices.Clone(v.Fields)
	slices.SortFunc(fields, func(a, b Field) int { return compareKeys(a.Key, b.Key) })
	out = append(out, '{')
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, f.Key), ':')
		out = appendCanonical(out, f.Value)
	}
	return append(out, '}')
}

// compareKeys orders member names by their UTF-16 code units (RFC 8785,
// section 3.2.3), which differs from the order of code points only between
// characters above U+FFFF and those from U+E000 to U+FFFF.
func compareKeys(a, b string) int {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			if c := cmp.Compare(leadUnit(ra), leadUnit(rb)); c != 0 {
				return c
			}
			return cmp.Compare(ra, rb)
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

// leadUnit is the first UTF-16 code unit of a character.
func leadUnit(r rune) rune {
	if lead, _ := utf16.EncodeRune(r); lead != utf8.RuneError {
		return lead
	}
	return r
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string as RFC 8785 does (section 3.2.2.2): only
// quotes, backslashes and control characters are escaped.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			_, n := utf8.DecodeRuneInString(s[i:])
			out = append(out, s[i:i+n]...)
			i += n
			continue
		}
		i++
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
			if c < 0x20 {
				out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			} else {
				out = append(out, c)
			}
		}
	}
	return append(out, '"')
}

// Canonical is the value's canonical form, which its digest is taken of.
func (v *Value) Canonical() string { return string(appendCanonical(nil, v)) }

// Display is the value as text for people: a string's content, otherwise its
// canonical form.
func (v *Value) Display() string {
	if v.Kind == String {
		return v.Text
	}
	return v.Canonical()
}
