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
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Blob reads a blob of at most limit bytes. For a larger one it returns only the size, and never holds the content in memory. With the limit 0
// it asks git only for the size. git fetches a blob that a partial clone left out. A missing blob is an error, never an empty file.
func (r *Repo) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	from := &r.batch
	if limit == 0 {
		from = &r.sizes
	}
	blob, err := r.readObjectFrom(ctx, from, object, "blob", limit)
	if err == nil && blob.Data != nil && r.format.ID("blob", blob.Data) != object {
		// git checks the hash only in git fsck.
		return history.Blob{}, Damaged(object)
	}
	return blob, err
}

// Recycle lets the next object use the memory of a blob that is no longer needed. For the versions of a large log, allocating memory takes as
// long as reading them.
func (r *Repo) Recycle(data []byte) {
	r.batchMutex.Lock()
	defer r.batchMutex.Unlock()
	if r.batch != nil {
		r.batch.spare = data
	}
}

// readObject reads an object of the given kind. One git process serves all calls; the first call starts it.
func (r *Repo) readObject(ctx context.Context, id, kind string, limit int64) (history.Blob, error) {
	return r.readObjectFrom(ctx, &r.batch, id, kind, limit)
}

// readObjectFrom reads an object with the process in *from, which is r.batch or r.sizes.
func (r *Repo) readObjectFrom(ctx context.Context, from **batch, id, kind string, limit int64) (history.Blob, error) {
	if err := r.format.Check(id); err != nil {
		return history.Blob{}, err
	}
	if err := ctx.Err(); err != nil {
		return history.Blob{}, fmt.Errorf("reading object %s: %w", id, err)
	}
	r.batchMutex.Lock()
	defer r.batchMutex.Unlock()
	if *from == nil {
		b, err := r.startBatch(from == &r.sizes)
		if err != nil {
			return history.Blob{}, r.toFailure("cannot read objects", err)
		}
		*from = b
	}
	keepRunning := context.AfterFunc(ctx, (*from).stop)
	blob, err := (*from).readObject(id, kind, limit)
	if !keepRunning() {
		stopBatch(from)
		return history.Blob{}, fmt.Errorf("reading object %s: %w", id, ctx.Err())
	}
	var wrongKind *failure.Error
	switch {
	case err == nil:
		return blob, nil
	case errors.Is(err, errObjectMissing):
		return history.Blob{}, r.missingError(ctx, id, "")
	case errors.As(err, &wrongKind):
		return history.Blob{}, wrongKind
	}
	// git has ended, as it does if it cannot fetch a missing object.
	said := stopBatch(from)
	return history.Blob{}, r.missingError(ctx, id, said)
}

// resolveWithBatch has the process that serves objects look up the commit to which a revision leads. It returns an empty id if there is none, or
// on any error; the caller then runs a git command that says why.
func (r *Repo) resolveWithBatch(ctx context.Context, revision string) string {
	if strings.Contains(revision, "\n") {
		return "" // git would read it as two requests
	}
	r.batchMutex.Lock()
	defer r.batchMutex.Unlock()
	if r.batch == nil {
		b, err := r.startBatch(false)
		if err != nil {
			return ""
		}
		r.batch = b
	}
	keepRunning := context.AfterFunc(ctx, r.batch.stop)
	id, err := r.batch.readCommitID(revision + "^{commit}")
	if !keepRunning() || err != nil {
		stopBatch(&r.batch)
		return ""
	}
	if !r.format.Valid(id) {
		return ""
	}
	return id
}

// missingError makes the error for an object that git cannot deliver. said is the error output of git's process if the process ended.
func (r *Repo) missingError(ctx context.Context, id, said string) error {
	f := Unreadable(id, nil)
	if _, err := r.git.Output(ctx, nil, "config", "--get-regexp", promisorConfig); err == nil {
		f.Message = fmt.Sprintf("object %s is not in this partial clone and could not be fetched", id)
		f.Remedy = "make sure that the remote can be reached, or fetch everything: `git fetch --refetch --no-filter`"
		if r.untrustedDir != "" {
			f.Message = fmt.Sprintf("object %s is not in this partial clone, and is not fetched because the clone belongs to another user, or is bare and excluded by safe.bareRepository", id)
			f.Remedy = "if you trust the repository: `git config --global --add safe.directory " + wording.ShellWord(r.untrustedDir) + "`; if it is bare, set GIT_DIR to its path"
		}
	}
	if said != "" {
		f.Message += ": " + said
	}
	return f
}

