// Package lanes finds which lane a change claims, which lane fits its files, and whether it meets the lane's demands.
package lanes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

// settings returns the configuration of lanes.
func settings(r *run.Run) *lane.Settings { return lane.SettingsIn(r.Source.Policy) }

// judgement judges the lanes of changes: claim finds the lanes before commits are judged, and judge compares the changes with the
// demands of their lanes afterwards.
type judgement struct{ all []*laneChange }

// claim finds the lanes of the judged changes. A commit that git replays stays in its lane.
func (j *judgement) claim(ctx context.Context, r *run.Run) error {
	switch {
	case r.Options.Replay:
		return nil
	case history.Uncommitted(r.Scope.Tip.ID):
		return j.add(ctx, r, indexChange(r.Scope.Parents))
	case r.Scope.Update.New != "":
		return j.claimPushed(ctx, r)
	}
	s, err := changeSince(ctx, r, r.Scope.Base.ID, r.Scope.Tip.ID, true, r.Learned.Commits)
	if err != nil {
		return err
	}
	return j.add(ctx, r, s)
}

// add finds the claim that counts for a change. From then on, the change's commits are judged by the demands of its lane.
func (j *judgement) add(ctx context.Context, r *run.Run, s *laneChange) error {
	if err := findClaim(ctx, r, s); err != nil {
		return err
	}
	j.all = append(j.all, s)
	name := string(s.Claim.Lane)
	s.demands = &rule.Rigour{
		By: fmt.Sprintf("lane %q", name), Elsewhere: "in a lane less strict than " + name,
		WarningsAreErrors: s.Rigour.WarningsAreErrors, NoInsertions: s.Rigour.NoInsertions, Rules: s.Rigour.Rules,
	}
	r.Collector.SetDemands(s.Rigour.Strict, j.rigourOf)
	return nil
}

// rigourOf returns the demands of the lane of a commit's change; of the strictest lane if the commit is in no change.
func (j *judgement) rigourOf(commit string) *rule.Rigour {
	strictest := j.all[0]
	for _, s := range j.all {
		if len(j.all) > 1 && slices.ContainsFunc(s.Commits, func(of history.Commit) bool { return of.ID == commit }) {
			strictest = s
			break
		}
		if strictest.Claim.Lane.Less(s.Claim.Lane) {
			strictest = s
		}
	}
	return strictest.demands
}

// changeSince returns the change from base's and head's merge bases to head. ends is its Complete.
func changeSince(ctx context.Context, r *run.Run, base, head string, ends bool, commits []history.Commit) (*laneChange, error) {
	bases, err := r.Source.History.MergeBases(ctx, base, head)
	return &laneChange{Bases: bases, Target: base, Head: head, Complete: ends, Commits: commits}, err
}

