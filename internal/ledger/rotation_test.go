package ledger

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

func letterDigest(c byte) small.Digest { return sha256.Sum256([]byte{c}) }

// ofLetters returns a ledger with an entry for each letter; nil for "-".
func ofLetters(letters string) *Ledger {
	if letters == "-" {
		return nil
	}
	var entries []Entry
	for i := range len(letters) {
		entries = append(entries, Entry{Digest: letterDigest(letters[i])})
	}
	return OfEntries(entries)
}

func toLetters(entries []Entry) string {
	var out strings.Builder
	for _, e := range entries {
		for c := byte('A'); c <= 'z'; c++ {
			if letterDigest(c) == e.Digest {
				out.WriteByte(c)
			}
		}
	}
	return out.String()
}

// equivalenceOf reads "bB -d ~xyz": a waiver lets b become B, d may be missing, and x, y and z are accepted.
func equivalenceOf(text string) Equivalence {
	eq := Equivalence{Same: map[small.Digest]small.Digest{}, Edits: map[small.Digest][]small.Digest{}, Dropped: map[small.Digest]bool{}}
	for _, word := range strings.Fields(text) {
		switch word[0] {
		case '-':
			eq.Dropped[letterDigest(word[1])] = true
		case '~':
			accepted := map[small.Digest]bool{}
			for i := range len(word) - 1 {
				accepted[letterDigest(word[i+1])] = true
			}
			eq = eq.Accepting(accepted)
		default:
			from, to := letterDigest(word[0]), letterDigest(word[1])
			eq.Edits[from], eq.Same[from] = append(eq.Edits[from], to), to
		}
	}
	return eq
}

func TestFindRotation(t *testing.T) {
	for _, c := range []struct {
		log, had, has, equal string
		// one, merge and free are what the rotation is in a commit with one parent, in a merge, and in a log without order: Gone, a slash and Rest, or no.
		one, merge, free string
	}{
		{"abc", "-", "abc", "", "abc/", "abc/", "abc/"},
		{"abc", "z", "zabc", "", "abc/", "abc/", "abc/"},
		{"abc", "z", "zyabcx", "", "abc/", "abc/", "abc/"},
		{"abc", "-", "axbc", "", "no", "abc/", "abc/"},
		{"abc", "-", "ab", "", "no", "ab/c", "no"},
		{"abc", "-", "bca", "", "no", "a/bc", "abc/"},
		{"abc", "-", "xyz", "", "no", "no", "no"},
		{"abc", "zy", "zabc", "", "abc/ replaced", "abc/", "abc/ replaced"},
		{"abc", "abcd", "abc", "", "abc/ replaced", "abc/ replaced", "abc/ replaced"},
		// Waivers let an entry change or be missing, and not change back.
		{"abc", "-", "aBc", "bB", "aBc/", "aBc/", "aBc/"},
		{"aBc", "-", "abc", "bB", "no", "ac/B", "no"},
		{"abc", "z", "zac", "-b", "ac/", "ac/", "ac/"},
		{"abc", "z", "zabc", "-b", "abc/", "abc/", "abc/"},
		// Accepted entries count only if both have them.
		{"abc", "-", "aBcd", "~bB", "aBc/", "aBc/", "ac/"},
		{"abc", "-", "Abc", "~aA", "Abc/", "Abc/", "bc/"},
		{"abc", "-", "aBc", "~abcB", "aBc/", "aBc/", "ac/"},
		{"abc", "-", "ABC", "~abcABC", "no", "no", "no"},
	} {
		for i, want := range []string{c.one, c.merge, c.free} {
			r := FindRotation(ofLetters(c.log), ofLetters(c.had), ofLetters(c.has), RotationOptions{Equal: equivalenceOf(c.equal), Combines: i == 1, Unordered: i == 2})
			got := "no"
			if r != nil {
				got = toLetters(r.Gone) + "/" + toLetters(r.Rest)
				if r.ReplacesArchive {
					got += " replaced"
				}
			}
			if got != want {
				t.Errorf("%s to %s, now %s, %q, %d: %s, want %s", c.log, c.had, c.has, c.equal, i, got, want)
			}
		}
	}
}

// TestRotationLosesNothing: without waivers, each entry of the log is in the archive or stays.
func TestRotationLosesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		out := make([]byte, random.IntN(most+1))
		for i := range out {
			out[i] = 'a' + byte(random.IntN(3))
		}
		return string(out)
	}
	found := 0
	for range 20000 {
		log, had, has := "x"+word(3), word(2), word(2)+"x"+word(5)
		options := RotationOptions{Combines: random.IntN(2) == 0, Unordered: random.IntN(2) == 0}
		r := FindRotation(ofLetters(log), ofLetters(had), ofLetters(has), options)
		if r == nil {
			if !options.Combines && !options.Unordered && strings.Contains(has[max(0, strings.Index(has, "x")):], log) && strings.HasPrefix(has, had) {
				t.Fatalf("%s is whole in %s, which had %s, and is no rotation", log, has, had)
			}
			continue
		}
		found++
		gone, rest := toLetters(r.Gone), toLetters(r.Rest)
		all := []byte(gone + rest)
		slices.Sort(all)
		want := []byte(log)
		slices.Sort(want)
		switch {
		case string(all) != string(want), !options.Combines && rest != "":
			t.Fatalf("%s to %s, now %s, %+v: %s and %s", log, had, has, options, gone, rest)
		case !options.Combines && !options.Unordered && !strings.Contains(has, gone):
			t.Fatalf("%s to %s, now %s: %s is not in one piece", log, had, has, gone)
		case !options.Unordered && Subsequence(DigestsOf(OfEntries(r.Gone)), DigestsOf(ofLetters(has))) == nil:
			t.Fatalf("%s to %s, now %s: %s is in another order", log, had, has, gone)
		}
	}
	if found < 1000 {
		t.Errorf("only %d rotations", found)
	}
}
