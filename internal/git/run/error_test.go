package gitcmd

import (
	"io"
	"strings"
	"testing"
)

func TestErrorIsOneLine(t *testing.T) {
	var said Stderr
	for range 10_000 {
		if n, err := io.WriteString(&said, "fatal: \x1b\r\nx\n"); n != 12 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := len(said.String()); n > stderrSize {
		t.Errorf("%d bytes are kept", n)
	}
	text := (&Error{Command: "log", Status: 128, Stderr: said.String()}).Error()
	if len(text) > 10_000 || strings.ContainsAny(text, "\x1b\n\r") || !strings.HasPrefix(text, `git log: fatal: \x1b; x; fatal`) {
		t.Errorf("%q", text)
	}
}