// claimPushed finds the lanes of a push. On a branch other than the default one, the change is everything that the default
// branch lacks. A whole history is no change and has no lane.
func (j *judgement) claimPushed(ctx context.Context, r *run.Run) error {
	u := r.Scope.Update
	base, ends := cmp.Or(u.Target.ID, u.Old), u.Target.ID == ""
	if base == "" && len(u.Known) == 1 {
		base = u.Known[0]
	}
	if base == "" {
		return nil
	}
	commits, err := r.Source.Commits(ctx, []string{u.New}, []string{base})
	if err != nil {
		return err
	}
	steps := []landing{{base: base, head: u.New, commits: commits}}
	if ends && r.Options.Lane == "" {
		steps = splitQueue(commits, base, u.New)
	}
	for _, step := range steps {
		s, err := changeSince(ctx, r, step.base, step.head, ends, step.commits)
		if err == nil {
			err = j.add(ctx, r, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// indexChange returns the change in the index, which has no message yet.
func indexChange(parents []string) *laneChange {
	return &laneChange{Bases: parents, Head: history.Index, Commits: []history.Commit{{ID: history.Index, Parents: parents}}}
}

// Claimed returns the lane that is claimed for the change of which the index will be a part: the commits that head has and base lacks.
func Claimed(ctx context.Context, h history.History, base, head string, parents []string, opts run.Options) (lane.Claim, error) {
	r, s := run.New(h, opts, run.Scope{}), indexChange(parents)
	s.Target = base
	if base != "" && head != "" && base != head {
		commits, err := r.Source.Commits(ctx, []string{head}, []string{base})
		if err != nil {
			return lane.Claim{}, err
		}
		s.Commits = append(commits, s.Commits...)
		if s.Bases, err = h.MergeBases(ctx, base, head); err != nil {
			return lane.Claim{}, err
		}
	}
	err := findClaim(ctx, r, s)
	return s.Claim, err
}

// BranchClaim returns the claim of the commits that head has and base lacks.
func BranchClaim(ctx context.Context, h history.History, base, head string, opts run.Options) (lane.Claim, error) {
	s, err := claimedChange(ctx, run.New(h, opts, run.Scope{}), base, head)
	if err != nil {
		return lane.Claim{}, err
	}
	return s.ClaimAt[head], nil
}

// claimedChange returns the change that head has and base lacks, with its claim.
func claimedChange(ctx context.Context, r *run.Run, base, head string) (*laneChange, error) {
	commits, err := r.Source.Commits(ctx, []string{head}, []string{base})
	if err != nil {
		return nil, err
	}
	s, err := changeSince(ctx, r, base, head, true, commits)
	if err != nil {
		return nil, err
	}
	return s, findClaim(ctx, r, s)
}

func findClaim(ctx context.Context, r *run.Run, s *laneChange) error {
	s.run = r
	changes, err := r.Source.Changes(ctx, history.EdgesOf(s.Head, s.Bases))
	if err != nil {
		return err
	}
	var upstream lane.Claim
	if upstream, s.JobSwitched, err = jobClaims(ctx, r, changes); err != nil {
		return err
	}
	if s.Entries, err = addedEntries(ctx, r, history.Commit{ID: s.Head, Parents: s.Bases}, changes); err != nil {
		return err
	}
	said, err := findSwitches(ctx, r, s)
	if err != nil {
		return err
	}
	trailers := map[string][]string{}
	for _, c := range s.Commits {
		if history.Uncommitted(c.ID) {
			continue // it has no message yet
		}
		signature, err := r.Source.Signature(ctx, c.ID)
		if err != nil {
			return err
		}
		trailers[c.ID] = claimedLanes(signature.Message)
	}
	s.laneClaims = followLanes(s.Commits, said, trailers)
	labelled, unknown := labelClaim(r.Options.Labels)
	caller, _ := lane.Parse(r.Options.Lane)

	own := s.ClaimAt[s.Head]
	if s.Head == history.Index && !own.Made() {
		own = r.Options.BranchClaim
	}
	claims := []lane.Claim{
		{Lane: caller, Source: r.Options.Caller()},
		orStricter(own, upstream),
		orStricter(labelled, upstream),
		upstream,
		{Lane: lane.Default(r.Source.Policy), Source: lane.FromPolicy},
	}
	if first := slices.IndexFunc(claims, lane.Claim.Made); first >= 0 {
		s.Claim = claims[first]
	}
	if s.Claim.Commit == history.Index {
		s.Claim.Commit = ""
	}
	if least, _ := lane.Parse(settings(r).Minimum); s.Claim.Lane.Less(least) {
		documents, err := changesOnlyDocuments(ctx, r, s)
		if err != nil {
			return err
		}
		if !documents {
			s.Claim = lane.Claim{Lane: least, Source: lane.FromPolicy}
		}
	}
	s.Unknown = append(s.Unknown, unknown...)
	s.Rigour = settings(r).Rigour(string(s.Claim.Lane))
	return nil
}

// orStricter returns a claim, or the upstream one if its lane is stricter.
func orStricter(claim, upstream lane.Claim) lane.Claim {
	if claim.Made() && claim.Lane.Less(upstream.Lane) {
		return upstream
	}
	return claim
}

// labelClaim returns the strictest lane that a pull request's labels name, and the names that are no lanes.
func labelClaim(labels []string) (claim lane.Claim, unknown []unknownLane) {
	for _, label := range labels {
		name, _ := strings.CutPrefix(label, lane.LabelPrefix)
		l, ok := lane.Parse(name)
		if !ok {
			unknown = append(unknown, unknownLane{Name: name})
			continue
		}
		claim = lane.Claim{Lane: lane.Stricter(claim.Lane, l), Source: lane.FromLabel}
	}
	return claim, unknown
}

// followLanes follows the claims of commits, parents first: trailers are their trailers, and said has the lane of their last
// lane-switch entry. Of several claims of one commit the strictest counts. A commit without a claim keeps the
// strictest lane of its parents.
func followLanes(commits []history.Commit, said map[string]string, trailers map[string][]string) laneClaims {
	t := laneClaims{ClaimAt: map[string]lane.Claim{}, StrictestAt: map[string]lane.Claim{}}
	for _, c := range commits {
		var own, before, most lane.Claim
		var unknown []unknownLane
		claim := func(name string, source lane.Source) {
			switch l, ok := lane.Parse(name); {
			case !ok:
				unknown = append(unknown, unknownLane{Name: name, Commit: c.ID})
			case !l.Less(own.Lane):
				own = lane.Claim{Lane: l, Source: source, Commit: c.ID}
			}
		}
		if name := said[c.ID]; name != "" {
			claim(name, lane.FromEntry)
		}
		for _, name := range trailers[c.ID] {
			claim(name, lane.FromTrailer)
		}
		for _, p := range c.Parents {
			before, most = stricterClaim(before, t.ClaimAt[p]), stricterClaim(most, t.StrictestAt[p])
		}
		if !own.Made() {
			own = before
		}
		t.ClaimAt[c.ID], t.StrictestAt[c.ID] = own, stricterClaim(most, own)
		if own.Commit == c.ID {
			t.Unknown = nil
		}
		t.Unknown = append(t.Unknown, unknown...)
	}
	return t
}

// stricterClaim returns the second claim if its lane is stricter, else the first.
func stricterClaim(a, b lane.Claim) lane.Claim {
	if a.Lane.Less(b.Lane) {
		return b
	}
	return a
}

// isCounted reports whether lanes take a path into account.
func isCounted(r *run.Run, path string) bool {
	return lane.Counts(path) && !lane.PlacesIn(r.Source.Policy).HasRecord(path)
}

// isWork reports whether a change counts and is not to a document.
func isWork(r *run.Run, c history.Change) bool {
	return isCounted(r, c.Path) && !lane.IsDocument(c.Path, settings(r))
}

// changesOnlyDocuments reports whether a change touches only documents, among files that count.
func changesOnlyDocuments(ctx context.Context, r *run.Run, s *laneChange) (bool, error) {
	touched, err := changedFiles(ctx, r, s)
	return !slices.ContainsFunc(touched, func(c history.Change) bool { return isWork(r, c) }), err
}

// judge compares each change with the lane that it claims. The report has the strictest.
func (j *judgement) judge(ctx context.Context, r *run.Run) error {
	var strictest *laneChange
	for _, s := range j.all {
		if !s.isClaimed() {
			continue
		}
		r.Learned.HasFamilyWork = true
		if s.Claim.Made() {
			var err error
			if s.Report, err = classify(ctx, r, s); err != nil {
				return err
			}
		}
		var err error
		if s.Log, err = logFor(ctx, r, s); err != nil {
			return err
		}
		if strictest == nil || strictest.Claim.Lane.Less(s.Claim.Lane) {
			strictest = s
			r.Collector.Report.Lane = s.Report
		}
		s.Commit = s.Head
		if len(s.Bases) > 0 {
			s.Parent = s.Bases[0]
		}
		if err := r.Collector.Judge(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

var notASCII = expression.Of(`[^\x00-\x7f]+`)

// claimedLanes returns the names with which a commit's message claims lanes: in its trailers, and as single words in other
// lines that look like such a trailer, because a squash joins messages. The names need not be lanes. A run of bytes
// that are not ASCII becomes one U+FFFD, because the message may be in any encoding.
func claimedLanes(message string) []string {
	if !strings.Contains(strings.ToLower(message), "lane") {
		return nil
	}
	text := notASCII().ReplaceAllString(message, "\ufffd")
	var out []string
	claim := func(t history.Trailer) {
		if strings.EqualFold(t.Name, lane.Trailer) && !slices.Contains(out, t.Value) {
			out = append(out, t.Value)
		}
	}
	for _, t := range history.TrailersOf(text) {
		claim(t)
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if t, _ := history.ParseTrailer(strings.TrimSpace(line)); t.Value != "" && !strings.ContainsAny(t.Value, " \t") {
			claim(t)
		}
	}
	return out
}
