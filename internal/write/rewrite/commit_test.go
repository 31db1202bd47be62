package rewrite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/history"
)

const (
	me   = "Me <me@example.com> 1772400000 +0100"
	head = "tree 1234\nparent 5678\nauthor " + me + "\ncommitter " + me + "\n"
)

func TestParse(t *testing.T) {
	t.Parallel()
	plain := Commit{Tree: "1234", Parents: []string{"5678"}, Author: me, Committer: me}
	with := func(change func(*Commit)) Commit {
		c := plain
		change(&c)
		return c
	}
	for name, tt := range map[string]struct {
		raw  string
		want Commit
		// text is what the copy is; empty if it is raw.
		text string
	}{
		"a message":                {raw: head + "\na\n\nb\n", want: with(func(c *Commit) { c.Message = "a\n\nb\n" })},
		"no line end":              {raw: head + "\na", want: with(func(c *Commit) { c.Message = "a" })},
		"no message":               {raw: head + "\n", want: plain},
		"headers and nothing else": {raw: head, want: plain, text: head + "\n"},
		"encoding":                 {raw: head + "encoding ISO-8859-1\n\n\xe4\n", want: with(func(c *Commit) { c.Encoding, c.Message = "ISO-8859-1", "\xe4\n" })},
		"signed": {
			raw:  head + "gpgsig -----BEGIN\n \n abc\n -----END\nencoding ISO-8859-1\ngpgsig-sha256 -----BEGIN\n def\n\na\n",
			want: with(func(c *Commit) { c.Encoding, c.Message, c.Signed = "ISO-8859-1", "a\n", true }),
			text: head + "encoding ISO-8859-1\n\na\n",
		},
		"other headers": {
			raw: head + "mergetag object 9\n type commit\n tag v1\n \n It is.\nchange-id xyz\ngpgsig -----BEGIN\n abc\nHG:extra a\n b\n\na\n",
			want: with(func(c *Commit) {
				c.Message, c.Signed = "a\n", true
				c.Headers = []string{"mergetag object 9", " type commit", " tag v1", " ", " It is.", "change-id xyz", "HG:extra a", " b"}
			}),
			text: head + "mergetag object 9\n type commit\n tag v1\n \n It is.\nchange-id xyz\nHG:extra a\n b\n\na\n",
		},
		"two authors": {
			raw:  strings.Replace(head, "committer", "author You <you> 1 +0000\ncommitter", 1) + "\na",
			want: with(func(c *Commit) { c.Message, c.Headers = "a", []string{"author You <you> 1 +0000"} }),
			text: head + "author You <you> 1 +0000\n\na",
		},
		"a first one": {raw: strings.Replace(head, "parent 5678\n", "", 1) + "\na", want: with(func(c *Commit) { c.Message, c.Parents = "a", nil })},
		"an octopus": {
			raw:  strings.Replace(head, "5678", "5\nparent 6\nparent 7", 1) + "\na",
			want: with(func(c *Commit) { c.Message, c.Parents = "a", []string{"5", "6", "7"} }),
		},
		"no author": {raw: "tree 1234\nparent 5678\ncommitter " + me + "\n\na", want: with(func(c *Commit) { c.Message, c.Author = "a", "" })},
	} {
		got := Parse([]byte(tt.raw))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if tt.text == "" {
			tt.text = tt.raw
		}
		if got := got.text(); got != tt.text {
			t.Errorf("%s: the copy is %q", name, got)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	for ident, want := range map[string]int64{me: 1_772_400_000, "<> 5 +0000": 5, "A <b> c> -7 +0000": -7} {
		if got := (Commit{Committer: ident}).Time(); got.Unix() != want {
			t.Errorf("%s: %v", ident, got)
		}
	}
	for _, ident := range []string{"", "Me <me>", "Me <me> noon +0000", "Me <me> 99999999999999999999 +0000"} {
		if got := (Commit{Committer: ident}).Time(); !got.IsZero() {
			t.Errorf("%s: %v", ident, got)
		}
	}
}

func TestSignable(t *testing.T) {
	t.Parallel()
	for author, want := range map[string]bool{
		me: true, "J. <j@x> 1 -0330": true, "<me> 1 +0000": false, " <me> 1 +0000": false, ". <me> 1 +0000": false, "Odd <odd <odd> 1 +0000": false, "Me <me>": false, "": false,
	} {
		if got := (Commit{Author: author}).Signable(); got != want {
			t.Errorf("%q: %v", author, got)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	c := Commit{Tree: "12", Author: me, Committer: "Far <far> 1 +9900", Message: "a"}
	if got, want := c.command("r", 3, nil), "reset r\ncommit r\nmark :3\nauthor "+me+"\ncommitter "+Nobody+"\ndata 1\na\nM 040000 12 \"\"\n\n"; got != want {
		t.Errorf("a first commit: %q", got)
	}
	c.Parents, c.Encoding, c.Message, c.Author = []string{":1", "34", ":2"}, "latin1", "", "<me> 1 +1400"
	files := []history.File{{Path: "gone"}, {Path: "a \"b\\\n\xc3\xa4", Mode: "100755", Object: "56"}}
	want := "commit r\nmark :4\nauthor <me> 1 +1400\ncommitter " + Nobody + "\nencoding latin1\ndata 0\n\nfrom :1\nmerge 34\nmerge :2\n" +
		"M 040000 12 \"\"\nD \"gone\"\nM 100755 56 \"a \\042b\\134\\012\xc3\xa4\"\n\n"
	if got := c.command("r", 4, files); got != want {
		t.Errorf("a merge: %q", got)
	}
}
