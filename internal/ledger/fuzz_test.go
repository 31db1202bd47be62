package ledger

import (
	"bytes"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// FuzzExtend demands that both ways of reading a longer log give the same.
func FuzzExtend(f *testing.F) {
	add := func(old, tail []byte) { smalltest.Seed(f, func() { extendsBothWays(f, old, tail) }, old, tail) }
	for _, data := range smalltest.SeedTexts(f) {
		for _, at := range []int{len(data) / 2, 1 + bytes.LastIndex(bytes.TrimSpace(data), []byte("\n")), len(data)} {
			add(data[:at], data[at:])
		}
	}
	for _, piece := range smalltest.LogPieces {
		add([]byte("entries:\n- a\n"), []byte(strings.ReplaceAll(piece, "D", "")))
		add([]byte("entries:\n  "+strings.ReplaceAll(piece, "D", "  ")), []byte("  - b: c\n"))
	}
	f.Fuzz(func(t *testing.T, old, tail []byte) { extendsBothWays(t, old, tail) })
}

func extendsBothWays(t testing.TB, old, tail []byte) {
	t.Helper()
	log, _ := ReadLog(old, small.Limits{})
	if log == nil {
		return
	}
	text := bytes.Join([][]byte{old, tail}, nil)
	longer := sameBothWays(t, log, old, text)
	if longer != nil {
		sameBothWays(t, longer, text, append(text, tail...))
	}
}
