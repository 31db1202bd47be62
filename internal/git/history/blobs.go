package githistory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/run"
)

// Blob reads an object of at most limit bytes; for a larger one it returns the size and no data, and never holds it in memory. With the
// limit 0, git is asked for the size alone. git fetches a blob that a partial clone left out; one that stays missing is an error, never an
// empty file.
func (r *Repo) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	from := &r.batch
	if limit == 0 {
		from = &r.sizes
	}
	blob, err := r.objectFrom(ctx, from, object, "blob", limit)
	if err == nil && blob.Data != nil && r.format.ID("blob", blob.Data) != object {
		// git itself checks the hash only when asked (git-fsck(1)).
		return history.Blob{}, Damaged(object)
	}
	return blob, err
}

// Recycle takes back the data of a blob that is no longer needed, for the next one. For versions of a large log, fresh memory costs as much
// as reading them.
func (r *Repo) Recycle(data []byte) {
	r.blobs.Lock()
	defer r.blobs.Unlock()
	if r.batch != nil {
		r.batch.spare = data
	}
}

// object reads an object of the given type with a git process that serves all calls. The first call starts it.
func (r *Repo) object(ctx context.Context, id, kind string, limit int64) (history.Blob, error) {
	return r.objectFrom(ctx, &r.batch, id, kind, limit)
}

// objectFrom is object with one of the two processes.
func (r *Repo) objectFrom(ctx context.Context, from **batch, id, kind string, limit int64) (history.Blob, error) {
	if err := r.format.Check(id); err != nil {
		return history.Blob{}, err
	}
	if err := ctx.Err(); err != nil {
		return history.Blob{}, fmt.Errorf("reading object %s: %w", id, err)
	}
	r.blobs.Lock()
	defer r.blobs.Unlock()
	if *from == nil {
		b, err := r.startBatch(from == &r.sizes)
		if err != nil {
			return history.Blob{}, r.failure("cannot read objects", err)
		}
		*from = b
	}
	release := context.AfterFunc(ctx, (*from).stop)
	blob, err := (*from).ask(id, kind, limit)
	if !release() {
		stopBatch(from)
		return history.Blob{}, fmt.Errorf("reading object %s: %w", id, ctx.Err())
	}
	var answer *failure.Error
	switch {
	case err == nil:
		return blob, nil
	case errors.Is(err, errNotThere):
		return history.Blob{}, r.missing(ctx, id, "")
	case errors.As(err, &answer):
		return history.Blob{}, answer
	}
	// git ended, as it does when it cannot fetch a missing object.
	said := stopBatch(from)
	return history.Blob{}, r.missing(ctx, id, said)
}

// commitNamed asks the process that serves objects for the id of the commit that a revision leads to; empty if it gives none, and git has
// to say why.
func (r *Repo) commitNamed(ctx context.Context, revision string) string {
	if strings.Contains(revision, "\n") {
		return "" // it would be two questions
	}
	r.blobs.Lock()
	defer r.blobs.Unlock()
	if r.batch == nil {
		b, err := r.startBatch(false)
		if err != nil {
			return ""
		}
		r.batch = b
	}
	release := context.AfterFunc(ctx, r.batch.stop)
	id, err := r.batch.commit(revision + "^{commit}")
	if !release() || err != nil {
		stopBatch(&r.batch)
		return ""
	}
	if !r.format.Valid(id) {
		return ""
	}
	return id
}

// missing makes the error for an object that git cannot deliver. said is the error output of git's process, if it ended.
func (r *Repo) missing(ctx context.Context, id, said string) error {
	f := Unreadable(id, nil)
	if _, err := r.git.Output(ctx, nil, "config", "--get-regexp", promisorConfig); err == nil {
		f.Message = fmt.Sprintf("object %s is not in this partial clone and could not be fetched", id)
		f.Remedy = "see that the remote can be reached, or fetch everything: `git fetch --refetch --no-filter`"
		if r.foreign != "" {
			f.Message = fmt.Sprintf("object %s is not in this partial clone, which belongs to another user (or is a bare one that git is not to find by itself), so nothing is fetched for it", id)
			f.Remedy = "if you trust the repository: `git config --global --add safe.directory " + wording.ShellWord(wording.Printable(r.foreign)) + "`"
		}
	}
	if said != "" {
		f.Message += ": " + said
	}
	return f
}

// promisorConfig matches the configuration of partial clones, old and new.
const promisorConfig = `^(remote\..*\.promisor|extensions\.partialclone)$`

