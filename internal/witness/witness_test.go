package witness_test

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/witness"
)

const commit = "1c8dd2392b0bb2e3f5b4a1f3e94d1d4d23c1d1aa"

// sample is a state with everything that the form has, and texts that a line cannot hold as they are.
func sample() *witness.State {
	at := time.Date(2026, 3, 1, 9, 10, 0, 0, time.UTC)
	return &witness.State{
		Repository: "https://example.org/o/größe.git",
		Config:     []byte("version: 1\r\n# \"quoted\"\n\"rules\": {}\n\n\x00\xff"),
		Refs: []witness.Ref{
			{Name: "refs/heads/main", Logs: []witness.Log{
				{Path: ".small/progress.small.yml", Time: at, Commit: commit, Entries: []small.Digest{{1}, {2}, {2}}},
				{Path: "a\nlog b/.small/progress.small.yml", Time: at, Commit: commit, Moved: "c\t/.small/progress.small.yml"},
				{Path: "c\t/.small/progress.small.yml", Time: at, Commit: commit},
			}},
			{Name: "refs/heads/\u2028— x"},
		},
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*witness.State{
		"sample": sample(), "nothing": {Repository: "r", Refs: []witness.Ref{{Name: "HEAD"}}},
		"empty configuration": {Repository: "r", Config: []byte{}, Refs: []witness.Ref{{Name: "HEAD"}}},
	} {
		text := s.Text()
		back, err := witness.Parse(text)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if diff := cmp.Diff(s, back); diff != "" {
			t.Errorf("%s comes back as another (-was +is):\n%s", name, diff)
		}
		if lines := strings.Count(string(text), "\r") + strings.Count(string(text), "\x00"); lines > 0 {
			t.Errorf("%s holds control characters:\n%q", name, text)
		}
	}
}

// TestParse spoils the sample in many ways: each is an error that names the line.
func TestParse(t *testing.T) {
	t.Parallel()
	text := string(sample().Text())
	digest := small.Digest{2}.String()
	_, refs, _ := strings.Cut(text, "\nref ")
	for name, c := range map[string]struct{ from, to, line string }{
		"other version":    {"witness 1", "witness 2", "line 1: "},
		"no header":        {"small-gate witness 1\n", "", "line 1: "},
		"no repository":    {"repository https", "repo https", "line 2: "},
		"empty repository": {"repository https://example.org/o/größe.git", "repository ", "line 2: "},
		"open quotation":   {`|"version: 1\r"`, `|"version: 1\r`, "line 3: "},
		"useless quotes":   {`|# "quoted"`, `|"# \"quoted\""`, "line 4: "},
		"trailing space":   {"ref refs/heads/main\n", "ref refs/heads/main \n", "line 9: "},
		"no empty line":    {"\nref refs/heads/main\n", "ref refs/heads/main\n", "line 8: "},
		"a ref twice":      {"refs/heads/main", "refs/heads/main\n\nref refs/heads/main", "line 11: "},
		"a log twice":      {`"a\nlog b/.small/progress.small.yml"`, ".small/progress.small.yml", "line 18: "},
		"no full id":       {commit, commit[:12], "line 12: "},
		"no id":            {commit, "--upload-pack=x", "line 12: "},
		"no full name":     {"ref refs/heads/main", "ref --all", "line 9: "},
		"no time":          {"time 2026-03-01T09:10:00Z", "time soon", "line 11: "},
		"another zone":     {"time 2026-03-01T09:10:00Z", "time 2026-03-01T10:10:00+01:00", "line 11: "},
		"fewer entries":    {"entries 3", "entries 2", "line 14: "},
		"more entries":     {"entries 3", "entries 4", "line 18: "},
		"no number":        {"entries 3", "entries three", "line 13: "},
		"signed number":    {"entries 3", "entries +3", "line 13: "},
		"huge number":      {"entries 3", "entries 3000000000", "line 18: "},
		"no digest":        {digest, strings.ToUpper(digest), "line 16: "},
		"another digest":   {digest, small.Digest{3}.String(), "line 14: "},
		"another head":     {"head sha256:", "head sha256:0", "line 14: "},
		"moved to itself":  {`moved "c\t/`, `moved "a\nlog b/`, "line 21: "},
		"moved nowhere":    {`moved "c\t/`, `moved "d\t/`, "line 21: "},
		"no ref":           {"\nref " + refs, "", "line 8: "},
		"a word too much":  {"commit " + commit + "\n", "commit " + commit + "\nmore x\n", "line 13: "},
		"carriage returns": {"\n", "\r\n", "line 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 1
			if name == "carriage returns" {
				n = -1
			}
			spoilt := strings.Replace(text, c.from, c.to, n)
			if spoilt == text {
				t.Fatalf("%q is not in\n%s", c.from, text)
			}
			_, err := witness.Parse([]byte(spoilt))
			if err == nil || !strings.Contains(failure.Of(err).Message, c.line) || failure.Of(err).Remedy == "" {
				t.Errorf("%v; want %s\n%s", err, c.line, spoilt)
			}
		})
	}
}

