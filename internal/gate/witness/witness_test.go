package witness_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/small"
)

const commit = "1c8dd2392b0bb2e3f5b4a1f3e94d1d4d23c1d1aa"

// sample is a state with every part of the format, and texts that JSON cannot represent, or that are invisible.
func sample() *witness.State {
	at := time.Date(2026, 3, 1, 9, 10, 0, 0, time.UTC)
	return &witness.State{
		Repository: "https://example.org/o/größe.git?a=<b>&c",
		Config:     []string{"version: 1\r", `# "quoted"`, `"rules": {}`, "`x`", "'y'", "", "\x00\xff"},
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

func text(t testing.TB, s *witness.State) []byte {
	t.Helper()
	out, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*witness.State{
		"sample": sample(), "nothing": {Repository: "r", Refs: []witness.Ref{{Name: "HEAD"}}},
		"empty configuration": {Repository: "r", Config: []string{""}, Refs: []witness.Ref{{Name: "HEAD"}}},
	} {
		written := text(t, s)
		back, err := witness.Parse(written)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, written)
			continue
		}
		made := cmpopts.IgnoreFields(witness.State{}, "Version")
		if diff := cmp.Diff(s, back, made, cmpopts.IgnoreFields(witness.Log{}, "Head")); diff != "" {
			t.Errorf("%s comes back as another (-was +is):\n%s", name, diff)
		}
		if hidden := strings.ContainsFunc(string(written), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); hidden || !json.Valid(written) {
			t.Errorf("%s is no JSON, or holds what nobody sees:\n%q", name, written)
		}
	}
	swapped := sample()
	slices.Reverse(swapped.Refs)
	slices.Reverse(swapped.Refs[1].Logs)
	if !bytes.Equal(text(t, swapped), text(t, sample())) {
		t.Error("the order of refs and logs shows")
	}
}

// TestParse damages the sample in many ways: each is an error that says what is wrong, or where.
func TestParse(t *testing.T) {
	t.Parallel()
	written := string(text(t, sample()))
	digest := small.Digest{2}.String()
	_, refs, _ := strings.Cut(written, `"refs": `)
	_, head, _ := strings.Cut(written, `"head": `)
	head, _, _ = strings.Cut(head, ",")
	for name, c := range map[string]struct{ from, to, want string }{
		"other version":    {`"version": 1`, `"version": 2`, "version 2"},
		"no version":       {` "version": 1,` + "\n", "", "version 0"},
		"another field":    {`"version": 1`, `"versions": 1`, "versions"},
		"no repository":    {"https://example.org/o/größe.git?a=<b>&c", "", "no repository"},
		"open quotation":   {`xff\""`, `xff"`, "line 11 "},
		"useless quotes":   {`"# \"quoted\""`, `"\"# \\\"quoted\\\"\""`, "line 6 "},
		"useless escapes":  {"größe", `gr\u00f6ße`, "line 3 "},
		"trailing space":   {"[\n", "[ \n", "line 4 "},
		"one line":         {"\n", "", "line 1 "},
		"a field twice":    {`"version": 1,`, `"version": 1, "version": 1,`, "line 2 "},
		"a ref twice":      {`"ref": "\"refs/heads/\\u2028\\u2014 x\""`, `"ref": "refs/heads/main"`, "twice"},
		"a log twice":      {`"a\nlog b/.small/progress.small.yml"`, `".small/progress.small.yml"`, "twice"},
		"no path":          {`"log": ".small/progress.small.yml"`, `"log": ""`, "no path"},
		"no full id":       {commit, commit[:12], "full id"},
		"no id":            {commit, "--upload-pack=x", "full id"},
		"no full name":     {"refs/heads/main", "--all", "full name"},
		"no time":          {"2026-03-01T09:10:00Z", "soon", "time"},
		"another zone":     {"2026-03-01T09:10:00Z", "2026-03-01T10:10:00+01:00", "line 19 "},
		"part of a second": {"09:10:00Z", "09:10:00.5Z", "line 19 "},
		"fewer entries":    {`"` + small.Digest{1}.String() + "\",\n", "", "line 21 "},
		"no digest":        {digest, strings.ToUpper(digest), "lower-case"},
		"another digest":   {digest, small.Digest{3}.String(), "line 21 "},
		"another head":     {head, `"` + digest + `"`, "line 21 "},
		"no head":          {`"head": ` + head + ",", "", "line 21 "},
		"empty entries":    {`"commit": "` + commit + "\",\n", `"entries": [], "commit": "` + commit + "\",\n", "line 20 "},
		"moved to itself":  {`"moved": "c\t/`, `"moved": "a\nlog b/`, "no other log"},
		"moved nowhere":    {`"moved": "c\t/`, `"moved": "d\t/`, "no other log"},
		"no ref":           {refs, "[]\n}\n", "a ref is missing"},
		"more after it":    {"\n}\n", "\n}\n{}\n", "line 48 "},
		"carriage returns": {"\n", "\r\n", "line 1 "},
		"nothing":          {written, "", "EOF"},
		"null":             {written, "null", "version 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 1
			if name == "carriage returns" || name == "one line" {
				n = -1
			}
			spoilt := strings.Replace(written, c.from, c.to, n)
			if spoilt == written {
				t.Fatalf("%q is not in\n%s", c.from, written)
			}
			_, err := witness.Parse([]byte(spoilt))
			if err == nil || !strings.Contains(failure.Of(err).Message, c.want) || failure.Of(err).Remedy == "" {
				t.Errorf("%v; want %s\n%s", err, c.want, spoilt)
			}
		})
	}
}

