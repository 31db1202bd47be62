package githistory

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

const (
	idA = "78981922613b2afb6025042ff6bd878ac1994e85"
	idB = "88c5bcc6537cbbb6795b45d9ac37cbc81e70dd6e"
)

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Truncated or unintelligible output of git is an error, whatever its exit status.
func TestReadChangesThatAreDamaged(t *testing.T) {
	r := &Repo{format: formatsByName["sha1"]}
	whole := ":100644 100755 " + idA + " " + idB + " M\x00a\nb\x00"
	read := func(s string) error {
		out := bufio.NewReader(strings.NewReader(s))
		if _, err := r.readChanges(out); err != nil {
			return err
		}
		return requireEnd(out)
	}
	if err := read(whole + whole + ":000000 000000 " + idA + " " + idB + " U\x00c\x00"); err != nil {
		t.Errorf("what git prints is refused: %v", err)
	}
	for i := 1; i < len(whole); i++ {
		if read(whole[:i]) == nil {
			t.Errorf("%q was taken", whole[:i])
		}
	}
	for _, s := range []string{
		"x", whole + "x", "\x00", ":\x00a\x00",
		strings.Replace(whole, idA, idA[:39], 1), strings.Replace(whole, idB, strings.ToUpper(idB), 1),
		strings.Replace(whole, "100644", "10064", 1), strings.Replace(whole, " M", "", 1),
		strings.Replace(whole, "a\nb", "", 1), strings.Replace(whole, " M", " M M", 1),
	} {
		if read(s) == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

func TestRecordsThatAreDamaged(t *testing.T) {
	none := func([]string, string) error { return nil }
	whole := "100644 blob " + idA + "\tpath\x00"
	if err := readRecords(bufio.NewReader(strings.NewReader(whole+whole)), none); err != nil {
		t.Error(err)
	}
	for _, s := range []string{whole[:len(whole)-1], whole + "x", "no tab\x00", "no path\t\x00"} {
		if readRecords(bufio.NewReader(strings.NewReader(s)), none) == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

func TestBatchAnswersThatAreDamaged(t *testing.T) {
	ask := func(answer string) error {
		b := &batch{stdin: nopCloser{io.Discard}, stdout: bufio.NewReader(strings.NewReader(answer))}
		_, err := b.readObject(idA, "blob", 3)
		return err
	}
	if err := ask(idA + " blob 3\nabc\n"); err != nil {
		t.Error(err)
	}
	for _, s := range []string{
		"", idA, idA + " blob 3\n", idA + " blob 3\nab", idA + " blob 3\nabc", idA + " blob 3\nabcd", idA + " blob 4\nabc",
		idB + " blob 3\nabc\n", idA + " blob -1\n\n", idA + " blob x\n\n", idA + " blob 3 more\nabc\n", idA + " ambiguous\n",
		idA + " missing\n", idA + " tree 0\n\n", "\n",
	} {
		if ask(s) == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

// Recycled memory serves the next blob, unless most of it would be wasted.
func TestMemoryOfAnswers(t *testing.T) {
	for _, tt := range []struct {
		spare int
		size  int64
		again bool
	}{{0, 10, false}, {9, 10, false}, {10, 10, true}, {20, 10, true}, {21, 10, false}, {10, 0, false}, {0, 0, false}} {
		b := &batch{spare: make([]byte, tt.spare)}
		spare := b.spare
		got := b.allocate(tt.size)
		again := len(got) > 0 && len(spare) > 0 && &got[0] == &spare[0]
		if got == nil || int64(len(got)) != tt.size || again != tt.again || again && b.spare != nil {
			t.Errorf("%+v: %d bytes, again %v, spare %d", tt, len(got), again, len(b.spare))
		}
	}
}

func TestParseDiscovery(t *testing.T) {
	m := separator + "\n"
	got, ok := parseDiscovery([]byte("false\nfalse\nsha1\n" + m + "/a\nb/.git\n" + m + ".git\n" + m + "\n" + m + "HEAD\n"))
	want := answers{flags: "false\nfalse\nsha1", gitDir: "/a\nb/.git", commonDir: ".git", cdup: "\n", head: "HEAD"}
	if !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	for last, want := range map[string]bool{"": false, "HEAD^{tree}\n": false, "HEAD^{tree}\nHEAD:.small-gate.yml\n": false, "HEAD:.small-gate.yml\n": true} {
		if got, ok := parseDiscovery([]byte(m + m + m + m + m + last)); !ok || got.headHasNoConfig != want {
			t.Errorf("%q: %+v, %v", last, got, ok)
		}
	}
	for _, s := range []string{"", m + m + m, m + m + m + m + m + m} {
		if _, ok := parseDiscovery([]byte(s)); ok {
			t.Errorf("%q was taken", s)
		}
	}
	for _, flags := range []string{"false\nfalse", "false\nfalse\nsha512", "false\nfalse\n--show-object-format"} {
		wantFailure(t, (&Repo{}).applyAnswers("/", answers{flags: flags}), "newer git")
	}
}
