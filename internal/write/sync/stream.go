package publish

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/git/run"
)

// commit is the part of a commit that its copy keeps: raw, as git stores it.
type commit struct {
	tree    string
	parents []string
	// author is a name with a time. encoding is the message's, empty for UTF-8.
	author, encoding, message string
}

// nobody is the author of commits that are thrown away.
const nobody = "small-gate <small-gate> 0 +0000"

// read reads commits into b.commits.
func (b *building) read(ctx context.Context, ids []string) error {
	if b.commits == nil {
		b.commits = map[string]commit{}
	}
	done, err := b.git.Run(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err == nil && done.Status != 0 {
		err = b.git.failed([]string{"cat-file"}, done)
	}
	if err != nil {
		return err
	}
	rest := string(done.Out)
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
	// marks name the commits, in order; count is the number of marks, those of blobs included.
	marks []string
	count int
}

func newStream(ref string) *stream { return &stream{ref: ref} }

func (s *stream) mark() string {
	s.count++
	return fmt.Sprintf(":%d", s.count)
}

func (s *stream) add(format string, args ...any) { s.Write(fmt.Appendf(nil, format, args...)) }

func (s *stream) data(text string) { s.Write(gitcmd.ImportedData([]byte(text))) }

// commit adds a commit with the files of a tree; the caller may add changes of files after it.
func (s *stream) commit(c step, committer string) {
	mark := s.mark()
	if s.marks = append(s.marks, mark); len(c.parents) == 0 { // without a reset, its parent would be the commit before
		s.add("reset %s\n", s.ref)
	}
	s.add("commit %s\nmark %s\nauthor %s\ncommitter %s\n", s.ref, mark, c.like.author, committer)
	if c.like.encoding != "" {
		s.add("encoding %s\n", c.like.encoding)
	}
	s.data(c.like.message)
	for i, parent := range c.parents {
		s.add("%s %s\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	s.add("M 040000 %s \"\"\n", c.code)
}

// imports has git make the commits of a stream, and returns their ids.
func (g *commandLine) imports(ctx context.Context, s *stream) ([]string, error) {
	for _, mark := range s.marks {
		s.add("get-mark %s\n", mark)
	}
	out, err := g.runInput(ctx, s.String(), "fast-import", "--quiet", "--force")
	ids := strings.Fields(out)
	if err == nil && len(ids) != len(s.marks) {
		err = &failure.Error{Message: "git fast-import has not made all the commits"}
	}
	return ids, err
}

// make makes new commits and returns their ids. A step that names no parents goes on top of the one before, and the first on top of onto.
func (b *building) make(ctx context.Context, onto string, steps []step) ([]string, error) {
	committer, err := b.git.run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return nil, err
	}
	s := newStream("refs/worktree/small-gate/built")
	blobs := map[string]string{}
	for i, c := range steps {
		if c.parents == nil {
			c.parents = append([]string{onto}, s.marks...)[i : i+1]
		}
		for _, f := range c.files {
			if data, made := b.combine.Content(f); made && blobs[f.Object] == "" {
				blobs[f.Object] = s.mark()
				s.add("blob\nmark %s\n", blobs[f.Object])
				s.data(string(data))
			}
		}
		s.commit(c, committer)
		for path, f := range c.files {
			s.add("M %s %s %s\n", f.Mode, cmp.Or(blobs[f.Object], f.Object), gitcmd.ImportedPath(path))
		}
	}
	ids, err := b.scratch().imports(ctx, s)
	if err == nil && b.sign {
		return b.signed(ctx, onto, steps, ids)
	}
	return ids, err
}

// signed makes the same commits again, with signatures: fast-import cannot sign.
func (b *building) signed(ctx context.Context, last string, steps []step, ids []string) (out []string, err error) {
	for i, c := range steps {
		if c.parents == nil {
			c.parents = []string{last}
		}
		name, rest, _ := strings.Cut(c.like.author, "<")
		mail, at, _ := strings.Cut(rest, "> ")
		git := b.git.with("GIT_AUTHOR_NAME="+strings.TrimSpace(name), "GIT_AUTHOR_EMAIL="+mail, "GIT_AUTHOR_DATE=@"+at)
		args := []string{"-c", "i18n.commitEncoding=" + cmp.Or(c.like.encoding, "UTF-8"), "commit-tree", "-S", "-F", "-"}
		for _, parent := range c.parents {
			args = append(args, "-p", parent)
		}
		if last, err = git.runInput(ctx, c.like.message, append(args, ids[i]+"^{tree}")...); err != nil {
			return nil, err
		}
		out = append(out, last)
	}
	return out, nil
}
