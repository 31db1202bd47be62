package witness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Parse reads exactly what Text writes.
func Parse(text []byte) (*State, error) {
	var s State
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&s)
	if err == nil {
		err = s.check()
	}
	if err == nil {
		err = s.exact(text)
	}
	if err != nil {
		return nil, &failure.Error{
			Message: "the witness's state cannot be read: " + err.Error(),
			Remedy:  "take it back as a run wrote it, from the history of the repository that keeps it; nobody edits it by hand",
			Err:     err,
		}
	}
	return &s, nil
}

// exact returns an error unless the text is byte by byte what Text writes for this state.
func (s *State) exact(text []byte) error {
	want, err := s.Text()
	if err != nil || bytes.Equal(text, want) {
		return err
	}
	at := 0
	for at < min(len(text), len(want)) && text[at] == want[at] {
		at++
	}
	return fmt.Errorf("line %d is not as a run writes it", 1+bytes.Count(text[:at], []byte("\n")))
}

// check returns an error unless the state is consistent, and unquotes its names and lines.
func (s *State) check() error {
	switch {
	case s.Version != version:
		return fmt.Errorf("it has version %d, and this program reads version %d", s.Version, version)
	case s.Repository == "":
		return errors.New("it names no repository")
	case len(s.Refs) == 0:
		return errors.New("a ref is missing: without one nothing is watched")
	}
	unquote(&s.Repository)
	for i := range s.Config {
		unquote(&s.Config[i])
	}
	there := map[string]bool{}
	for i := range s.Refs {
		r := &s.Refs[i]
		unquote(&r.Name)
		if there[r.Name] || !strings.HasPrefix(r.Name, "refs/") && r.Name != "HEAD" { // a detached HEAD, on a server
			return fmt.Errorf("%q is no ref's full name, or is there twice", r.Name)
		}
		there[r.Name] = true
		if err := checkLogs(r.Logs); err != nil {
			return fmt.Errorf("ref %q: %w", r.Name, err)
		}
	}
	return nil
}

// checkLogs returns an error unless the logs of a ref are consistent, and unquotes their paths. A moved log must continue at another log's path.
func checkLogs(logs []Log) error {
	there := map[string]bool{}
	for i := range logs {
		l := &logs[i]
		unquote(&l.Path)
		unquote(&l.Moved)
		if l.Path == "" || there[l.Path] {
			return fmt.Errorf("a log has no path, or %q is there twice", l.Path)
		}
		if !history.IsObjectID(l.Commit) {
			return fmt.Errorf("log %q: %q is no commit's full id", l.Path, l.Commit)
		}
		if n := len(l.Compared); n > 0 && n != len(l.Entries) {
			return fmt.Errorf("log %q: it has %d entries and compares %d", l.Path, len(l.Entries), n)
		}
		there[l.Path] = true
	}
	for _, l := range logs {
		if l.Moved == l.Path || l.Moved != "" && !there[l.Moved] {
			return fmt.Errorf("log %q: %q is no other log of this ref", l.Path, l.Moved)
		}
	}
	return nil
}
