package witnessing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/witness"
)

// stateFileName is the name of the file with the state, in its directory.
const stateFileName = "witness.txt"

// lockedState is a state on disk that no other run may use.
type lockedState struct {
	path string
	// content is the file's content, and state its parsed form; both are nil in the first run.
	content []byte
	state   *witness.State
	// secret is the key that signs, and public has those that verify; empty for none.
	secret, public string
	// unlock lets other runs use the state.
	unlock func() error
}

// openState reads the state in a directory, and locks it until unlock. It makes the directory if that is missing.
func openState(ctx context.Context, o Options) (*lockedState, error) {
	k := &lockedState{path: filepath.Join(o.State, stateFileName)}
	if err := os.MkdirAll(o.State, 0o777); err != nil {
		return nil, fileError("cannot use "+o.State, err)
	}
	var err error
	if k.secret, err = readKey(o.Sign); err != nil {
		return nil, err
	}
	if k.public, err = readKey(o.Verify); err != nil {
		return nil, err
	}
	if k.secret != "" { // report bad keys before the work is done
		if _, err := witness.Sign([]byte("\n"), k.secret, k.public); err != nil {
			return nil, err
		}
	}
	k.unlock, err = lock.Directory(ctx, o.State, false)
	switch {
	case errors.Is(err, lock.ErrTaken):
		return nil, &failure.Error{Message: "another witness is at work in " + o.State, Remedy: "run it again when that one has ended"}
	case err != nil:
		return nil, fileError("cannot lock "+o.State, err)
	}
	if err := k.read(); err != nil {
		return nil, cmp.Or(err, k.unlock())
	}
	return k, nil
}

// refuseCredentials refuses a state in which the name of a ref, of a log or of the repository holds a credential.
func refuseCredentials(state string) error {
	for line := range strings.SplitSeq(state, "\n") {
		if len(secret.Find(line)) > 0 {
			return &failure.Error{
				Message: "the witness's state would hold a credential, in " + wording.Printable(strings.Trim(line, " ,")),
				Remedy:  "revoke it, and rename the ref, the log or the repository; nothing has been recorded",
			}
		}
	}
	return nil
}

// read reads the state. If there is a key to verify, it refuses an unsigned state; if there is none, it refuses a signed state.
func (k *lockedState) read() error {
	content, err := readUpTo(k.path, maxState)
	if errors.Is(err, fs.ErrNotExist) && k.public != "" && k.secret == "" {
		return &failure.Error{
			Message: k.path + " is not there yet, and a state that is not signed would be refused next time",
			Remedy:  "name the file of the secret key with --sign; if this is not the first run, take the state back from the history of the repository that keeps it",
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fileError("the witness's state cannot be read", err)
	}
	text := content
	switch {
	case k.public != "":
		text, err = witness.Verify(content, k.public)
	case witness.Signed(content):
		err = &failure.Error{Message: k.path + " is signed, and nothing says by which key", Remedy: "name the file of the public key with --verify"}
	}
	if err == nil {
		k.state, err = witness.Parse(text)
	}
	k.content = content
	return err
}

// write replaces the state atomically, unless it is the same as the old one, and describes the new state.
func (k *lockedState) write(next *witness.State) (note string, err error) {
	content, err := next.Text()
	if err != nil {
		return "", err
	}
	if err := refuseCredentials(string(content)); err != nil {
		return "", err
	}
	if k.secret != "" {
		if content, err = witness.Sign(content, k.secret, k.public); err != nil {
			return "", err
		}
	}
	same := bytes.Equal(content, k.content)
	if k.secret == "" && witness.Signed(k.content) {
		if !bytes.HasPrefix(k.content, append(content, '\n')) { // after the content and an empty line comes the signature
			return "", &failure.Error{Message: "there is something new to record, and " + k.path + " is signed", Remedy: "name the file of the secret key with --sign; nothing has been recorded"}
		}
		same = true
	}
	logs, entries := 0, 0
	for _, r := range next.Refs {
		for _, l := range r.Logs {
			if l.Moved == "" {
				logs, entries = logs+1, entries+len(l.Entries)
			}
		}
	}
	counts := fmt.Sprintf("%s, %s and %s of %s", wording.Count(len(next.Refs), "ref"), wording.Count(logs, "log"), wording.Count(entries, "entry"), next.Repository)
	if same {
		return k.path + " already holds " + counts, nil
	}
	if len(content) > maxState { // the next run could not read it
		return "", fileError("the witness's state cannot be written", fmt.Errorf("it would be larger than %d bytes", maxState))
	}
	if err := wholefile.Write(k.path, content); err != nil {
		return "", fileError("the witness's state cannot be written", err)
	}
	if k.content == nil {
		return "this is the first run; " + k.path + " now holds " + counts, nil
	}
	return k.path + " now holds " + counts, nil
}

// readKey reads a file with keys; empty for no file.
func readKey(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if strings.HasPrefix(path, "PRIVATE+KEY+") { // a path would be printed unmasked
		return "", &failure.Error{Message: "a secret key was given in place of its file", Remedy: "name the file that small-hook witness --new-key has written"}
	}
	data, err := readUpTo(path, maxKeys)
	if err != nil {
		return "", fileError("the key cannot be read", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "", &failure.Error{Message: path + " is empty and should hold a key", Remedy: "name the file that small-hook witness --new-key has written"}
	}
	return string(data), nil
}

// maxState and maxKeys bound a state and a file of keys, in bytes: the digests of 800,000 entries, and a few dozen keys.
const maxState, maxKeys = 64 << 20, 4 << 10

// readUpTo reads a regular file. It fails if the file has more than most bytes.
func readUpTo(path string, most int64) ([]byte, error) {
	data, err := wholefile.Start(path, most+1)
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	return data, err
}

func fileError(what string, err error) error {
	return &failure.Error{Message: what + ": " + err.Error(), Remedy: "let this user read and write an ordinary file there, on a disk with room, or name another place", Err: err}
}
