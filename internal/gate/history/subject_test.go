package history

import "testing"

// TestSubject checks what git log calls the subject.
func TestSubject(t *testing.T) {
	for message, want := range map[string]string{
		"":                             "",
		"\n \n":                        "",
		"one\n":                        "one",
		"one\r\n\r\ntwo\r\n":           "one",
		"\n\n  one  \nand more\n\ntwo": "one and more",
	} {
		if got := (Signature{Message: message}).Subject(); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
