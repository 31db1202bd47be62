// Package records reads the records of SMALL's session profile, 2.0.0: immutable JSON files below .small.
package records

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// Version is the small_version of the profile.
const Version = "2.0.0"

// ProfileFile is the name, below .small, of the file that every workspace of the profile has.
const ProfileFile = "profile.json"

// Kind is what a file below .small is.
type Kind string

// The kinds of files that never change. A foreign file lies in a folder for them, but is none.
const (
	Profile  Kind = "profile"
	Session  Kind = "session"
	Event    Kind = "event"
	Receipt  Kind = "receipt"
	Manifest Kind = "manifest"
	Blob     Kind = "blob"
	Original Kind = "original"
	Foreign  Kind = "foreign"
)

// KindOf returns the kind of the file with a name below .small; empty for one that may change, or that the profile
// does not know.
func KindOf(name string) Kind {
	if name == ProfileFile {
		return Profile
	}
	folder, rest, _ := strings.Cut(name, "/")
	if rest == "" {
		return ""
	}
	stem, isJSON := strings.CutSuffix(rest, ".json")
	first, second, nested := strings.Cut(stem, "/")
	kind, valid := Kind(""), false
	switch folder {
	case "sessions":
		kind, valid = Session, isJSON && first != "" && !nested
	case "events":
		kind, valid = Event, isJSON && first != "" && second != "" && !strings.Contains(second, "/")
	case "receipts":
		kind, valid = Receipt, isJSON && first == "sha256" && isDigest(second)
	case "evidence":
		sum, found := strings.CutPrefix(rest, "blobs/sha256/")
		kind, valid = Blob, found && isDigest(sum)
	case "imports":
		id, below, _ := strings.Cut(strings.TrimPrefix(rest, "v1/"), "/")
		original, found := strings.CutPrefix(below, "originals/")
		kind, valid = Manifest, below == "manifest.json"
		if found {
			kind, valid = Original, original != ""
		}
		valid = valid && id != "" && strings.HasPrefix(rest, "v1/")
	default:
		return ""
	}
	if !valid {
		return Foreign
	}
	return kind
}

// IsImmutable reports whether a name below .small is that of a file that never changes, or of a folder for such files.
func IsImmutable(name string) bool { return KindOf(name) != "" || KindOf(name+"/-") != "" }

// isDigest reports whether a text is a sha256 in lower case.
func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// MaxSize returns how many bytes of a file of this kind the protocol's own program reads at most. An original has no
// such bound, and gets limit.
func (k Kind) MaxSize(limit int64) int64 {
	switch k {
	case Blob:
		return 64 << 20
	case Original:
		return limit
	}
	return 1 << 20
}

// ImportOf returns the folder, below .small, of the import that a file belongs to; empty for any other file.
func ImportOf(name string) string {
	below, found := strings.CutPrefix(name, importsFolder)
	id, _, inside := strings.Cut(below, "/")
	if !found || !inside {
		return ""
	}
	return importsFolder + id
}

// OriginalLog returns the name, below .small, of the migrated log in an import's folder.
func OriginalLog(folder string) string { return folder + "/originals/" + small.Progress.FileName() }

// IsOriginalLog reports whether a name below .small is that of a migrated log.
func IsOriginalLog(name string) bool {
	return KindOf(name) == Original && name == OriginalLog(ImportOf(name))
}

// VersionOf returns the version in the text of a profile; empty if there is none.
func VersionOf(text []byte) string {
	var profile struct {
		Version string `json:"small_version"`
	}
	if json.Unmarshal(text, &profile) != nil {
		return ""
	}
	return profile.Version
}

// IsProfile2 reports whether a version is that of a workspace of 2.0.0. It fails for a profile that the gate does not know. path is that of the profile.
func IsProfile2(path, version string) (bool, error) {
	switch version {
	case Version:
		return true, nil
	case "", small.Version:
		return false, nil
	}
	return false, &failure.Error{
		Message: fmt.Sprintf("%s is of the profile %.40q; small-gate knows %s and %s", path, version, small.Version, Version),
		Remedy:  "use a version of small-gate that knows the profile; or, if the version was a mistake, put the file back as it was",
	}
}

// UnsupportedCommand returns the error of a command that works only in workspaces of 1.0.0. instead says what to type.
func UnsupportedCommand(command, instead string) error {
	return &failure.Error{
		Message: command + " does not work in a workspace of SMALL " + Version + ": the protocol's own program writes its records", Remedy: instead,
	}
}
