package combine

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
)

// ResolveFile resolves a case in which the file itself is the entry. An allowed change stays: to a draft, to lines that are not compared, or one that a
// waiver allows. Any other change is replaced by the merge base's version or, where a commit is picked, by ours, which has been judged. If both sides
// have allowed changes, or new files of this name, it fails.
func (c Case) ResolveFile() (*Resolution, error) {
	kind := KindOf(c.Comparer.Policy, c.Path)
	out, from := &Resolution{Entries: 1, Text: c.Ours.Data, Brought: make([]int, len(c.Theirs)+1)}, c.Ours
	if c.Ours.Data != nil {
		out.Brought[0] = 1
	}
	for i, v := range c.Theirs {
		base := kind.findBaseFile(v)
		if base != nil {
			out.Brought[0] = 0
			ours := c.mayChange(kind, base, from) && !bytes.Equal(base, from.Data)
			theirs := c.mayChange(kind, base, v) && !bytes.Equal(base, v.Data)
			// Ours may be a file that the picked commit does not know, or its change may have been waived.
			another := v.Picked && !ours && isOther(base, from.Data)
			switch {
			case another && theirs && isOther(v.Data, from.Data):
				return nil, c.errTwoFiles(from, v)
			case another:
			case ours && theirs && !bytes.Equal(from.Data, v.Data):
				return nil, &failure.Error{
					Message: fmt.Sprintf("%s: %s and %s each changed it", wording.Printable(c.Path), from.displayName(), v.displayName()),
					Remedy:  "edit it so that it has both changes: then " + wording.Commands("git add -- "+wording.TopPath(c.Path), "small-hook reconcile"),
				}
			case theirs:
				out.Text, from = v.Data, v
			case !ours:
				out.Text, from = base, Version{Name: "the merge base", Data: base}
			}
			continue
		}
		switch {
		case v.Data == nil:
		case from.Data == nil:
			out.Text, out.Brought[i+1], from = v.Data, 1, v
		case isOther(v.Data, from.Data):
			return nil, c.errTwoFiles(from, v)
		}
	}
	return out, nil
}

// isOther reports whether there is a file that differs from another one.
func isOther(than, data []byte) bool { return data != nil && !bytes.Equal(than, data) }

// errTwoFiles returns the failure of two versions that are different files of one name.
func (c Case) errTwoFiles(from, v Version) error {
	remedy, cause := "`git rebase "+wording.ShellWord(v.Name)+"`, and give your file another name where that stops: a merge keeps both sides' files", ErrUndo
	if v.Picked {
		remedy, cause = "give the second another name, NEW: `git show "+wording.ShellWord(v.ID+":"+c.Path)+" > NEW`, `git add -- NEW`, `git restore --source=HEAD --staged --worktree -- "+
			wording.TopPath(c.Path)+"`; then `small-hook reconcile`", nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s: %s and %s each have a new file of this name", wording.Printable(c.Path), from.displayName(), v.displayName()), Remedy: remedy, Err: cause,
	}
}

// FileAsResolution returns a file as a resolution if it differs from the merge bases' files only as the configuration allows, or if it is ours where a
// commit is picked; else nil.
func (c Case) FileAsResolution(data []byte) *Resolution {
	kind := KindOf(c.Comparer.Policy, c.Path)
	for _, v := range c.Theirs {
		base := kind.findBaseFile(v)
		isOurs := v.Picked && bytes.Equal(data, c.Ours.Data)
		if !isOurs && (base == nil || !c.mayChange(kind, base, Version{Data: data, Picked: v.Picked})) {
			return nil
		}
	}
	return &Resolution{Entries: 1, Text: data, Brought: make([]int, len(c.Theirs)+1)}
}

// findBaseFile returns the file at a side's first merge base that has it; nil if none has.
func (k Kind) findBaseFile(v Version) []byte {
	at := slices.IndexFunc(v.Bases, func(base Version) bool { return base.Data != nil })
	if at < 0 {
		return nil
	}
	return v.Bases[at].Data
}

// mayChange reports whether a side may change the file base to its version: base is a draft, both are the same entry, or a waiver allows the change.
func (c Case) mayChange(kind Kind, base []byte, to Version) bool {
	if to.Data == nil {
		return false
	}
	before, _ := kind.Read(base, small.Limits{})
	after, _ := kind.Read(to.Data, small.Limits{})
	switch {
	case before == nil || after == nil:
		return false
	case kind.IsDraft(base, to.Picked || c.TargetLacks):
		return true
	}
	return after.Open == 0 && (after.Entries[0].Digest == before.Entries[0].Digest || c.isWaived(kind, base, to.Data))
}

// isWaived reports whether a waiver allows a change of a file. Waivers name entries, which are made of the file's name and mode, too. Of a file that is
// not text they have git's id, which is not known here: its change is not allowed.
func (c Case) isWaived(kind Kind, base, to []byte) bool {
	return slices.ContainsFunc([]string{history.ModePlain, history.ModeProgram}, func(mode string) bool {
		digest := func(data []byte) small.Digest {
			return kind.stanza.Form().LogOfFile(path.Base(c.Path), mode, string(data), data).Entries[0].Digest
		}
		return c.Comparer.AllowsTransition(digest(base), digest(to))
	})
}

// IsDraft reports whether a file is a draft: it is open or, where files are frozen once the target has them, the target lacks it. For a picked
// commit, pass true for targetLacks: its own branch may edit its new files, and its changes to the target's files are judged with the commit.
func (k Kind) IsDraft(data []byte, targetLacks bool) bool {
	log, _ := k.Read(data, small.Limits{})
	return targetLacks && k.stanza.FrozenOnceMerged() || log != nil && log.Open > 0
}
