package records

import (
	"strings"
	"testing"
)

func TestKindOf(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	for name, want := range map[string]Kind{
		"profile.json": Profile, "policy/intent.small.yml": "", "events": "", "progress.small.yml": "", "a/events/s/e.json": "",
		"sessions/s.json": Session, "sessions/.json": Foreign, "sessions/s.yml": Foreign, "sessions/a/s.json": Foreign,
		"events/s/e.json": Event, "events/s/.json": Foreign, "events/e.json": Foreign, "events/s/t/e.json": Foreign, "events/s/t/u/v/e.json": Foreign,
		"receipts/sha256/" + sum + ".json": Receipt, "receipts/sha256/" + sum[1:] + ".json": Foreign, "receipts/sha256/" + strings.ToUpper(sum) + ".json": Foreign,
		"evidence/blobs/sha256/" + sum: Blob, "evidence/blobs/sha256/" + sum + ".json": Foreign, "evidence/note.txt": Foreign,
		"imports/v1/i/manifest.json": Manifest, "imports/v1/i/originals/progress.small.yml": Original, "imports/v1/i/originals/runs/1/a/b": Original,
		"imports/v1/i/other": Foreign, "imports/v1/originals/a": Foreign, "imports/v2/i/manifest.json": Foreign,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestImportOf(t *testing.T) {
	for name, want := range map[string]string{
		"imports/v1/i/manifest.json": "imports/v1/i", "imports/v1/i/originals/runs/1/a": "imports/v1/i", "imports/v1/i": "",
		"evidence/blobs/sha256/0": "", "events/s/t/e.json": "", "profile.json": "", "imports/v2/i/manifest.json": "",
	} {
		if got := ImportOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
