package githistory

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// maxSignatureCommit is the size in bytes of the largest commit object whose author and message are read.
const maxSignatureCommit = 64 << 20

// Signature reads the author, date and message of a commit. For the index, it returns only the author that git would record.
func (r *Repo) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if revision == history.Index {
		return r.pendingAuthor(ctx)
	}
	blob, err := r.readObject(ctx, revision, "commit", maxSignatureCommit)
	if err != nil {
		return history.Signature{}, err
	}
	if blob.Data == nil {
		return history.Signature{}, &failure.Error{
			Message: "commit " + revision + " is too large to be read",
			Remedy:  "see what it holds: `git cat-file -p " + revision + " | head`",
		}
	}
	return ParseSignature(blob.Data), nil
}

// pendingAuthor asks git for the author of the next commit. git commit has put this author into GIT_AUTHOR_*, also for --author and --amend; for
// other commands git takes it from the configuration.
func (r *Repo) pendingAuthor(ctx context.Context) (history.Signature, error) {
	git := r.git
	git.Environ = slices.Clone(git.Environ)
	for _, v := range r.callerEnviron {
		if strings.HasPrefix(v, "GIT_AUTHOR_") {
			git.Environ = append(git.Environ, v)
		}
	}
	ident, err := git.Output(ctx, nil, "var", "GIT_AUTHOR_IDENT")
	if err != nil {
		return history.Signature{}, r.toFailureWithRemedy("cannot tell who the author of this commit will be", "set user.name and user.email with git config", err)
	}
	name, email, _ := parseIdent(ident)
	return history.Signature{Name: name, Email: email}, nil
}

// ParseSignature reads the author, the date and the message from the content of a commit object. Missing parts are empty.
func ParseSignature(commit []byte) history.Signature {
	head, message, _ := bytes.Cut(commit, []byte("\n\n"))
	s := history.Signature{Message: strings.ToValidUTF8(string(message), "\ufffd")}
	for line := range bytes.Lines(head) {
		if ident, ok := bytes.CutPrefix(line, []byte("author ")); ok {
			s.Name, s.Email, s.Date = parseIdent(ident)
			break
		}
	}
	return s
}

// parseIdent splits "name <address> seconds zone", and converts the date with parseDate. As in git, the address ends at the first
// bracket that closes, and the date begins after the last one.
func parseIdent(ident []byte) (name, email, date string) {
	before, after, _ := bytes.Cut(ident, []byte("<"))
	address, _, _ := bytes.Cut(after, []byte(">"))
	if end := bytes.LastIndexByte(after, '>'); end >= 0 {
		date = parseDate(string(after[end+1:]))
	}
	text := func(b []byte) string { return strings.ToValidUTF8(strings.TrimSpace(string(b)), "\ufffd") }
	return text(before), text(address), date
}

// parseDate converts a commit's "seconds zone" to RFC 3339. It returns an empty text if the date is invalid or its year lies outside 0 to 9999.
func parseDate(text string) string {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return ""
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	zone, zoneErr := time.Parse("-0700", fields[1])
	if err != nil || zoneErr != nil {
		return ""
	}
	_, offset := zone.Zone() // zone.Location() may be this machine's own, which has another offset in summer
	at := time.Unix(seconds, 0).In(time.FixedZone("", offset))
	if year := at.Year(); year < 0 || year > 9999 {
		return ""
	}
	return at.Format(time.RFC3339)
}