// TestEveryByte demands that removing or changing any single byte is noticed.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	written := text(t, sample())
	for i := range written {
		for what, spoilt := range map[string][]byte{
			"left out": append(bytes.Clone(written[:i]), written[i+1:]...),
			"changed":  append(append(bytes.Clone(written[:i]), written[i]^1), written[i+1:]...),
		} {
			if s, err := witness.Parse(spoilt); err == nil && bytes.Equal(text(t, s), written) {
				t.Fatalf("byte %d can be %s: %q", i, what, spoilt)
			}
		}
	}
}

// FuzzParse demands that a parsed text is written as it was, and that every name and line is preserved.
func FuzzParse(f *testing.F) {
	f.Add(text(f, sample()), "a\xff")
	f.Add([]byte(`{"version": 1, "repository": "r", "refs": [{"ref": "HEAD"}]}`), "\"\\\"\u202e\n")
	f.Fuzz(func(t *testing.T, written []byte, name string) {
		s, err := witness.Parse(written)
		if err == nil && !bytes.Equal(text(t, s), written) {
			t.Errorf("it is read, and written otherwise:\n%q\n%q", written, text(t, s))
		}
		s = sample()
		s.Repository, s.Config[0], s.Refs[0].Name, s.Refs[0].Logs[0].Path = "r"+name, name, "refs/"+name, name+"/log"
		back, err := witness.Parse(text(t, s))
		if err != nil || back.Repository != "r"+name || back.Config[0] != name || back.Ref("refs/"+name) == nil ||
			!slices.ContainsFunc(back.Ref("refs/"+name).Logs, func(l witness.Log) bool { return l.Path == name+"/log" }) {
			t.Errorf("%q does not come back: %+v %v", name, back, err)
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
	for _, name := range []string{"", "a b", "a+b", "a\u00a0b", "a\x01", "a\xff"} {
		if secret, _, err := witness.NewKey(rand.Reader, name); err == nil {
			_, err = witness.Sign([]byte("\n"), secret, "")
			t.Errorf("%q names a key: %v", name, err)
		}
	}
	text := text(t, sample())
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
	if back, err := witness.Verify(signed, public+"\n"+public+"\n"); err != nil || !bytes.Equal(back, text) {
		t.Errorf("a key that is there twice does not verify it: %v", err)
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
