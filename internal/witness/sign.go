package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/small-gate/small-gate/internal/failure"
)

// signatureMark begins the signatures below a signed note (golang.org/x/mod/sumdb/note).
const signatureMark = "\n\n\u2014 "

// Signed reports whether a state has a signature.
func Signed(state []byte) bool { return bytes.Contains(state, []byte(signatureMark)) }

// NewKey makes a pair of keys, as a signed note has them: secret signs and public verifies. name says whose they are.
func NewKey(random io.Reader, name string) (secret, public string, err error) {
	if name == "" || strings.ContainsAny(name, " +\n\t\r") {
		return "", "", &failure.Error{Message: fmt.Sprintf("%q cannot name a key: it is empty, or holds a space or a plus sign", name), Remedy: "give a name such as witness.example.org"}
	}
	return note.GenerateKey(random, name)
}

// Sign puts a signature below a state's text. secret is the content of a key file.
func Sign(text []byte, secret string) ([]byte, error) {
	signer, err := note.NewSigner(strings.TrimSpace(secret))
	if err != nil {
		return nil, badKey("--sign", "PRIVATE+KEY+NAME+ID+KEY")
	}
	return note.Sign(&note.Note{Text: string(text)}, signer)
}

// Verify takes the text out of a signed state. public is the content of a key file.
func Verify(state []byte, public string) ([]byte, error) {
	verifier, err := note.NewVerifier(strings.TrimSpace(public))
	if err != nil {
		return nil, badKey("--verify", "NAME+ID+KEY")
	}
	n, err := note.Open(state, note.VerifierList(verifier))
	if err == nil && len(n.UnverifiedSigs) > 0 {
		err = errors.New("it has a signature of another key")
	}
	if err != nil {
		return nil, &failure.Error{
			Message: "the witness's state is not signed by the key of --verify, or somebody has edited it: " + err.Error(),
			Remedy:  "take it back as a run wrote it, from the history of the repository that keeps it",
			Err:     err,
		}
	}
	return []byte(n.Text), nil
}

// badKey never quotes what it has read: the file may hold some other secret.
func badKey(flag, form string) error {
	return &failure.Error{
		Message: "the file of " + flag + " holds no key of the form " + form,
		Remedy:  "name the file that small-hook witness --new-key has written",
	}
}
