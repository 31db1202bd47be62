package gitcmd

import (
	"slices"
	"testing"
)

func TestReading(t *testing.T) {
	got := Reading([]string{
		"PATH=/bin", "HOME=/home/me", "EMPTY=", "LC_ALL=de_DE", "LANGUAGE=de",
		"GIT_DIR=.git", "GIT_INDEX_FILE=.git/index.lock", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_SSL_CAINFO=x",
		"GIT_TRACE=1", "GIT_EXTERNAL_DIFF=x", "GIT_LITERAL_PATHSPECS=1",
		"GIT_REPLACE_REF_BASE=refs/x", "GIT_GRAFT_FILE=x", "GIT_OPTIONAL_LOCKS=1",
		"GIT_SOMETHING_NEW=1", "GITHEAD_0=x", "GITHUB_SHA=y",
	})
	for _, want := range []string{
		"PATH=/bin", "EMPTY=", "GIT_DIR=.git", "GIT_INDEX_FILE=.git/index.lock",
		"GIT_CONFIG_KEY_0=a.b", "GIT_SSL_CAINFO=x", "LC_ALL=C.UTF-8", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GITHUB_SHA=y",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not there", want)
		}
	}
	for _, gone := range []string{"LC_ALL=de_DE", "GIT_TRACE=1", "GIT_SOMETHING_NEW=1", "GIT_GRAFT_FILE=x", "GIT_OPTIONAL_LOCKS=1"} {
		if slices.Contains(got, gone) {
			t.Errorf("%s is there", gone)
		}
	}
}
