package publish

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
)

// commit is what is read of a commit, and kept of it: raw, as git stores it.
type commit struct {
	tree    string
	parents []string
	// author and committer are names with times. encoding is that of the message, empty for UTF-8.
	author, encoding, message string
}

// nobody is whose name stands in commits that are thrown away.
const nobody = "small-gate <small-gate> 0 +0000"

// read reads commits.
func (b *building) read(ctx context.Context, ids []string) error {
	if b.commits == nil {
		b.commits = map[string]commit{}
	}
	done, err := b.git.feed(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err == nil && done.status != 0 {
		err = b.git.failed([]string{"cat-file"}, done)
	}
	if err != nil {
		return err
	}
	rest := done.out
	for _, id := range ids {
		var kind string
		var size int
		head, body, _ := strings.Cut(rest, "\n")
		if _, err := fmt.Sscanf(head, id+" %s %d", &kind, &size); err != nil || kind != "commit" || len(body) <= size {
			return &failure.Error{Message: "git cat-file does not know the commit " + id}
		}
		b.commits[id], rest = parseCommit(body[:size]), body[size+1:]
	}
	return nil
}

func parseCommit(text string) (c commit) {
	head, message, _ := strings.Cut(text, "\n\n")
	c.message = message
	for line := range strings.SplitSeq(head, "\n") {
		switch key, value, _ := strings.Cut(line, " "); key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.author = value
		case "encoding":
			c.encoding = value
		}
	}
	return c
}

// stream is the input of a git fast-import.
type stream struct {
	bytes.Buffer
	ref string
	// marks are the names of the commits, in order; count is how many names there are.
	marks []string
	count int
	// blobs are the names of contents, by object id.
	blobs map[string]string
}

func newStream(ref string) *stream { return &stream{ref: ref, blobs: map[string]string{}} }

func (s *stream) mark() string {
	s.count++
	return fmt.Sprintf(":%d", s.count)
}

func (s *stream) data(text string) { fmt.Fprintf(s, "data %d\n%s\n", len(text), text) }

// commit adds a commit whose files are those of a tree; others can follow.
func (s *stream) commit(c step, committer string) {
	mark := s.mark()
	if s.marks = append(s.marks, mark); len(c.parents) == 0 { // else it would follow the one before
		fmt.Fprintf(s, "reset %s\n", s.ref)
	}
	fmt.Fprintf(s, "commit %s\nmark %s\nauthor %s\ncommitter %s\n", s.ref, mark, c.author, committer)
	if c.encoding != "" {
		fmt.Fprintf(s, "encoding %s\n", c.encoding)
	}
	s.data(c.message)
	for i, parent := range c.parents {
		fmt.Fprintf(s, "%s %s\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	fmt.Fprintf(s, "M 040000 %s \"\"\n", c.code)
}

func (s *stream) remove(path string) { fmt.Fprintf(s, "D %s\n", quoted(path)) }

// quoted is a path as fast-import reads it whatever it holds.
func quoted(path string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range []byte(path) {
		if c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&out, `\%03o`, c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String() + `"`
}

// imports has git make the commits of a stream, and returns their ids.
func (g *commandLine) imports(ctx context.Context, s *stream) ([]string, error) {
	for _, mark := range s.marks {
		fmt.Fprintf(s, "get-mark %s\n", mark)
	}
	out, err := g.tell(ctx, s.String(), "fast-import", "--quiet", "--force")
	ids := strings.Fields(out)
	if err == nil && len(ids) != len(s.marks) {
		err = &failure.Error{Message: "git fast-import has not made the commits that it was to make"}
	}
	return ids, err
}

// make makes new commits, each upon the one before, the first upon onto if it names no parents, and returns the last.
func (b *building) make(ctx context.Context, steps []step, notes []string) (string, error) {
	if len(steps) == 0 {
		return b.onto, nil
	}
	committer, err := b.git.run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", err
	}
	s := newStream("refs/worktree/small-gate/built")
	for i, c := range steps {
		if c.parents == nil {
			c.parents = []string{b.onto}
			if i > 0 {
				c.parents = s.marks[i-1 : i : i]
			}
		}
		names := map[string]string{}
		for path, f := range c.files {
			names[path] = f.Object
			data, made := b.combine.Content(f)
			if !made {
				continue
			}
			if s.blobs[f.Object] == "" {
				s.blobs[f.Object] = s.mark()
				fmt.Fprintf(s, "blob\nmark %s\n", s.blobs[f.Object])
				s.data(string(data))
			}
			names[path] = s.blobs[f.Object]
		}
		s.commit(c, committer)
		for _, path := range slices.Sorted(maps.Keys(c.files)) {
			fmt.Fprintf(s, "M %s %s %s\n", c.files[path].Mode, names[path], quoted(path))
		}
	}
	ids, err := b.scratch.imports(ctx, s)
	if err != nil {
		return "", err
	}
	for _, note := range notes {
		b.say("%s", note)
	}
	return ids[len(ids)-1], nil
}
