// Package records reads the records of SMALL's session profile, 2.0.0: immutable JSON files below .small.
package records

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// Version is the small_version of the profile.
const Version = "2.0.0"

// ProfileFile is the name below .small of the file that makes a workspace one of the profile.
const ProfileFile = "profile.json"

// Kind is what a file below .small is.
type Kind string

// The kinds of files that never change. A foreign file is where only records may be.
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

// KindOf is the kind of a file by its name below .small; empty for one that may change, or is not one of the profile's.
func KindOf(name string) Kind {
	if name == ProfileFile {
		return Profile
	}
	folder, rest, _ := strings.Cut(name, "/")
	if rest == "" {
		return ""
	}
	stem, isJSON := strings.CutSuffix(rest, ".json")
	in, last, deep := strings.Cut(stem, "/")
	kind, is := Kind(""), false
	switch folder {
	case "sessions":
		kind, is = Session, isJSON && in != "" && !deep
	case "events":
		kind, is = Event, isJSON && in != "" && last != "" && !strings.Contains(last, "/")
	case "receipts":
		kind, is = Receipt, isJSON && in == "sha256" && isDigest(last)
	case "evidence":
		sum, found := strings.CutPrefix(rest, "blobs/sha256/")
		kind, is = Blob, found && isDigest(sum)
	case "imports":
		id, below, _ := strings.Cut(strings.TrimPrefix(rest, "v1/"), "/")
		original, found := strings.CutPrefix(below, "originals/")
		kind, is = Manifest, below == "manifest.json"
		if found {
			kind, is = Original, original != ""
		}
		is = is && id != "" && strings.HasPrefix(rest, "v1/")
	default:
		return ""
	}
	if !is {
		return Foreign
	}
	return kind
}

// IsImmutable reports whether a name below .small is that of a file that never changes, or of a folder of them.
func IsImmutable(name string) bool { return KindOf(name) != "" || KindOf(name+"/-") != "" }

// isDigest reports whether a text is a sha256 in lower case.
func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// MaxSize is the kind's bound in bytes: what the protocol's own program reads at most. An original has no bound of its own.
func (k Kind) MaxSize(otherwise int64) int64 {
	switch k {
	case Blob:
		return 64 << 20
	case Original:
		return otherwise
	}
	return 1 << 20
}

// ImportOf is the folder, below .small, of the import that a file belongs to.
func ImportOf(name string) string {
	parts := strings.SplitN(name, "/", 4)
	if len(parts) < 4 {
		return ""
	}
	return path.Join(parts[:3]...)
}

// OriginalLog is the name below .small of a migrated log in an import's folder.
func OriginalLog(folder string) string { return folder + "/originals/" + small.Progress.FileName() }

// IsOriginalLog reports whether a name below .small is that of a migrated log.
func IsOriginalLog(name string) bool {
	return KindOf(name) == Original && name == OriginalLog(ImportOf(name))
}

// VersionOf is the version that the text of a profile says; empty if it says none.
func VersionOf(text []byte) string {
	var profile struct {
		Version string `json:"small_version"`
	}
	if json.Unmarshal(text, &profile) != nil {
		return ""
	}
	return profile.Version
}

// UnsupportedCommand is the failure of a command that is only for workspaces of 1.0.0. instead says what to type.
func UnsupportedCommand(command, instead string) error {
	return &failure.Error{
		Message: "the workspace is of SMALL " + Version + ", which " + command + " does not serve: the protocol's own program writes its records", Remedy: instead,
	}
}
