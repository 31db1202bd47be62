package restore

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// scratchRef is the ref under which git fast-import makes the new commits. It is never written.
const scratchRef = "refs/worktree/small-gate/mended"

// objects reads objects with one git, and makes blobs and commits with another one.
type objects struct {
	git            *workgit.Tree
	reader, writer *gitcmd.Conversation
	marks          int
	// marked are the marks of new commits: until its end, fast-import takes their ids for unknown.
	marked map[string]string
	digits int // of an id
}

// end ends both. What was made is in the repository then.
func (o *objects) end() error {
	var made error
	if o.writer != nil {
		_, made = fmt.Fprintf(o.writer.In, "reset %s\nfrom %s\n\n", scratchRef, strings.Repeat("0", o.digits))
		made = asFailure(errors.Join(made, o.writer.End()))
	}
	if o.reader != nil {
		made = errors.Join(made, asFailure(o.reader.End()))
	}
	o.reader, o.writer = nil, nil
	return made
}

func asFailure(err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{Message: err.Error(), Err: err}
}

// ask sends a text to a git, and reads the answer.
func ask[T any](p **gitcmd.Conversation, text []byte, read func(*bufio.Reader) (T, error)) (answer T, err error) {
	if _, err = (*p).In.Write(text); err == nil {
		err = (*p).In.Flush()
	}
	if err == nil {
		answer, err = read((*p).Out)
	}
	if err != nil {
		err = asFailure((*p).Failed(err))
		*p = nil
	}
	return answer, err
}

// contentOf reads an object as git cat-file --batch and fast-import's cat-blob print it.
func contentOf(id string) func(*bufio.Reader) ([]byte, error) {
	return func(out *bufio.Reader) ([]byte, error) {
		line, err := out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		var kind string
		var size int
		if _, err := fmt.Sscanf(line, id+" %s %d\n", &kind, &size); err != nil {
			return nil, fmt.Errorf("git says about the object %s: %s", id, wording.Printable(strings.TrimSpace(line)))
		}
		data := make([]byte, size+1)
		_, err = io.ReadFull(out, data)
		return data[:size], err
	}
}

func lineOf(out *bufio.Reader) (string, error) {
	line, err := out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// read is the content of an object of the repository.
func (o *objects) read(ctx context.Context, id string) (_ []byte, err error) {
	if o.reader == nil {
		if o.reader, err = o.git.Start(ctx, "cat-file", "--batch"); err != nil {
			return nil, asFailure(err)
		}
	}
	return ask(&o.reader, []byte(id+"\n"), contentOf(id))
}

// blob is the content of a blob, which this process may have made.
func (o *objects) blob(ctx context.Context, id string) ([]byte, error) {
	if o.writer == nil {
		return o.read(ctx, id)
	}
	return ask(&o.writer, []byte("cat-blob "+id+"\n"), contentOf(id))
}

// make sends commands that make an object, which has the mark returned by mark, and returns the object's id.
func (o *objects) make(ctx context.Context, commands []byte) (_ string, err error) {
	if o.writer == nil {
		if o.writer, err = o.git.Start(ctx, "fast-import", "--quiet", "--force", "--date-format=raw"); err != nil {
			return "", asFailure(err)
		}
	}
	return ask(&o.writer, fmt.Appendf(commands, "get-mark :%d\n", o.marks), lineOf)
}

func (o *objects) mark() string {
	o.marks++
	return fmt.Sprintf("mark :%d\n", o.marks)
}

// store makes a blob.
func (o *objects) store(ctx context.Context, text []byte) (string, error) {
	return o.make(ctx, slices.Concat([]byte("blob\n"+o.mark()), gitcmd.ImportedData(text)))
}

// original is a commit as git stores it. headers are those that its copy keeps: not its tree, its parents and its signatures.
type original struct {
	tree                        string
	headers                     []string
	author, committer, encoding string
	message                     []byte
}

// ordinaryIdent matches an author or a committer that fast-import takes.
var ordinaryIdent = expression.Of(`^[^<>\n\x00]* <[^<>\n\x00]*> [0-9]{1,10} [+-][0-9]{4}$`)

// originalOf reads a commit. Its author and committer are somebody else if fast-import would not take them.
func originalOf(raw []byte) original {
	const nobody = "small-gate <small-gate> 0 +0000"
	out := original{author: nobody, committer: nobody}
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	out.message = message
	dropped := false
	for line := range strings.SplitSeq(string(head), "\n") {
		if !strings.HasPrefix(line, " ") { // else it continues the one before
			name, value, _ := strings.Cut(line, " ")
			dropped = slices.Contains([]string{"tree", "parent", "gpgsig", "gpgsig-sha256"}, name)
			switch ordinary := ordinaryIdent().MatchString(value); {
			case name == "tree":
				out.tree = value
			case name == "author" && ordinary:
				out.author = value
			case name == "committer" && ordinary:
				out.committer = value
			case name == "encoding":
				out.encoding = value
			}
		}
		if !dropped {
			out.headers = append(out.headers, line)
		}
	}
	return out
}

// text is the copy of a commit with another tree and other parents, as git stores it.
func (c original) text(tree string, parents []string) []byte {
	out := []byte("tree " + tree + "\n")
	for _, p := range parents {
		out = append(out, "parent "+p+"\n"...)
	}
	return slices.Concat(out, []byte(strings.Join(c.headers, "\n")+"\n\n"), c.message)
}

// commit makes a commit with other parents and some other files.
func (o *objects) commit(ctx context.Context, id string, parents []string, changes []history.File) (string, error) {
	raw, err := o.read(ctx, id)
	if err != nil {
		return "", err
	}
	c := originalOf(raw)
	o.digits = len(id)
	var s bytes.Buffer
	if len(parents) == 0 { // without it, the parent would be the commit before
		fmt.Fprintf(&s, "reset %s\n", scratchRef)
	}
	fmt.Fprintf(&s, "commit %s\n%sauthor %s\ncommitter %s\n", scratchRef, o.mark(), c.author, c.committer)
	if c.encoding != "" {
		fmt.Fprintf(&s, "encoding %s\n", c.encoding)
	}
	s.Write(gitcmd.ImportedData(c.message))
	for i, p := range parents {
		fmt.Fprintf(&s, "%s %s\n", []string{"from", "merge"}[min(i, 1)], cmp.Or(o.marked[p], p))
	}
	fmt.Fprintf(&s, "M 040000 %s \"\"\n", c.tree)
	for _, f := range changes {
		fmt.Fprintf(&s, "M %s %s %s\n", f.Mode, f.Object, gitcmd.ImportedPath(f.Path))
	}
	s.WriteByte('\n')
	made, err := o.make(ctx, s.Bytes())
	if err != nil {
		return "", err
	}
	listed, err := ask(&o.writer, []byte("ls "+made+" \"\"\n"), lineOf)
	if err != nil {
		return "", err
	}
	var tree string
	if _, err := fmt.Sscanf(listed, "040000 tree %s", &tree); err != nil {
		return "", fmt.Errorf("git fast-import says about the tree of %s: %s", made, wording.Printable(listed))
	}
	text := c.text(tree, parents)
	if history.ObjectID("commit", text, id) == made {
		if o.marked == nil {
			o.marked = map[string]string{}
		}
		o.marked[made] = fmt.Sprintf(":%d", o.marks)
		return made, nil
	}
	out, err := o.git.Run(ctx, bytes.NewReader(text), "hash-object", "-t", "commit", "-w", "--stdin") // fast-import does not know all of its headers
	return strings.TrimSpace(string(out)), err
}