// promisorConfig matches the settings that mark a partial clone, the old one and the new one.
const promisorConfig = `^(remote\..*\.promisor|extensions\.partialclone)$`

// batch is a running git cat-file --batch, or, if sizes is true, --batch-check, which prints no content.
type batch struct {
	sizes  bool
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *gitcmd.Stderr
	stop   context.CancelFunc
	spare  []byte // memory for the next object, or nil
}

// errObjectMissing says that git does not have the object. After this error or a *failure.Error, the process can serve the next call.
var errObjectMissing = errors.New("the object is missing")

// startBatch starts a process that serves objects. It runs until stopBatch ends it, even if the context of the call that started it ends.
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

// stopBatch ends the process in *running, if there is one, and returns its error output.
func stopBatch(running **batch) string {
	b := *running
	if b == nil {
		return ""
	}
	*running = nil
	b.stdin.Close() //nolint:errcheck // git ends at the end of its input, even if it ignores interrupts, as in the background of a script
	b.stop()
	err := b.cmd.Wait()
	return (&gitcmd.Error{Command: "cat-file", Err: err, Stderr: b.stderr.String()}).Error()
}

// readObject sends one id and reads the answer:
//
//	<id> SP <type> SP <size> LF <content> LF
//	<id> SP missing LF
//
// The process in Repo.sizes prints only the first line.
func (b *batch) readObject(id, kind string, limit int64) (history.Blob, error) {
	if _, err := io.WriteString(b.stdin, id+"\n"); err != nil {
		return history.Blob{}, err
	}
	line, err := b.stdout.ReadString('\n')
	if err != nil {
		return history.Blob{}, unexpectedEOF(err)
	}
	f := strings.Fields(line)
	if len(f) == 2 && f[0] == id && f[1] == "missing" {
		return history.Blob{}, errObjectMissing
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
		blob.Data = b.allocate(size)
	}
	if !b.sizes {
		if err := b.readContent(blob.Data, size); err != nil {
			return history.Blob{}, fmt.Errorf("git cat-file's answer about %s: %w", id, err)
		}
	}
	if f[1] != kind {
		return history.Blob{}, &failure.Error{Message: fmt.Sprintf("object %s is a %s, not a %s", id, f[1], kind)}
	}
	return blob, nil
}

// readCommitID sends the name of a commit, reads the answer and returns the commit's id. The id is empty if there is no such commit.
func (b *batch) readCommitID(name string) (string, error) {
	if _, err := io.WriteString(b.stdin, name+"\n"); err != nil {
		return "", err
	}
	line, err := b.stdout.ReadString('\n')
	if err != nil {
		return "", unexpectedEOF(err)
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
	return f[0], b.readContent(nil, size)
}

// readContent reads size bytes into data, and the line feed after them. If data is nil, it drops the bytes.
func (b *batch) readContent(data []byte, size int64) (err error) {
	if data != nil {
		_, err = io.ReadFull(b.stdout, data)
	} else {
		_, err = io.CopyN(io.Discard, b.stdout, size)
	}
	if err != nil {
		return unexpectedEOF(err)
	}
	end, err := b.stdout.ReadByte()
	if err == nil && end != '\n' {
		err = errors.New("no line feed follows the content")
	}
	return unexpectedEOF(err)
}

// allocate returns size bytes. It uses the spare memory, unless that is too small or more than half of it would be wasted. New memory gets room
// for a later, somewhat larger version of the same file.
func (b *batch) allocate(size int64) []byte {
	if have := int64(cap(b.spare)); size > 0 && size <= have && have <= 2*size {
		data := b.spare[:size]
		b.spare = nil
		return data
	}
	return make([]byte, size, size+size/16)
}
