package hookinput_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/hookinput"
)

var (
	idA    = strings.Repeat("a", 40)
	idB    = strings.Repeat("b", 40)
	zero   = strings.Repeat("0", 40)
	long   = strings.Repeat("c", 64)
	zero64 = strings.Repeat("0", 64)
)

// TestReadPrePush reads what git writes: new branches, deletions, tags,
// several refs, a revision with spaces, and ids of both lengths.
func TestReadPrePush(t *testing.T) {
	in := fmt.Sprintf("refs/heads/x %s refs/heads/x %s\n(delete) %s refs/heads/y %s\nHEAD %s refs/heads/z %s\nHEAD^{/fix a  typo} %s refs/heads/w %s\n\nrefs/tags/v %s refs/tags/v %s",
		idA, idB, zero, idB, idA, zero, idA, idB, long, zero64)
	got, err := hookinput.ReadPrePush(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []hookinput.RefUpdate{
		{LocalRef: "refs/heads/x", LocalID: idA, Ref: "refs/heads/x", RemoteID: idB},
		{LocalRef: "(delete)", LocalID: zero, Ref: "refs/heads/y", RemoteID: idB},
		{LocalRef: "HEAD", LocalID: idA, Ref: "refs/heads/z", RemoteID: zero},
		{LocalRef: "HEAD^{/fix a  typo}", LocalID: idA, Ref: "refs/heads/w", RemoteID: idB},
		{LocalRef: "refs/tags/v", LocalID: long, Ref: "refs/tags/v", RemoteID: zero64},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i, w := range []struct{ deletes, creates bool }{{false, false}, {true, false}, {false, true}, {false, false}, {false, true}} {
		if got[i].Deletes() != w.deletes || got[i].Creates() != w.creates {
			t.Errorf("line %d: deletes %v, creates %v", i, got[i].Deletes(), got[i].Creates())
		}
	}
}

// TestReadPreReceive reads the lines of the receiving side.
func TestReadPreReceive(t *testing.T) {
	got, err := hookinput.ReadPreReceive(strings.NewReader(idA + " " + idB + " refs/heads/x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]hookinput.RefUpdate{{LocalID: idB, Ref: "refs/heads/x", RemoteID: idA}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestReadMalformed never misreads a line.
func TestReadMalformed(t *testing.T) {
	for _, line := range []string{
		"refs/heads/x " + idA + " refs/heads/x",
		"refs/heads/x " + idA + " refs/heads/x " + idB + " more",
		"refs/heads/x " + idA + " refs/heads/y z " + idB,
		"refs/heads/x " + idA[:39] + " refs/heads/x " + idB,
		"refs/heads/x " + strings.ToUpper(idA) + " refs/heads/x " + idB,
		"refs/heads/x " + idA + " refs/heads/x " + long,
		"refs/heads/x " + idA + "  " + idB,
		"refs/heads/x --all refs/heads/x " + idB,
		"refs/heads/x " + idA + " refs/heads/x " + idB + "\r",
		"refs/heads/x " + idA + " refs/heads/x\x1b[m " + idB,
		strings.Repeat("x", 1<<17),
	} {
		_, err := hookinput.ReadPrePush(strings.NewReader(line + "\n"))
		if !refused(err) {
			t.Errorf("%.60q: %v", line, err)
		}
	}
	if _, err := hookinput.ReadPrePush(failing{}); !refused(err) {
		t.Errorf("a failing reader: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("gone") }

// FuzzReadRefs demands that every accepted line is read as written, and that both readers accept only full object ids.
func FuzzReadRefs(f *testing.F) {
	f.Add("refs/heads/x " + idA + " refs/heads/x " + zero + "\n")
	f.Add("(delete) " + zero64 + " refs/heads/x " + long + "\n")
	f.Add(idA + " " + idB + " refs/heads/x\n" + zero + " " + idB + " refs/tags/v\r\n")
	f.Add("\x00 \n\n " + idA)
	f.Add("0 0 0")
	f.Add("0 0 \r\r")
	f.Fuzz(func(t *testing.T, in string) {
		for fields, read := range map[int]func(string) ([]hookinput.RefUpdate, error){
			4: func(s string) ([]hookinput.RefUpdate, error) { return hookinput.ReadPrePush(strings.NewReader(s)) },
			3: func(s string) ([]hookinput.RefUpdate, error) { return hookinput.ReadPreReceive(strings.NewReader(s)) },
		} {
			updates, err := read(in)
			if err != nil {
				if !refused(err) {
					t.Fatalf("an error of another kind: %v", err)
				}
				continue
			}
			var again strings.Builder
			for _, u := range updates {
				for _, id := range []string{u.LocalID, u.RemoteID} {
					if !history.IsZero(id) && (len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "") {
						t.Fatalf("%q was taken for an object id", id)
					}
				}
				if fields == 4 {
					fmt.Fprintf(&again, "%s %s %s %s\n", u.LocalRef, u.LocalID, u.Ref, u.RemoteID)
				} else {
					fmt.Fprintf(&again, "%s %s %s\n", u.RemoteID, u.LocalID, u.Ref)
				}
			}
			second, err := read(again.String())
			if err != nil || !cmp.Equal(updates, second) {
				t.Fatalf("%q was read as %+v, which reads as %+v, %v", in, updates, second, err)
			}
		}
	})
}

// refused reports whether an error is about the input.
func refused(err error) bool {
	var failure *failure.Error
	return errors.As(err, &failure) && strings.Contains(failure.Message, "standard input")
}