// TestEveryByte demands that no single byte can be left out or changed unseen.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	text := sample().Text()
	for i := range text {
		for what, spoilt := range map[string][]byte{
			"left out": append(bytes.Clone(text[:i]), text[i+1:]...),
			"changed":  append(append(bytes.Clone(text[:i]), text[i]^1), text[i+1:]...),
		} {
			if s, err := witness.Parse(spoilt); err == nil && bytes.Equal(s.Text(), text) {
				t.Fatalf("byte %d can be %s: %q", i, what, spoilt)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample().Text())
	f.Add([]byte("small-gate witness 1\nrepository r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := witness.Parse(text)
		if err == nil && !bytes.Equal(s.Text(), text) {
			t.Errorf("it is read, and written otherwise:\n%q\n%q", text, s.Text())
		}
	})
}

func TestSign(t *testing.T) {
	t.Parallel()
	secret, public, err := witness.NewKey(rand.Reader, "witness.example.org")
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := witness.NewKey(rand.Reader, "witness.example.org")
	if err != nil {
		t.Fatal(err)
	}
	text := sample().Text()
	signed, err := witness.Sign(text, secret+"\n", public)
	if err != nil || !witness.Signed(signed) || witness.Signed(text) {
		t.Fatalf("%v\n%s", err, signed)
	}
	back, err := witness.Verify(signed, public+"\n")
	if err != nil || !bytes.Equal(back, text) {
		t.Fatalf("%v\n%s", err, back)
	}
	if _, err := witness.Verify(signed, other); err == nil {
		t.Error("another key verifies it")
	}
	if _, err := witness.Sign(text, secret, other); err == nil || !strings.Contains(err.Error(), "does not verify") {
		t.Errorf("a key signs that does not verify: %v", err)
	}
	if back, err := witness.Verify(signed, other+"\n"+public+"\n"); err != nil || !bytes.Equal(back, text) {
		t.Errorf("of two keys, none verifies it: %v", err)
	}
	line := signed[bytes.LastIndexByte(signed[:len(signed)-1], '\n')+1:]
	if _, err := witness.Verify(slices.Concat(signed, line), public); err == nil || !strings.Contains(err.Error(), "more than one signature") {
		t.Errorf("a doubled signature: %v", err)
	}
	if _, err := witness.Verify(signed, "\n"); err == nil {
		t.Error("no key verifies it")
	}
	if _, err := witness.Verify(text, public); err == nil {
		t.Error("an unsigned state is taken for a signed one")
	}
	if _, err := witness.Parse(signed); err == nil {
		t.Error("a signed state is read without a key")
	}
	for i := range signed {
		spoilt := bytes.Clone(signed)
		spoilt[i] ^= 1
		if back, err := witness.Verify(spoilt, public); err == nil && !bytes.Equal(back, text) {
			t.Fatalf("byte %d can be changed: %q", i, spoilt)
		}
	}
	twice, err := witness.Sign(text, secret, "")
	if err != nil || !bytes.Equal(twice, signed) {
		t.Errorf("the same state is signed otherwise: %v", err)
	}
	for _, bad := range []string{"", "key", public} {
		if _, err := witness.Sign(text, bad, ""); err == nil || bad != "" && strings.Contains(err.Error(), bad[:3]+"+") {
			t.Errorf("%q signs, or is quoted: %v", bad, err)
		}
	}
	if _, err := witness.Verify(signed, secret); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("a secret key verifies, or is quoted: %v", err)
	}
}
