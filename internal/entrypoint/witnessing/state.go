package witnessing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/secret"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/witness"
	"github.com/small-gate/small-gate/internal/wording"
)

// stateFile is the name of the state in its directory.
const stateFile = "witness.txt"

// kept is a state on disk, while one look is at work on it.
type kept struct {
	path string
	// content is that of the file, and state what it says; both are nil before the first look.
	content []byte
	state   *witness.State
	// secret is the key that signs, and public are those that verify; empty for none.
	secret, public string
	lock           *flock.Flock
}

// openState reads the state of a directory, which is made if it is not there, and keeps other looks out until close.
func openState(o Options) (*kept, error) {
	k := &kept{path: filepath.Join(o.State, stateFile)}
	if err := os.MkdirAll(o.State, 0o777); err != nil {
		return nil, unusable("cannot use "+o.State, err)
	}
	var err error
	if k.secret, err = readKey(o.Sign); err != nil {
		return nil, err
	}
	if k.public, err = readKey(o.Verify); err != nil {
		return nil, err
	}
	if k.secret != "" { // bad keys show before the work is done
		if _, err := witness.Sign([]byte("\n"), k.secret, k.public); err != nil {
			return nil, err
		}
	}
	if err := k.acquire(o.State); err != nil {
		return nil, err
	}
	if err := k.read(); err != nil {
		return nil, cmp.Or(err, k.close())
	}
	return k, nil
}

// holdsNoCredential refuses a state in which the name of a ref, of a log or of the repository holds a credential.
func holdsNoCredential(state string) error {
	for line := range strings.SplitSeq(state, "\n") {
		if len(secret.Find(line)) > 0 {
			return &failure.Error{
				Message: "the witness's state would hold a credential, in " + wording.Printable(strings.Trim(line, " ,")),
				Remedy:  "revoke it, and rename what it is the name of; nothing has been recorded",
			}
		}
	}
	return nil
}

// read reads the state. Where a key verifies, an unsigned state is refused; a signed one is never taken unverified.
func (k *kept) read() error {
	content, err := readUpTo(k.path, maxState)
	if errors.Is(err, fs.ErrNotExist) && k.public != "" && k.secret == "" {
		return &failure.Error{
			Message: k.path + " is not there yet, and a state that is not signed would be refused next time",
			Remedy:  "name the file of the secret key with --sign; if this is not the first look, take the state back from the history of the repository that keeps it",
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unusable("the witness's state cannot be read", err)
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

// write replaces the state, in one step, if there is something new to say, and says what is there now.
func (k *kept) write(next *witness.State) (note string, err error) {
	content, err := next.Text()
	if err != nil {
		return "", err
	}
	if err := holdsNoCredential(string(content)); err != nil {
		return "", err
	}
	if k.secret != "" {
		if content, err = witness.Sign(content, k.secret, k.public); err != nil {
			return "", err
		}
	}
	same := bytes.Equal(content, k.content)
	if k.secret == "" && witness.Signed(k.content) {
		if !bytes.HasPrefix(k.content, append(content, '\n')) { // and then the signature
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
	what := fmt.Sprintf("%s, %s and %s of %s", wording.Count(len(next.Refs), "ref"), wording.Count(logs, "log"), wording.Count(entries, "entry"), next.Repository)
	if same {
		return k.path + " already holds " + what, nil
	}
	if len(content) > maxState { // the next look could not read it
		return "", unusable("the witness's state cannot be written", fmt.Errorf("it would be larger than %d bytes", maxState))
	}
	if err := wholefile.Write(k.path, content); err != nil {
		return "", unusable("the witness's state cannot be written", err)
	}
	if k.content == nil {
		return "this is the first look; " + k.path + " now holds " + what, nil
	}
	return k.path + " now holds " + what, nil
}

// acquire keeps other looks at the same state out. Windows, and some network file systems, cannot lock a directory: there is no lock then.
func (k *kept) acquire(dir string) error {
	k.lock = flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if runtime.GOOS == "windows" {
		return nil
	}
	got, err := k.lock.TryLock()
	for _, none := range []error{errors.ErrUnsupported, fs.ErrPermission, syscall.ENOLCK, syscall.EBADF} {
		if errors.Is(err, none) {
			return nil
		}
	}
	switch {
	case err != nil:
		return unusable("cannot lock "+dir, err)
	case !got:
		return &failure.Error{Message: "another witness is at work in " + dir, Remedy: "run it again when that one has ended"}
	}
	return nil
}

func (k *kept) close() error { return k.lock.Close() }

// readKey reads a file with a key; empty for no file.
func readKey(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if strings.HasPrefix(path, "PRIVATE+KEY+") { // nothing masks it
		return "", &failure.Error{Message: "a secret key was given in place of its file", Remedy: "name the file that small-hook witness --new-key has written"}
	}
	data, err := readUpTo(path, maxKeys)
	if err != nil {
		return "", unusable("the key cannot be read", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "", &failure.Error{Message: path + " is empty; a key is expected in it", Remedy: "name the file that small-hook witness --new-key has written"}
	}
	return string(data), nil
}

// maxState and maxKeys are how many bytes a state and a file with keys may have: the digests of 800,000 entries, and some dozen keys.
const maxState, maxKeys = 64 << 20, 4 << 10

// readUpTo reads a regular file of at most so many bytes.
func readUpTo(path string, most int64) ([]byte, error) {
	data, err := wholefile.Start(path, most+1)
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	return data, err
}

func unusable(what string, err error) error {
	return &failure.Error{Message: what + ": " + err.Error(), Remedy: "let this user read and write an ordinary file there, on a disk with room, or name another place", Err: err}
}
