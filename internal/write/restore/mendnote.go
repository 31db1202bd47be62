package restore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wholefile"
)

// maxRewrittenFile is the largest size of the file of rewritten commits, in bytes. If the file gets larger, the oldest lines are dropped.
const maxRewrittenFile = 1 << 20

// rewrittenFile returns the path of the file of rewritten commits. Each line is an old id, a space and the new id.
func (m *mending) rewrittenFile() string {
	return filepath.Join(lock.Root(m.Place.CommonDir), "rewritten")
}

// readRewritten reads the file of rewritten commits; nil if there is none.
func (m *mending) readRewritten() ([]byte, error) {
	data, err := wholefile.Start(m.rewrittenFile(), maxRewrittenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, m.fileFailure(err)
}

// noteRewritten notes the new ids of the listed commits. The fixes of several findings name commits by their old ids: after the first fix was typed,
// findRewritten finds the other commits by these notes.
func (m *mending) noteRewritten(list []string) error {
	content, err := m.readRewritten()
	if err != nil {
		return err
	}
	for _, id := range list {
		if m.newIDs[id] != id {
			content = fmt.Appendf(content, "%s %s\n", id, m.newIDs[id])
		}
	}
	for len(content) > maxRewrittenFile {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	return m.fileFailure(wholefile.Write(m.rewrittenFile(), content))
}

// findRewritten returns the unshared commit of HEAD that replaced a given commit in earlier runs; empty if there is none.
func (m *mending) findRewritten(id string) (string, error) {
	data, err := m.readRewritten()
	newIDs := map[string]string{}
	for line := range strings.Lines(string(data)) {
		oldID, newID, _ := strings.Cut(strings.TrimSpace(line), " ")
		newIDs[oldID] = newID
	}
	for range newIDs { // a commit may have been rewritten several times
		if id = newIDs[id]; slices.Contains(m.unshared, id) {
			return id, err
		}
	}
	return "", err
}

// fileFailure returns the failure to read or write the file of rewritten commits; nil for nil.
func (m *mending) fileFailure(err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{Message: "cannot read or write the list of rewritten commits: " + err.Error(), Remedy: "make the git directory readable and writable, then run the command again", Err: err}
}
