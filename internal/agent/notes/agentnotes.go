// Package agentnotes keeps notes on an agent's work tree from one event of its harness to the next.
package agentnotes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Notes are the notes on one work tree, in a file in its git directory. Git's hooks and CI do not read them, so nothing depends on them there.
type Notes struct {
	Version int `json:"version"`
	// Branches maps the full names of branches to the commit that was last judged without a finding, or that was the tip when the notes began. The
	// commit is empty for a branch made since then that was never judged without a finding.
	Branches map[string]string `json:"branches"`
	// Look is the state of the work tree that was last judged.
	Look *Look `json:"look,omitempty"`
	// Sessions are the known sessions, by harness and session id.
	Sessions map[string]Session `json:"sessions,omitempty"`
	// file is the path of the notes.
	file string
}

// Look is the state of a work tree that was judged. A judgement also depends on the configuration that counts for the session, on other branches and on
// the time, so the end of a turn is always judged.
type Look struct {
	// Branch is the full name of the branch; Parents are HEAD and the commits that are being merged.
	Branch  string   `json:"branch"`
	Parents []string `json:"parents"`
	// Files are the index, the configuration, and the files in the index that are judged, by path.
	Files map[string]Stat `json:"files"`
	// Clean is true if nothing was found.
	Clean bool `json:"clean"`
}

// Stat identifies the state of a file: its size in bytes, -1 if it does not exist, its mode, and its modification time in nanoseconds.
type Stat struct {
	Size int64       `json:"size"`
	Mode fs.FileMode `json:"mode"`
	Time int64       `json:"time"`
}

// Session says which configuration counts for a session, and how often the same findings have kept its turn from ending.
type Session struct {
	// Policy is the commit that was HEAD when the session was first seen, whose configuration counts. If Policy is empty, the configuration of the last
	// judged commit counts.
	Policy string `json:"policy,omitempty"`
	// Trees are the linked work trees that the repository had then: by the name of its git directory, when each was made, in nanoseconds. It is nil
	// in old notes.
	Trees map[string]int64 `json:"trees"`
	// Findings is the digest of the findings that last kept the turn from ending, and Times how often in a row they did; empty and 0 if none do.
	Findings string `json:"findings"`
	Times    int    `json:"times"`
	// Last is when the session was last seen.
	Last time.Time `json:"last"`
}

const (
	version = 1
	// maxSessions is the largest number of sessions in the notes.
	maxSessions = 64
	// maxSize is the size of the largest file that is read, in bytes.
	maxSize = 16 << 20
)

// In returns the path of the notes in a work tree's git directory.
func In(gitDir string) string { return filepath.Join(gitDir, "small-gate", "agent.json") }

// Read reads notes. If there is no file, they are new, with nil Branches.
func Read(file string) (*Notes, error) {
	n := &Notes{Version: version, file: file}
	text, err := wholefile.Start(file, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(text, n)
	}
	if err == nil && n.Version != version {
		err = fmt.Errorf("its version is %d, and this program knows %d", n.Version, version)
	}
	if err != nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("cannot read the notes on this work tree: %s: %v", wording.Printable(file), err),
			Remedy:  "`rm -r -- " + wording.ShellWord(file) + "`; what was committed since they were made is then left to git's hooks and CI",
			Err:     err,
		}
	}
	return n, nil
}

// Begun reports whether the notes are not new.
func (n *Notes) Begun() bool { return n.Branches != nil }

// Save writes the notes atomically.
func (n *Notes) Save() error {
	err := os.MkdirAll(filepath.Dir(n.file), 0o700)
	if err == nil {
		var text []byte
		if text, err = json.MarshalIndent(n, "", " "); err == nil {
			err = wholefile.Replace(n.file, append(text, '\n'), 0o600)
		}
	}
	if err != nil {
		return &failure.Error{Message: fmt.Sprintf("cannot keep notes on this work tree: %v", err), Remedy: "make the git directory writable", Err: err}
	}
	return nil
}

// NoteSession notes a session, and reports whether it was known. For a new session, the configuration of the commit policy counts from now on; changes that
// the session commits to the configuration count for the next session. trees are the present linked work trees.
func (n *Notes) NoteSession(session, policy string, trees map[string]int64, now time.Time) (known bool) {
	s, known := n.Sessions[session]
	if !known {
		s.Policy, s.Trees = policy, trees
	}
	s.Last = now
	n.set(session, s)
	return known
}

// CopySession copies a session from the notes on another work tree of the repository, there. So the commits that the session makes on branches that are
// new since it began are judged.
func (n *Notes) CopySession(session string, there *Notes) {
	if !n.Begun() {
		n.Branches = maps.Clone(there.Branches)
	}
	s := there.Sessions[session]
	n.set(session, Session{Policy: s.Policy, Trees: s.Trees, Last: s.Last})
}

// Knows reports whether a session is noted.
func (n *Notes) Knows(session string) bool {
	_, known := n.Sessions[session]
	return known
}

// ClearFindings notes that no findings keep the session's turn from ending, and reports whether any did.
func (n *Notes) ClearFindings(session string) (changed bool) {
	s := n.Sessions[session]
	if s.Findings == "" {
		return false
	}
	s.Findings, s.Times = "", 0
	n.Sessions[session] = s
	return true
}

// MayBlock reports whether findings may keep a turn of a session from ending, and counts that they do. continuing is true if the turn already continues
// because of a hook.
func (n *Notes) MayBlock(session, findings string, continuing bool, now time.Time) bool {
	before := n.Sessions[session]
	if before.Findings != findings {
		before = Session{Policy: before.Policy, Trees: before.Trees, Findings: findings}
		continuing = false
	}
	before.Last = now
	may := !continuing && before.Times < maxBlocks
	if may {
		before.Times++
	}
	n.set(session, before)
	return may
}

// maxBlocks is how often in a row the same findings may keep a session's turn from ending.
const maxBlocks = 2

// set notes a session, and drops those of the others that were not seen for the longest time if there are too many.
func (n *Notes) set(name string, s Session) {
	if n.Sessions == nil {
		n.Sessions = map[string]Session{}
	}
	n.Sessions[name] = s
	if len(n.Sessions) <= maxSessions {
		return
	}
	others := slices.DeleteFunc(slices.Collect(maps.Keys(n.Sessions)), func(other string) bool { return other == name })
	slices.SortFunc(others, func(a, b string) int { return n.Sessions[a].Last.Compare(n.Sessions[b].Last) })
	for _, other := range others[:len(n.Sessions)-maxSessions] {
		delete(n.Sessions, other)
	}
}

// TreesIn returns the linked work trees of the repository with a common git directory, in the form of Session.Trees.
func TreesIn(commonDir string) (map[string]int64, error) {
	dirs, err := os.ReadDir(filepath.Join(commonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	trees := map[string]int64{}
	for _, dir := range dirs {
		made, err := StatOf(filepath.Join(commonDir, "worktrees", dir.Name(), "commondir")) // git writes it once
		if err != nil {
			return nil, err
		}
		trees[dir.Name()] = made.Time
	}
	return trees, nil
}

// StatOf returns the state of a file.
func StatOf(name string) (Stat, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Stat{Size: -1}, nil
	case err != nil:
		return Stat{}, err
	}
	return Stat{Size: info.Size(), Mode: info.Mode(), Time: info.ModTime().UnixNano()}, nil
}
