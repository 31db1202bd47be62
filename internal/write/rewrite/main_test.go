package rewrite_test

import (
	"os"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Suite{M: m}.Run()) }
