package demo

import (
	"io"
	"os"
	"strings"
	"testing"
)

// acceptEverything is the variable with which this test's own program stands in for a small-hook that accepts every commit.
const acceptEverything = "DEMO_TEST_ACCEPT"

func TestMain(m *testing.M) {
	if os.Getenv(acceptEverything) != "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestAcceptedRewrite demands a readable error if the hook accepts the commit that rewrites the log.
func TestAcceptedRewrite(t *testing.T) {
	accepting, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), io.Discard, accepting, append(os.Environ(), acceptEverything+"=1"), false)
	if err == nil || !strings.Contains(err.Error(), `"Tidy the log up" was not rejected`) || strings.Contains(err.Error(), "%!") {
		t.Errorf("%v", err)
	}
}
