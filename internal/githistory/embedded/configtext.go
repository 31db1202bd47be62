package embedded

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/expression"
)

// setting is a line of configuration. The section and the key are in lower case; a key without an equals sign has an empty value.
type setting struct{ section, subsection, key, value string }

// config is what a file sets, section by section, each in the file's order.
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

// plainLine is a line of configuration that every program reads alike: a section, perhaps with a subsection, a key, or a key with a value,
// and a comment. Values with escapes, or in quotes in part, are left to git (git-config(1), SYNTAX).
var plainLine = expression.Of(`^[ \t]*(\[[A-Za-z][0-9A-Za-z-]*( "[^"\\[:cntrl:]]+")?\]|[A-Za-z][0-9A-Za-z-]*([ \t]*=([^"\\;#[:cntrl:]]*|[ \t]*"[^"\\[:cntrl:]]*"))?)?[ \t]*([#;][^[:cntrl:]]*)?$`)

// parseConfig reads the text of a file of configuration, if it is plain. TestConfigAsGitReadsIt and FuzzConfig hold it to git.
func parseConfig(data []byte) (out config, err error) {
	inSection := false
	for n, line := range bytes.Split(data, []byte("\n")) {
		at := bytes.TrimLeft(line, " \t")
		key := len(at) > 0 && !bytes.ContainsAny(at[:1], "[#;")
		if !plainLine().Match(line) || key && !inSection {
			return nil, fmt.Errorf("line %d is one that git has to read", n+1)
		}
		inSection = inSection || len(at) > 0 && at[0] == '['
	}
	decoded := format.New()
	if err := format.NewDecoder(bytes.NewReader(data)).Decode(decoded); err != nil {
		return nil, err
	}
	for _, s := range decoded.Sections {
		out = slices.Concat(out, settings(s.Name, "", s.Options))
		for _, sub := range s.Subsections {
			out = slices.Concat(out, settings(s.Name, sub.Name, sub.Options))
		}
	}
	return out, nil
}

func settings(section, subsection string, options format.Options) (out config) {
	for _, o := range options {
		out = append(out, setting{strings.ToLower(section), subsection, strings.ToLower(o.Key), o.Value})
	}
	return out
}
