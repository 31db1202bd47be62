package gitcmd

import (
	"bufio"
	"context"
	"io"
	"os/exec"
)

// Conversation is a git that answers one request after another.
type Conversation struct {
	// In takes requests: flush it before waiting for an answer from Out.
	In  *bufio.Writer
	Out *bufio.Reader

	ctx    context.Context //nolint:containedctx // it ends the process, and its error says why
	args   []string
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr Stderr
}

// Start starts a git that reads requests until [Conversation.End].
func (g Git) Start(ctx context.Context, args ...string) (*Conversation, error) {
	p := &Conversation{ctx: ctx, args: args, cmd: g.Command(ctx, args...)}
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, newError(ctx, args, err, &p.stderr)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, newError(ctx, args, err, &p.stderr)
	}
	p.stdin, p.In, p.Out = stdin, bufio.NewWriterSize(stdin, 64<<10), bufio.NewReaderSize(stdout, 64<<10)
	return p, nil
}

// End sends the requests that are still buffered, and waits until git ends. A status other than 0 is an [Error].
func (p *Conversation) End() error {
	if p.stdin == nil {
		return nil
	}
	flushed := p.In.Flush()
	p.stdin.Close() //nolint:errcheck // git's status says whether it has read all requests
	p.stdin = nil
	if _, err := io.Copy(io.Discard, p.Out); err != nil && flushed == nil {
		flushed = err
	}
	if err := p.cmd.Wait(); err != nil {
		return newError(p.ctx, p.args, err, &p.stderr)
	}
	return flushed
}

// EndAfter ends git after err, the error of reading an answer. It returns git's own error if there is one, otherwise err.
func (p *Conversation) EndAfter(err error) error {
	if own := p.End(); own != nil {
		return own
	}
	return err
}
