package githistory

import (
	"bytes"
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/small-gate/small-gate/internal/failure"
)

// maxSigned bounds the size of a commit whose author is asked for, in bytes.
const maxSigned = 64 << 20

// Signature says whose a commit is. Of the index, it is the author that git
// would write, and there is no message yet.
func (r *Repo) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if revision == history.Index {
		return r.pendingAuthor(ctx)
	}
	blob, err := r.object(ctx, revision, "commit", maxSigned)
	if err != nil {
		return history.Signature{}, err
	}
	if blob.Data == nil {
		return history.Signature{}, TooLargeCommit(revision)
	}
	return ParseSignature(blob.Data), nil
}

// TooLargeCommit makes the error for a commit that is not held in memory.
func TooLargeCommit(id string) *failure.Error {
	return &failure.Error{Message: "commit " + id + " is too large to be read", Remedy: "see what it holds: `git cat-file -p " + id + " | head`"}
}

// pendingAuthor asks git who it would write as the author. For git commit that is
// in GIT_AUTHOR_* already, whatever --author or --amend made of it; for the
// others it is what the configuration says.
func (r *Repo) pendingAuthor(ctx context.Context) (history.Signature, error) {
	cmd := r.command(ctx, "var", "GIT_AUTHOR_IDENT")
	for _, v := range r.given {
		if strings.HasPrefix(v, "GIT_AUTHOR_") {
			cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], v)
		}
	}
	var stdout bytes.Buffer
	var stderr excerpt
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := commandFailure(ctx, []string{"var"}, cmd.Run(), &stderr); err != nil {
		unknown := r.failure("cannot tell who the author of this commit will be", err)
		if f, ok := unknown.(*failure.Error); ok && f.Remedy == "" { //nolint:errorlint // r.failure has just made it
			f.Remedy = "git config user.name NAME && git config user.email ADDRESS"
		}
		return history.Signature{}, unknown
	}
	name, email := parseIdent(stdout.Bytes())
	return history.Signature{Name: name, Email: email}, nil
}

// ParseSignature reads the author and the message of a commit object
// (git-cat-file(1), the commit's raw form). What is not there is empty.
func ParseSignature(commit []byte) history.Signature {
	head, message, _ := bytes.Cut(commit, []byte("\n\n"))
	s := history.Signature{Message: strings.ToValidUTF8(string(message), "\ufffd")}
	for line := range bytes.Lines(head) {
		if ident, ok := bytes.CutPrefix(line, []byte("author ")); ok {
			s.Name, s.Email = parseIdent(ident)
			break
		}
	}
	return s
}

// parseIdent takes "name <address> date zone" apart. An address ends at the
// last bracket, as git reads it.
func parseIdent(ident []byte) (name, email string) {
	before, after, _ := bytes.Cut(ident, []byte("<"))
	if end := bytes.LastIndexByte(after, '>'); end >= 0 {
		after = after[:end]
	}
	text := func(b []byte) string { return strings.ToValidUTF8(strings.TrimSpace(string(b)), "\ufffd") }
	return text(before), text(after)
}
