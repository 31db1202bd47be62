package wording

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A shell reads back every text as one word.
func TestShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("NOT TESTED: there is no sh: %v", err)
	}
	for _, text := range []string{"", "a", "a b", "it's", `"`, "$HOME", "`x`", "a\nb", "~", "*", "-x", "a=b", "100%", `\`, "#", "é", "!x", "a;b", "''", "x\ty", "\x1b[0m\x7f", "\xff", "a\u202eb", "\u00a0", "\u2028", `'\''`, `"$(printf '\101')"`} {
		if got := UnquoteShell(ShellQuote(text)); got != text {
			t.Errorf("%q is read back as %q", text, got)
		}
		for _, word := range []string{ShellWord(text), ShellQuote(text)} {
			out, err := exec.Command(sh, "-c", `printf %s. `+word).Output()
			if want := text + "."; err != nil || string(out) != want {
				t.Errorf("%q is written %s, and read as %q (%v)", text, word, out, err)
			}
			if shown := strings.ReplaceAll(word, "\n", ""); strings.Contains(word, "`") || Printable(shown) != shown {
				t.Errorf("%q is written %q, which a message cannot show as it is", text, word)
			}
		}
	}
	if got := ShellWord("src/a-b_c.go"); got != "src/a-b_c.go" {
		t.Errorf("a plain path is quoted: %s", got)
	}
}

func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		strings.Repeat("é", 80): strings.Repeat("é", 80),
		strings.Repeat("é", 81): strings.Repeat("é", 80) + "…",
	} {
		if got := Clip(text); got != want {
			t.Errorf("got %q, not %q", got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 entry": Count(1, "entry"), "0 entries": Count(0, "entry"), "2 branches": Count(2, "branch"), "3 more findings": Count(3, "more finding"),
	} {
		if got != want {
			t.Errorf("got %q, not %q", got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain Grün 日本": "plain Grün 日本", "a\x1b[31mb": `a\x1b[31mb`, "a\nb": `a\nb`, "\xff": `\xff`, "\u202e": `\u202e`, "\u00a0": `\u00a0`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		48*time.Hour - time.Second: "2 days", 25 * time.Hour: "25 hours", 61 * time.Minute: "61 minutes", 89 * time.Second: "89 seconds", time.Second: "1 second", 0: "0 seconds",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s is %q, not %q", d, got, want)
		}
	}
}

// TestNoBacktick demands that no name ends a command of a remedy: quoted text has no backtick, and means the same to a shell.
func TestNoBacktick(t *testing.T) {
	for _, text := range []string{"a`touch x`b", "`", "it's `here`"} {
		quoted := ShellWord(text)
		if strings.Contains(quoted, "`") {
			t.Errorf("%s", quoted)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+quoted).Output(); err != nil || string(out) != text {
			t.Errorf("%s means %q (%v)", quoted, out, err)
		}
		if shown := Quote(text); strings.Contains(shown, "`") {
			t.Errorf("%s", shown)
		}
	}
}

func TestList(t *testing.T) {
	for want, parts := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := List(parts, "or"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTopPath(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.log": ":/a/b.log", "a b.log": `':/a b.log'`, "a*.log": `':(top,literal)a*.log'`, "[a].log": `':(top,literal)[a].log'`,
		"!a": `':(top,literal)!a'`, "a!": `':/a!'`, "^a": `':(top,literal)^a'`, "_a": `':(top,literal)_a'`, "@a/b_": `':(top,literal)@a/b_'`, "-a": `':(top,literal)-a'`, ".a": ":/.a", "+a": ":/+a",
		":a": `':(top,literal):a'`, "": ":/",
	} {
		if got := TopPath(path); got != want {
			t.Errorf("%q: %s, not %s", path, got, want)
		}
		if got, fromTop := CutTop(UnquoteShell(TopPath(path))); got != path || !fromTop {
			t.Errorf("%q: read back as %q, %v", path, got, fromTop)
		}
	}
}
