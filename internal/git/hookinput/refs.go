// Package hookinput reads git's input for a hook (githooks(5)): the refs of a push, and the message of a commit, to which it can add the agent's
// trailer.
package hookinput

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// RefUpdate is one ref to be updated, from a line of a hook's standard input.
type RefUpdate struct {
	// LocalRef is the ref that is pushed, or another revision, as the user typed it. LocalID is its object. LocalRef is "(delete)" for a deletion
	// and empty in pre-receive.
	LocalRef, LocalID string
	// Ref is the ref to update, RemoteID the object to which it points now.
	Ref, RemoteID string
}

// Deletes reports whether the ref is to be deleted.
func (u RefUpdate) Deletes() bool { return history.IsZero(u.LocalID) }

// Creates reports whether the ref does not exist yet.
func (u RefUpdate) Creates() bool { return history.IsZero(u.RemoteID) }

// maxRefLine bounds one line, in bytes. Git's own limit for a ref name is lower.
const maxRefLine = 64 << 10

// ReadPrePush reads the lines of pre-push: local ref, local object id, remote ref, remote object id.
func ReadPrePush(r io.Reader) ([]RefUpdate, error) {
	return readLines(r, 4, func(f []string) RefUpdate {
		return RefUpdate{LocalRef: f[0], LocalID: f[1], Ref: f[2], RemoteID: f[3]}
	})
}

// ReadPreReceive reads the lines of pre-receive: old object id, new object id, ref.
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
		if extra := len(parts) - fields; fields == 4 && extra > 0 { // git push "HEAD^{/fix typo}:refs/heads/x"; nothing else in a line has spaces
			parts = append([]string{strings.Join(parts[:extra+1], " ")}, parts[extra+1:]...)
		}
		if len(parts) != fields {
			return nil, malformedLine(lines.Text(), fmt.Sprintf("%d fields are expected, it has %d", fields, len(parts)))
		}
		u := build(parts)
		if why := u.describeFault(); why != "" {
			return nil, malformedLine(lines.Text(), why)
		}
		out = append(out, u)
	}
	if err := lines.Err(); err != nil {
		return nil, &failure.Error{Message: "cannot read the ref lines on standard input: " + err.Error(), Err: err}
	}
	return out, nil
}

// describeFault says what is wrong with an update. It returns an empty text if nothing is.
func (u RefUpdate) describeFault() string {
	for _, id := range []string{u.LocalID, u.RemoteID} {
		if !history.IsObjectID(id) && !history.IsZero(id) {
			return fmt.Sprintf("%q is not an object id", id)
		}
	}
	switch {
	case len(u.LocalID) != len(u.RemoteID) && !u.Deletes() && !u.Creates():
		return "its object ids differ in length"
	case u.Ref == "":
		return "it names no ref"
	case strings.ContainsFunc(u.Ref, unicode.IsControl): // git-check-ref-format(1)
		return "its ref has control characters in its name"
	}
	return ""
}

// scanLF splits a text into lines at line feeds only, so that a carriage return stays in the line and is noticed.
func scanLF(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func malformedLine(line, why string) error {
	return &failure.Error{
		Message: fmt.Sprintf("standard input has a line that git never writes: %q: %s", line, why),
		Remedy:  "Let git run this hook. By hand, give it lines as githooks(5) describes them.",
	}
}
