package embedded

import (
	"errors"
	"fmt"
	"strings"
)

// setting is a line of configuration. The section and the key are in lower case; a key without an equals sign has an empty value.
type setting struct{ section, subsection, key, value string }

// config is what a file sets, in its order.
type config []setting

// all are the values of a key.
func (c config) all(section, subsection, key string) []string {
	var values []string
	for _, s := range c {
		if s.section == section && s.subsection == subsection && s.key == key {
			values = append(values, s.value)
		}
	}
	return values
}

// last is the value of a key that counts, in a section that has no subsection.
func (c config) last(section, key string) (value string, set bool) {
	values := c.all(section, "", key)
	if len(values) == 0 {
		return "", false
	}
	return values[len(values)-1], true
}

// configText reads the text of a file of configuration as git does (git-config(1), SYNTAX). TestConfigAsGitReadsIt and FuzzConfig
// hold it to git.
type configText struct {
	rest                string
	section, subsection string
}

func parseConfig(data []byte) (config, error) {
	t := &configText{rest: strings.TrimPrefix(string(data), "\ufeff")}
	if strings.ContainsRune(t.rest, 0) {
		return nil, errors.New("it contains a NUL byte")
	}
	// git takes CRLF for a line's end, and the end of the file too.
	t.rest = strings.ReplaceAll(t.rest, "\r\n", "\n") + "\n"
	text := t.rest
	var out config
	for {
		t.rest = strings.TrimLeft(t.rest, " \t\r\n")
		if t.rest == "" {
			return out, nil
		}
		before := text[:len(text)-len(t.rest)]
		ok := true
		switch t.rest[0] {
		case '#', ';':
			_, t.rest, _ = strings.Cut(t.rest, "\n")
		case '[':
			ok = t.header()
		default:
			s := setting{section: t.section, subsection: t.subsection}
			if ok = t.setting(&s); ok {
				out = append(out, s)
			}
		}
		if !ok {
			return nil, fmt.Errorf("line %d", 1+strings.Count(before, "\n"))
		}
	}
}

// word cuts off the letters, digits, hyphens and others that come next, in lower case.
func (t *configText) word(others string) string {
	n := 0
	for n < len(t.rest) && isKeyByte(t.rest[n], others) {
		n++
	}
	word := strings.ToLower(t.rest[:n])
	t.rest = t.rest[n:]
	return word
}

func isKeyByte(c byte, others string) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || strings.IndexByte(others, c) >= 0
}

// header reads [section], [section.subsection] or [section "subsection"].
func (t *configText) header() bool {
	t.rest = t.rest[1:]
	var dotted bool
	t.section, t.subsection, dotted = strings.Cut(t.word("."), ".")
	quoted := strings.TrimLeft(t.rest, " \t\r")
	if t.section == "" || dotted && t.subsection == "" { // to git, [a.] is another section than [a]
		return false
	}
	if len(quoted) == len(t.rest) {
		t.rest = t.rest[1:]
		return quoted[0] == ']'
	}
	if quoted[0] != '"' || t.subsection != "" {
		return false
	}
	var name strings.Builder
	for i := 1; i+1 < len(quoted) && quoted[i] != '\n'; i++ {
		switch quoted[i] {
		case '"':
			t.subsection, t.rest = name.String(), quoted[i+2:]
			return quoted[i+1] == ']' && t.subsection != ""
		case '\\':
			if i++; quoted[i] == '\n' {
				return false
			}
		}
		name.WriteByte(quoted[i])
	}
	return false
}

// setting reads a key and its value.
func (t *configText) setting(s *setting) bool {
	s.key = t.word("")
	if t.section == "" || s.key == "" || s.key[0] < 'a' || s.key[0] > 'z' {
		return false
	}
	t.rest = strings.TrimLeft(t.rest, " \t")
	c := t.rest[0]
	t.rest = t.rest[1:]
	return c == '\n' || c == '=' && t.value(&s.value)
}

// value reads up to the end of the line. Space around the value is dropped, space inside it is kept.
func (t *configText) value(out *string) bool {
	var value, space []byte
	quoted := false
	for i := 0; i < len(t.rest); i++ {
		c := t.rest[i]
		switch {
		case c == '\n':
			*out, t.rest = string(value), t.rest[i+1:]
			return !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if len(value) > 0 {
				space = append(space, c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			i += strings.IndexByte(t.rest[i:], '\n') - 1
			continue
		}
		value, space = append(value, space...), nil
		switch {
		case c == '"':
			quoted = !quoted
		case c != '\\':
			value = append(value, c)
		default:
			i++
			if t.rest[i] == '\n' {
				continue
			}
			escape := strings.IndexByte("tbn\\\"", t.rest[i])
			if escape < 0 {
				return false
			}
			value = append(value, "\t\b\n\\\""[escape])
		}
	}
	*out, t.rest = string(value), "" // the last line ends in a backslash
	return !quoted
}
