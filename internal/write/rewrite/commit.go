// Package rewrite copies commits. The caller gives a copy its tree, parents and committer; the author, the message with its encoding, and all other
// headers stay. A copy loses the signature, which was for the original; Sign makes a new one.
package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Commit is a commit as git stores it, without its signatures.
type Commit struct {
	Tree    string
	Parents []string
	// Author and Committer each have a name, an address and a time, as git writes them.
	Author, Committer string
	// Encoding is that of the message; empty for UTF-8.
	Encoding, Message string
	// Headers are the lines of all other headers.
	Headers []string
	// Signed is true if the commit had a signature, which a copy lacks.
	Signed bool
}

// Nobody is the author of commits that are thrown away.
const Nobody = "small-gate <small-gate> 0 +0000"

// Parse reads a commit as git stores it.
func Parse(raw []byte) (c Commit) {
	head, message, _ := strings.Cut(string(raw), "\n\n")
	c.Message = message
	fields := map[string]*string{"tree": &c.Tree, "author": &c.Author, "committer": &c.Committer, "encoding": &c.Encoding}
	other := false
	for line := range strings.SplitSeq(strings.TrimSuffix(head, "\n"), "\n") {
		name, value, _ := strings.Cut(line, " ")
		field := fields[name]
		switch {
		case name == "": // the line continues the header before
		case name == "parent":
			c.Parents = append(c.Parents, value)
			other = false
		case field != nil && *field == "":
			*field, other = value, false
		default:
			other = name != "gpgsig" && name != "gpgsig-sha256"
			c.Signed = c.Signed || !other
		}
		if other {
			c.Headers = append(c.Headers, line)
		}
	}
	return c
}

// Time returns the committer's time; zero if it cannot be read.
func (c Commit) Time() time.Time {
	_, at, _ := strings.Cut(c.Committer[max(0, strings.LastIndexByte(c.Committer, '>')):], " ")
	seconds, _, _ := strings.Cut(at, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// Signable reports whether git can sign a copy: its author must have a name that git takes (ident.c), and a time.
func (c Commit) Signable() bool {
	name, _, _ := strings.Cut(c.Author, "<")
	return strings.Trim(name, " .,:;\"\\'") != "" && ordinary(c.Author) == c.Author
}

// text returns the commit as git stores it.
func (c Commit) text() string {
	var s strings.Builder
	add := func(name, value string) {
		if value != "" {
			s.WriteString(name + " " + value + "\n")
		}
	}
	add("tree", c.Tree)
	for _, p := range c.Parents {
		add("parent", p)
	}
	add("author", c.Author)
	add("committer", c.Committer)
	add("encoding", c.Encoding)
	for _, line := range c.Headers {
		s.WriteString(line + "\n")
	}
	return s.String() + "\n" + c.Message
}

// command returns the command for git fast-import that makes the commit on a ref, with some files changed; a file without a mode is removed.
// fast-import takes no other headers, so they are left out, and Nobody stands for an author or a committer that it refuses.
func (c Commit) command(ref string, mark int, files []history.File) string {
	var s strings.Builder
	if len(c.Parents) == 0 { // without reset, the parent would be the ref's last commit
		fmt.Fprintf(&s, "reset %s\n", ref)
	}
	fmt.Fprintf(&s, "commit %s\nmark :%d\nauthor %s\ncommitter %s\n", ref, mark, ordinary(c.Author), ordinary(c.Committer))
	if c.Encoding != "" {
		fmt.Fprintf(&s, "encoding %s\n", c.Encoding)
	}
	s.WriteString(data(c.Message))
	for i, p := range c.Parents {
		fmt.Fprintf(&s, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	fmt.Fprintf(&s, "M 040000 %s \"\"\n", c.Tree)
	for _, f := range files {
		if f.Mode == "" {
			fmt.Fprintf(&s, "D %s\n", quoted(f.Path))
		} else {
			fmt.Fprintf(&s, "M %s %s %s\n", f.Mode, f.Object, quoted(f.Path))
		}
	}
	return s.String() + "\n"
}

// ordinaryIdent matches an author or a committer that fast-import accepts. It refuses zones beyond 14 hours.
var ordinaryIdent = expression.Of(`^([^<>\n\x00]* )?<[^<>\n\x00]*> [0-9]{1,10} [+-]((0[0-9]|1[0-3])[0-9]{2}|1400)$`)

// ordinary returns an author or a committer, or Nobody if fast-import would refuse it.
func ordinary(ident string) string {
	if ordinaryIdent().MatchString(ident) {
		return ident
	}
	return Nobody
}

// data returns a text in the form that git fast-import reads.
func data(text string) string { return fmt.Sprintf("data %d\n%s\n", len(text), text) }

// quoted returns a path in the form that git fast-import reads.
func quoted(path string) string {
	var out []byte
	for _, c := range []byte(path) {
		if c < ' ' || c == '"' || c == '\\' {
			out = fmt.Appendf(out, `\%03o`, c)
		} else {
			out = append(out, c)
		}
	}
	return string(slices.Concat([]byte{'"'}, out, []byte{'"'}))
}
