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

	ctx   context.Context //nolint:containedctx // it ends the process, and then tells why
	args  []string
	cmd   *exec.Cmd
	stdin io.Closer
	said  Stderr
}

// Start starts a git that reads requests until [Conversation.End].
func (g Git) Start(ctx context.Context, args ...string) (*Conversation, error) {
	p := &Conversation{ctx: ctx, args: args, cmd: g.Command(ctx, args...)}
	p.cmd.Stderr = &p.said
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, failed(ctx, args, err, &p.said)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, failed(ctx, args, err, &p.said)
	}
	p.stdin, p.In, p.Out = stdin, bufio.NewWriterSize(stdin, 64<<10), bufio.NewReaderSize(stdout, 64<<10)
	return p, nil
}

// End sends what is left to send and waits until git ends. A status other than 0 is an [Error].
func (p *Conversation) End() error {
	if p.stdin == nil {
		return nil
	}
	flushed := p.In.Flush()
	p.stdin.Close() //nolint:errcheck // git's status says whether it has read all
	p.stdin = nil
	if _, err := io.Copy(io.Discard, p.Out); err != nil && flushed == nil {
		flushed = err
	}
	if err := p.cmd.Wait(); err != nil {
		return failed(p.ctx, p.args, err, &p.said)
	}
	return flushed
}

// Failed ends git after an answer that could not be read; the result is git's own error if it has one, or else err.
func (p *Conversation) Failed(err error) error {
	if own := p.End(); own != nil {
		return own
	}
	return err
}
