package witness

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Parse reads what Text writes, and nothing else: an error names the line that differs.
func Parse(text []byte) (*State, error) {
	p := &parser{lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
	s, err := p.state()
	if err == nil {
		err = p.exact(text, s.Text())
	}
	if err != nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("the witness's state cannot be read: line %d: %v", p.at+1, err),
			Remedy:  "take it back as a run wrote it, from the history of the repository that keeps it; nobody edits it by hand",
			Err:     err,
		}
	}
	return s, nil
}

// parser reads line by line; at is the index of the next one.
type parser struct {
	lines []string
	at    int
}

// peek is the next line; ok is false after the last one.
func (p *parser) peek() (line string, ok bool) {
	if p.at == len(p.lines) {
		return "", false
	}
	return p.lines[p.at], true
}

// value reads a line that begins with a word.
func (p *parser) value(word string) (string, error) {
	line, _ := p.peek()
	rest, ok := strings.CutPrefix(line, word+" ")
	if !ok {
		return "", fmt.Errorf("%q is expected here", word)
	}
	p.at++
	return rest, nil
}

// text reads a line with a word and a text that may be quoted.
func (p *parser) text(word string) (string, error) {
	rest, err := p.value(word)
	if err != nil {
		return "", err
	}
	out, err := unquoted(rest)
	if err == nil && out == "" {
		err = fmt.Errorf("nothing follows %q", word)
	}
	if err != nil {
		p.at--
	}
	return out, err
}

func (p *parser) state() (*State, error) {
	if line, _ := p.peek(); line != header {
		return nil, fmt.Errorf("%q is expected here: this is no state of a witness, or that of another version", header)
	}
	p.at++
	var s State
	var err error
	if s.Repository, err = p.text(wordRepository); err != nil {
		return nil, err
	}
	if s.Config, err = p.config(); err != nil {
		return nil, err
	}
	for {
		line, ok := p.peek()
		if !ok && len(s.Refs) == 0 {
			return nil, errors.New("a ref is expected here: without one nothing is watched")
		}
		if !ok {
			return &s, nil
		}
		if line != "" {
			return nil, errors.New("an empty line and a ref are expected here")
		}
		p.at++
		name, err := p.text(wordRef)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(name, "refs/") && name != "HEAD" { // detached, on a server
			p.at--
			return nil, errors.New("a ref's full name is expected here")
		}
		if s.Ref(name) != nil {
			p.at--
			return nil, errors.New("the ref is there already")
		}
		logs, err := p.logs()
		if err != nil {
			return nil, err
		}
		s.Refs = append(s.Refs, Ref{Name: name, Logs: logs})
	}
}

func (p *parser) config() ([]byte, error) {
	var lines []string
	for {
		line, _ := p.peek()
		rest, ok := strings.CutPrefix(line, wordConfig)
		if !ok {
			break
		}
		text, err := unquoted(rest)
		if err != nil {
			return nil, err
		}
		lines = append(lines, text)
		p.at++
	}
	if lines == nil {
		return nil, nil
	}
	return []byte(strings.Join(lines, "\n")), nil
}

func (p *parser) logs() ([]Log, error) {
	var out []Log
	var begins []int
	for {
		line, ok := p.peek()
		if !ok || line == "" {
			return out, p.moves(out, begins)
		}
		at := p.at
		begins = append(begins, at)
		l, err := p.log()
		if err != nil {
			return nil, err
		}
		for _, other := range out {
			if other.Path == l.Path {
				p.at = at
				return nil, errors.New("the log is there already")
			}
		}
		out = append(out, l)
	}
}

// moves demands that a log that has moved goes on at the path of another. begins are the indexes of the logs' first lines.
func (p *parser) moves(logs []Log, begins []int) error {
	there := map[string]bool{}
	for _, l := range logs {
		there[l.Path] = true
	}
	for i, l := range logs {
		if l.Moved != "" && (l.Moved == l.Path || !there[l.Moved]) {
			p.at = begins[i] + movedLine
			return errors.New("the path of another log of this ref is expected here")
		}
	}
	return nil
}

// movedLine is where a log's moved line stands, after those of its path, time and commit.
const movedLine = 3

func (p *parser) log() (l Log, err error) {
	if l.Path, err = p.text(wordLog); err != nil {
		return l, err
	}
	at, err := p.value(wordTime)
	if err != nil {
		return l, err
	}
	if l.Time, err = time.Parse(time.RFC3339, at); err != nil {
		p.at--
		return l, fmt.Errorf("%q is no time", at)
	}
	if l.Commit, err = p.value(wordCommit); err != nil {
		return l, err
	}
	if !isObjectID(l.Commit) {
		p.at--
		return l, fmt.Errorf("%q is no commit's full id", l.Commit)
	}
	if line, _ := p.peek(); strings.HasPrefix(line, wordMoved+" ") {
		if l.Moved, err = p.text(wordMoved); err != nil {
			return l, err
		}
	}
	return l, p.entries(&l)
}

// isObjectID reports whether a text is a full object id, of SHA-1 or SHA-256.
func isObjectID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

func (p *parser) entries(l *Log) error {
	number, err := p.value(wordEntries)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		p.at--
		return fmt.Errorf("%q is no number of entries", number)
	}
	text, err := p.value(wordHead)
	if err != nil {
		return err
	}
	headAt := p.at - 1
	head, err := small.ParseDigest(text)
	if err != nil {
		p.at--
		return err
	}
	for range n {
		line, _ := p.peek()
		d, err := small.ParseDigest(line)
		if err != nil {
			return fmt.Errorf("the digest of entry %d of %d is expected here", len(l.Entries)+1, n)
		}
		l.Entries = append(l.Entries, d)
		p.at++
	}
	if ledger.HeadOf(l.Entries) != head {
		p.at = headAt
		return errors.New("the head is not that of the entries below it")
	}
	return nil
}

// exact requires a text to be as it would be written, and goes to the first line that differs.
func (p *parser) exact(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	written := strings.Split(string(want), "\n")
	for p.at = 0; p.at < len(p.lines)-1 && p.at < len(written)-1 && p.lines[p.at] == written[p.at]; p.at++ {
	}
	return errors.New("it is not written as a run writes it")
}
