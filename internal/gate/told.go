package gate

import (
	"crypto/sha256"

	"github.com/small-gate/small-gate/internal/small"
)

// maxTold bounds how many edits are remembered: more than any one log has
// entries. An edit past it that is seen on two edges is counted twice.
const maxTold = 1 << 20

// toldEdits are the edits that findings spoke of, and how loudly. There may be
// a million, so they are kept as short as can be.
type toldEdits map[toldEdit]uint8

// toldEdit is an editKey, with digests instead of their texts.
type toldEdit struct {
	path     string
	from, to small.Digest // zero where there is none
}

// How loudly an edit was told: an index of severities.
var loudness = [...]Severity{SeverityWarning, SeverityError, severityWaived}

func shortKey(k editKey) toldEdit {
	return toldEdit{path: k.path, from: shortText(k.from), to: shortText(k.to)}
}

// shortText is the digest that a text writes, or the digest of the text.
func shortText(text string) small.Digest {
	if text == "" {
		return small.Digest{}
	}
	if d, err := small.ParseDigest(text); err == nil {
		return d
	}
	return sha256.Sum256([]byte(text))
}

// of returns how loudly an edit was told; false if it was not.
func (t toldEdits) of(k editKey) (Severity, bool) {
	i, told := t[shortKey(k)]
	return loudness[i], told
}

// note remembers that an edit was told. What was only a warning can become
// louder, and nothing else can.
func (t toldEdits) note(k editKey, s Severity) {
	short := shortKey(k)
	before, told := t[short]
	if told && loudness[before] != SeverityWarning || !told && len(t) >= maxTold {
		return
	}
	for i := range loudness {
		if loudness[i] == s {
			t[short] = uint8(i)
		}
	}
}
