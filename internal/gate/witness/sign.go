package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/small-gate/small-gate/internal/base/failure"
)

// signatureMark begins the signatures of a signed note (golang.org/x/mod/sumdb/note).
const signatureMark = "\n\n\u2014 "

// Signed reports whether a state has a signature.
func Signed(state []byte) bool { return bytes.Contains(state, []byte(signatureMark)) }

// NewKey makes a pair of keys for signed notes: secret signs and public verifies. name says whose they are.
func NewKey(random io.Reader, name string) (secret, public string, err error) {
	unusable := func(r rune) bool { return r == '+' || r == ' ' || !unicode.IsPrint(r) } // the keys could be written, but not read
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unusable) {
		return "", "", &failure.Error{Message: fmt.Sprintf("%q cannot name a key: it is empty, or holds a space, a plus sign or an invisible character", name), Remedy: "give a name such as witness.example.org"}
	}
	return note.GenerateKey(random, name)
}

// Sign adds a signature to a state's text. secret is the content of a key file. public is the content of the verifying key file, which must
// verify the result; empty for none.
func Sign(text []byte, secret, public string) ([]byte, error) {
	signer, err := note.NewSigner(strings.TrimSpace(secret))
	if err != nil {
		return nil, badKey("--sign", "PRIVATE+KEY+NAME+ID+KEY")
	}
	signed, err := note.Sign(&note.Note{Text: string(text)}, signer)
	if err != nil || public == "" {
		return signed, err
	}
	keys, err := verifiers(public)
	if err != nil {
		return nil, err
	}
	if _, err := note.Open(signed, keys); err != nil {
		return nil, &failure.Error{
			Message: "what the key of --sign signs, the file of --verify does not verify",
			Remedy:  "name the two files of one pair; to change keys, add the line of the new public key to the file of --verify",
			Err:     err,
		}
	}
	return signed, nil
}

// Verify extracts the text of a state that one key has signed. public is the content of a key file, with one key per line.
func Verify(state []byte, public string) ([]byte, error) {
	keys, err := verifiers(public)
	if err != nil {
		return nil, err
	}
	n, err := note.Open(state, keys)
	if err == nil && bytes.Count(state[len(n.Text):], []byte("\n")) != 2 { // an empty line, and a signature
		err = errors.New("it has more than one signature")
	}
	if err != nil {
		return nil, &failure.Error{
			Message: "the witness's state is not signed by a key of --verify, or somebody has edited it: " + err.Error(),
			Remedy:  "take it back as a run wrote it, from the history of the repository that keeps it",
			Err:     err,
		}
	}
	return []byte(n.Text), nil
}

// verifiers reads public keys, one per line.
func verifiers(public string) (note.Verifiers, error) {
	var out []note.Verifier
	for _, line := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(public)))) { // note refuses a key that is there twice
		v, err := note.NewVerifier(line)
		if err != nil {
			return nil, badKey("--verify", "NAME+ID+KEY")
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, badKey("--verify", "NAME+ID+KEY")
	}
	return note.VerifierList(out...), nil
}

// badKey never quotes the file's content, which may be another secret.
func badKey(flag, form string) error {
	return &failure.Error{
		Message: "the file of " + flag + " does not hold a key of the form " + form,
		Remedy:  "name the file that small-hook witness --new-key has written",
	}
}
