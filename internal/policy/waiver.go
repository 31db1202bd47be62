package policy

import (
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// Covers reports whether the waiver is about this edit: the rule, the path of
// the log, and the digests before and after, nil where there is none. It does
// not ask whether the waiver has expired.
func (w Waiver) Covers(rule, path string, from, to *small.Digest) bool {
	return w.Rule == rule && w.Path == path && sameDigest(w.From, from) && sameDigest(w.To, to)
}

// WaiverFor returns the waiver that excuses an edit at the time now, nil if
// there is none or it has expired.
func (p *Policy) WaiverFor(rule, path string, from, to *small.Digest, now time.Time) *Waiver {
	for i := range p.Waivers {
		if w := &p.Waivers[i]; w.Covers(rule, path, from, to) && !w.Expired(now) {
			return w
		}
	}
	return nil
}

// edit is what tells the edits of waivers apart.
func (w Waiver) edit() string {
	return w.Rule + "\x00" + w.Path + "\x00" + digestText(w.From) + "\x00" + digestText(w.To)
}

func sameDigest(a, b *small.Digest) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func digestText(d *small.Digest) string {
	if d == nil {
		return ""
	}
	return d.String()
}
