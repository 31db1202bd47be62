package rewrite

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// scratchRef is the ref for git fast-import's commits. End resets it, so that it is never created.
const scratchRef = "refs/worktree/small-gate/copies"

// Objects reads objects with one process of git, and makes blobs and commits with another one. Both run until End.
type Objects struct {
	git            gitcmd.Git
	reader, writer *gitcmd.Conversation
	marks          int
	// marked maps the ids of new commits to their marks: fast-import does not accept these ids as parents while it runs.
	marked map[string]string
	digits int // the length of the new commits' ids; 0 if there are none
}

// New returns Objects for git's repository. Processes are started when they are needed.
func New(git gitcmd.Git) *Objects { return &Objects{git: git, marked: map[string]string{}} }

// End ends both processes. Only then are the new objects in the repository.
func (o *Objects) End() (err error) {
	if o.writer != nil {
		if o.digits > 0 {
			_, err = fmt.Fprintf(o.writer.In, "reset %s\nfrom %s\n\n", scratchRef, strings.Repeat("0", o.digits))
		}
		err = cmp.Or(o.writer.End(), err)
	}
	if o.reader != nil {
		err = cmp.Or(err, o.reader.End())
	}
	*o = *New(o.git)
	return err
}

// ask sends a text to one of the two processes, which it starts if it does not run, and reads the answer.
func ask[T any](ctx context.Context, o *Objects, p **gitcmd.Conversation, text string, read func(*bufio.Reader) (T, error)) (answer T, err error) {
	if *p == nil {
		args := []string{"cat-file", "--batch"}
		if p == &o.writer {
			args = []string{"fast-import", "--quiet", "--force"}
		}
		if *p, err = o.git.Start(ctx, args...); err != nil {
			return answer, err
		}
	}
	if _, err = (*p).In.WriteString(text); err == nil {
		err = (*p).In.Flush()
	}
	if err == nil {
		answer, err = read((*p).Out)
	}
	if err != nil {
		err = (*p).EndAfter(err)
		*p = nil
	}
	return answer, err
}

// content returns a function that reads an object of a kind as git cat-file --batch and fast-import's cat-blob print it.
func content(id, kind string) func(*bufio.Reader) ([]byte, error) {
	return func(out *bufio.Reader) ([]byte, error) {
		head, err := line(out)
		if err != nil {
			return nil, err
		}
		var size int
		if _, err := fmt.Sscanf(head, id+" "+kind+" %d", &size); err != nil {
			return nil, fmt.Errorf("git says about the object %s: %s", id, wording.Printable(strings.TrimSpace(head)))
		}
		data := make([]byte, size+1)
		_, err = io.ReadFull(out, data)
		return data[:size], err
	}
}

func line(out *bufio.Reader) (string, error) {
	line, err := out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// Commit reads a commit of the repository.
func (o *Objects) Commit(ctx context.Context, id string) (Commit, error) {
	raw, err := ask(ctx, o, &o.reader, id+"\n", content(id, "commit"))
	return Parse(raw), err
}

// Blob reads a blob, which may be a new one.
func (o *Objects) Blob(ctx context.Context, id string) ([]byte, error) {
	if o.writer == nil {
		return ask(ctx, o, &o.reader, id+"\n", content(id, "blob"))
	}
	return ask(ctx, o, &o.writer, "cat-blob "+id+"\n", content(id, "blob"))
}

// Store makes a blob, and returns its id.
func (o *Objects) Store(ctx context.Context, text []byte) (string, error) {
	o.marks++
	return ask(ctx, o, &o.writer, fmt.Sprintf("blob\nmark :%d\n%sget-mark :%d\n", o.marks, data(string(text)), o.marks), line)
}

// Make makes a commit from c with some files changed, and returns its id. A file without a mode is removed.
func (o *Objects) Make(ctx context.Context, c Commit, files []history.File) (string, error) {
	o.marks++
	o.digits = len(c.Tree)
	marked := c
	marked.Parents = slices.Clone(c.Parents)
	for i, p := range c.Parents {
		marked.Parents[i] = cmp.Or(o.marked[p], p)
	}
	made, err := ask(ctx, o, &o.writer, marked.command(scratchRef, o.marks, files)+fmt.Sprintf("get-mark :%d\n", o.marks), line)
	if err != nil {
		return "", err
	}
	listed, err := ask(ctx, o, &o.writer, "ls "+made+" \"\"\n", line)
	if err != nil {
		return "", err
	}
	if _, err := fmt.Sscanf(listed, "040000 tree %s", &c.Tree); err != nil {
		return "", fmt.Errorf("git fast-import says about the tree of %s: %s", made, wording.Printable(listed))
	}
	if history.ObjectID("commit", []byte(c.text()), made) == made {
		o.marked[made] = fmt.Sprintf(":%d", o.marks)
		return made, nil
	}
	out, err := o.git.Output(ctx, strings.NewReader(c.text()), "hash-object", "-t", "commit", "-w", "--literally", "--stdin") // since 2.40 git would refuse what git fsck finds in an odd original
	return strings.TrimSpace(string(out)), err
}

// Sign makes a signed copy of a commit, and returns its id. Its committer is the user, with the current time. The copy has no other headers, because
// git commit-tree, the only command that signs any commit, writes none. A signing rebase drops them too.
func (o *Objects) Sign(ctx context.Context, id string) (string, error) {
	c, err := o.Commit(ctx, id)
	if err != nil {
		return "", err
	}
	name, rest, _ := strings.Cut(c.Author, "<")
	mail, at, _ := strings.Cut(rest, "> ")
	git := o.git
	git.Environ = slices.Concat(git.Environ, []string{"GIT_AUTHOR_NAME=" + strings.TrimSpace(name), "GIT_AUTHOR_EMAIL=" + mail, "GIT_AUTHOR_DATE=@" + at})
	args := []string{"-c", "i18n.commitEncoding=" + cmp.Or(c.Encoding, "UTF-8"), "commit-tree", "-S", "-F", "-"}
	for _, p := range c.Parents {
		args = append(args, "-p", p)
	}
	signed, err := git.Output(ctx, strings.NewReader(c.Message), append(args, c.Tree)...)
	return strings.TrimSpace(string(signed)), err
}
