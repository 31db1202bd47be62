package demo

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAcceptedRewrite demands a readable error if the hook accepts the commit that rewrites the log.
func TestAcceptedRewrite(t *testing.T) {
	accepting, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program true")
	}
	err = Run(t.Context(), io.Discard, accepting, os.Environ(), false)
	if err == nil || !strings.Contains(err.Error(), `"Tidy the log up" was not rejected`) || strings.Contains(err.Error(), "%!") {
		t.Errorf("%v", err)
	}
}