// batch is a running git cat-file --batch or, if it gives sizes alone, --batch-check.
type batch struct {
	sizes  bool
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *gitcmd.Stderr
	stop   context.CancelFunc
	spare  []byte // memory for the next object, or nil
}

// errNotThere means a missing object. After it, as after a *failure.Error, the process can serve the next call.
var errNotThere = errors.New("the object is missing")

// startBatch starts the process. It lives until stopBatch, whatever the context of the first call.
func (r *Repo) startBatch(sizes bool) (*batch, error) {
	option := "--batch"
	if sizes {
		option = "--batch-check"
	}
	ctx, stop := context.WithCancel(context.Background())
	b := &batch{sizes: sizes, cmd: r.git.Command(ctx, "cat-file", option), stderr: &gitcmd.Stderr{}, stop: stop}
	b.cmd.Stderr = b.stderr
	stdin, inErr := b.cmd.StdinPipe()
	stdout, outErr := b.cmd.StdoutPipe()
	err := errors.Join(inErr, outErr)
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, &gitcmd.Error{Command: "cat-file", Err: err}
	}
	b.stdin, b.stdout = stdin, bufio.NewReaderSize(stdout, 64<<10)
	return b, nil
}

// stopBatch ends a process, if there is one, and returns its error output.
func stopBatch(running **batch) string {
	b := *running
	if b == nil {
		return ""
	}
	*running = nil
	b.stdin.Close() //nolint:errcheck // it ends git even where interrupts are ignored, as in a script's background
	b.stop()
	err := b.cmd.Wait()
	return (&gitcmd.Error{Command: "cat-file", Err: err, Stderr: b.stderr.String()}).Error()
}

// ask sends one id and reads the answer:
//
//	<id> SP <type> SP <size> LF <content> LF
//	<id> SP missing LF
//
// Without content, the first line is all.
func (b *batch) ask(id, kind string, limit int64) (history.Blob, error) {
	if _, err := io.WriteString(b.stdin, id+"\n"); err != nil {
		return history.Blob{}, err
	}
	line, err := b.stdout.ReadString('\n')
	if err != nil {
		return history.Blob{}, noEOF(err)
	}
	f := strings.Fields(line)
	if len(f) == 2 && f[0] == id && f[1] == "missing" {
		return history.Blob{}, errNotThere
	}
	if len(f) != 3 || f[0] != id {
		return history.Blob{}, fmt.Errorf("git cat-file answered %q", wording.Printable(line))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return history.Blob{}, fmt.Errorf("git cat-file answered %q", wording.Printable(line))
	}
	blob := history.Blob{Size: size}
	if f[1] == kind && size <= limit {
		blob.Data = b.memory(size)
	}
	if !b.sizes {
		if err := b.content(blob.Data, size); err != nil {
			return history.Blob{}, fmt.Errorf("git cat-file's answer about %s: %w", id, err)
		}
	}
	if f[1] != kind {
		return history.Blob{}, &failure.Error{Message: fmt.Sprintf("object %s is a %s, not a %s", id, f[1], kind)}
	}
	return blob, nil
}

// commit sends the name of a commit and reads the answer, of which it returns the id; empty if there is no such commit.
func (b *batch) commit(name string) (string, error) {
	if _, err := io.WriteString(b.stdin, name+"\n"); err != nil {
		return "", err
	}
	line, err := b.stdout.ReadString('\n')
	if err != nil {
		return "", noEOF(err)
	}
	if line == name+" missing\n" || line == name+" ambiguous\n" {
		return "", nil
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[1] != "commit" {
		return "", fmt.Errorf("git cat-file answered %q", wording.Printable(line))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return "", fmt.Errorf("git cat-file answered %q", wording.Printable(line))
	}
	return f[0], b.content(nil, size)
}

// content reads size bytes, into data unless that is nil, and the line feed after them.
func (b *batch) content(data []byte, size int64) (err error) {
	if data != nil {
		_, err = io.ReadFull(b.stdout, data)
	} else {
		_, err = io.CopyN(io.Discard, b.stdout, size)
	}
	if err != nil {
		return noEOF(err)
	}
	end, err := b.stdout.ReadByte()
	if err == nil && end != '\n' {
		err = errors.New("it has no end")
	}
	return noEOF(err)
}

// memory is size bytes: the spare ones, unless most of them would be wasted. Fresh memory is a little larger, so that a later version of
// the same file fits.
func (b *batch) memory(size int64) []byte {
	if have := int64(cap(b.spare)); size > 0 && size <= have && have <= 2*size {
		data := b.spare[:size]
		b.spare = nil
		return data
	}
	return make([]byte, size, size+size/16)
}
