package appendonly

import (
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// renumber returns new paths for unsorted files of a folder whose files are ordered by number: with the numbers after the greatest one, in their order.
// Files that agree up to the first dot keep one number. added are all new files in the folder. A file without a number is left out.
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

// renameCommands returns the commands that rename a file: in the index, or in a new commit of a branch that may still rename it.
func renameCommands(in *run.Run, commit, from, to string) string {
	move := `git -C "$(git rev-parse --show-toplevel)" mv -- ` + wording.ShellWord(from) + " " + wording.ShellWord(to)
	if history.Uncommitted(commit) {
		return wording.Commands(move) + ", and commit again"
	}
	return in.OnBranch(move, "git commit -m "+wording.ShellWord("Rename "+from)+" -- "+wording.TopPath(from)+" "+wording.TopPath(to))
}
