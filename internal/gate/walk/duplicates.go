package walk

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// judgeMerged finds entries that two parents of a merge hold under two times, if the merge holds both. If it holds only one of them, a time
// was changed, which is a finding of an edge.
func (r walker) judgeMerged(ctx context.Context, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) error {
	for i := range parents {
		for j := i + 1; j < len(parents); j++ {
			if len(parents[i].Ledgers) == 0 || len(parents[j].Ledgers) == 0 {
				continue
			}
			ours, theirs := parents[i].Ledgers[0], parents[j].Ledgers[0]
			own, others := ledger.Parted(ours.Log.Ledger, theirs.Log.Ledger)
			logs := r.Source.Logs(path)
			pairs, err := ledger.Duplicates(own, others, logs.Records(ctx, ours.File), logs.Records(ctx, theirs.File))
			if err != nil {
				return err
			}
			m := &subject.MergedLog{Place: rule.Place{Commit: s.ID, Parent: s.Parents[j]}, Path: path}
			m.Sides = [2]string{subject.SideName(i, s.Parents[i]), subject.SideName(j, s.Parents[j])}
			for _, pair := range pairs {
				at := func(wanted ledger.Entry) int {
					return slices.IndexFunc(child.Log.Entries, func(e ledger.Entry) bool { return e.Digest == wanted.Digest })
				}
				if a, b := at(pair[0]), at(pair[1]); a >= 0 && b >= 0 {
					m.Duplicates = append(m.Duplicates, [2]ledger.Entry{child.Log.Entries[a], child.Log.Entries[b]})
				}
			}
			if len(m.Duplicates) > 0 {
				r.Collector.Judge(m)
			}
		}
	}
	return nil
}
