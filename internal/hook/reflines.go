package hook

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// RefUpdate is one line that git hands to a hook on standard input: one ref
// that is to be moved.
type RefUpdate struct {
	// LocalRef and LocalID are what is pushed (githooks(5), pre-push).
	// LocalRef is "(delete)" for a deletion and empty in pre-receive.
	LocalRef, LocalID string
	// Ref is the ref that is moved, RemoteID where it is now.
	Ref, RemoteID string
}

// Deletes reports whether the ref is to be deleted.
func (u RefUpdate) Deletes() bool { return IsZero(u.LocalID) }

// Creates reports whether the ref does not exist yet.
func (u RefUpdate) Creates() bool { return IsZero(u.RemoteID) }

// IsZero reports whether an object id is git's null id. Git writes it as long as
// the repository's object format makes ids; here any length will do.
func IsZero(id string) bool { return id != "" && strings.Trim(id, "0") == "" }

// maxRefLine bounds one line, in bytes. Git's own limit for a ref name is
// lower.
const maxRefLine = 64 << 10

// ReadPrePush reads the lines of pre-push: local ref, local object id, remote
// ref, remote object id.
func ReadPrePush(r io.Reader) ([]RefUpdate, error) {
	return readLines(r, 4, func(f []string) RefUpdate {
		return RefUpdate{LocalRef: f[0], LocalID: f[1], Ref: f[2], RemoteID: f[3]}
	})
}

// ReadPreReceive reads the lines of pre-receive: old object id, new object id,
// ref.
func ReadPreReceive(r io.Reader) ([]RefUpdate, error) {
	return readLines(r, 3, func(f []string) RefUpdate {
		return RefUpdate{RemoteID: f[0], LocalID: f[1], Ref: f[2]}
	})
}

func readLines(r io.Reader, fields int, build func([]string) RefUpdate) ([]RefUpdate, error) {
	var out []RefUpdate
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRefLine)
	lines.Split(scanLF)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		parts := strings.Split(lines.Text(), " ")
		if len(parts) != fields {
			return nil, malformed(lines.Text(), fmt.Sprintf("%d fields are expected, it has %d", fields, len(parts)))
		}
		u := build(parts)
		for _, id := range []string{u.LocalID, u.RemoteID} {
			if !isObjectID(id) && !IsZero(id) {
				return nil, malformed(lines.Text(), fmt.Sprintf("%q is no object id", show(id)))
			}
		}
		if len(u.LocalID) != len(u.RemoteID) && !u.Deletes() && !u.Creates() {
			return nil, malformed(lines.Text(), "its object ids differ in length")
		}
		if u.Ref == "" {
			return nil, malformed(lines.Text(), "it names no ref")
		}
		// No ref's name has control characters (git-check-ref-format(1)).
		if strings.ContainsFunc(u.Ref, unicode.IsControl) {
			return nil, malformed(lines.Text(), "its ref has control characters in its name")
		}
		out = append(out, u)
	}
	if err := lines.Err(); err != nil {
		return nil, failure("the ref lines on standard input could not be read", "", err)
	}
	return out, nil
}

// scanLF splits at line feeds alone; a carriage return is part of a line, where
// it is not welcome.
func scanLF(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func malformed(line, why string) error {
	return failure(fmt.Sprintf("standard input has a line that git never writes: %q: %s", show(line), why), "Let git run this hook. By hand, give it lines as githooks(5) describes them.", nil)
}

// isObjectID reports whether s is a full object id, of SHA-1 or SHA-256.
func isObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
