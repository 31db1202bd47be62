package appendonly

import (
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// renameFixes returns, by path, fixes that rename unsorted files, by folder, of logs that are ordered by number: in the index, or in a commit that git
// commit makes with how. A file without a number has none, nor has one that is frozen from its commit on. added are all new files, by folder.
func renameFixes(in *run.Run, commit string, wrong map[read.FolderLog][]unsorted, added map[read.FolderLog][]history.File, how string) map[string]string {
	out := map[string]string{}
	for folder, files := range wrong {
		if len(files) == 0 {
			continue
		}
		if folder.Stanza.Order != policy.ByNumber || !folder.Stanza.FrozenOnceMerged() {
			continue
		}
		for from, to := range renumber(files, added[folder]) {
			move := `git -C "$(git rev-parse --show-toplevel)" mv -- ` + wording.ShellWord(from) + " " + wording.ShellWord(to)
			switch {
			case in.Situation(commit).Merge:
				out[from] = wording.Commands(move, wording.FinishMerge)
			case history.Uncommitted(commit):
				out[from] = wording.Commands(move) + remedy.CommitAgain
			default:
				out[from] = in.OnBranch(move, "git commit "+how+" -- "+wording.TopPath(from)+" "+wording.TopPath(to))
			}
		}
	}
	return out
}

// renumber returns new paths for unsorted files of one folder: with the numbers after the greatest one there, in their order. Files that agree up to the
// first dot keep one number. added are all new files in the folder.
func renumber(wrong []unsorted, added []history.File) map[string]string {
	greatest := ""
	for _, d := range wrong {
		greatest = lastOf(policy.ByNumber, greatest, d.existing)
	}
	for _, f := range added {
		greatest = lastOf(policy.ByNumber, greatest, f.Path)
	}
	number, known := new(big.Int).SetString(firstNumber().FindString(path.Base(greatest)), 10)
	if !known {
		return nil
	}
	wrong = slices.Clone(wrong)
	slices.SortStableFunc(wrong, func(a, b unsorted) int { return compareNumbers(path.Base(a.file.Path), path.Base(b.file.Path)) })
	out, numbers := map[string]string{}, map[string]string{}
	for _, d := range wrong {
		folder, name := path.Split(d.file.Path)
		at := firstNumber().FindStringIndex(name)
		if at == nil {
			continue
		}
		stem, _, _ := strings.Cut(name, ".")
		if numbers[stem] == "" {
			numbers[stem] = number.Add(number, big.NewInt(1)).String()
		}
		zeros := strings.Repeat("0", max(at[1]-at[0]-len(numbers[stem]), 0))
		out[d.file.Path] = folder + name[:at[0]] + zeros + numbers[stem] + name[at[1]:]
	}
	return out
}
