package gate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/plain"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var (
	kindHistories    = flag.Int("kind-histories", gittest.Cases(60, 2000), "how many random histories of logs of the configuration are judged")
	kindRepositories = flag.Int("kind-repositories", gittest.Cases(3, 12), "how many of them are judged in real repositories too")
)

// kindWorld is a random history of logs of one kind.
type kindWorld struct {
	*tape
	kind    logKind
	parents [][]int
	trees   []fileTree
	pairs   [][2]int
	since   int
	rewrite *naiveRewrite
	evil    int
	tick    int
}

func buildKinds(t *tape) *kindWorld {
	w := &kindWorld{tape: t, since: -1}
	w.kind = logKinds[w.n(len(logKinds))]
	w.evil = []int{0, 0, 8, 3}[w.n(4)]
	withSince := w.oneIn(5)
	approve := !withSince && !w.kind.files && !w.kind.merged() && w.kind.Open == "" && w.oneIn(2)
	if approve {
		w.evil = 3
	}
	commits := 2 + w.n(9)
	for n := range commits {
		w.add(n, withSince || approve)
	}
	if approve {
		w.approve()
	}
	if withSince {
		w.since = w.n(commits)
	}
	for range 4 {
		w.pairs = append(w.pairs, [2]int{w.n(commits), commits - 1 - w.n(min(3, commits))})
	}
	return w
}

// approve approves what one of the commits did to log/a, if that was a rewrite.
func (w *kindWorld) approve() {
	at := "log/a" + w.kind.suffix
	first := w.n(len(w.trees))
	for i := range w.trees {
		c := (first + i) % len(w.trees)
		if len(w.parents[c]) != 1 {
			continue
		}
		before, now := readKind(w.kind, w.trees[w.parents[c][0]])[at], readKind(w.kind, w.trees[c])[at]
		if before.state == readable && now.state == readable && !(&kindModel{kind: w.kind}).keeps(before.entries, now.entries, false) && len(before.entries) > 0 {
			w.rewrite = &naiveRewrite{at: at, from: before.entries, to: now.entries, rawFrom: before.raw, rawTo: now.raw}
			return
		}
	}
}

// headOf is the ledger head of some entries.
func (w *kindWorld) headOf(entries []string) *small.Digest {
	var digests []small.Digest
	for _, e := range entries {
		d := small.Digest(sha256.Sum256([]byte(e)))
		if w.kind.Entries == policy.ListEntries {
			items, problems := small.ParseItems([]byte("["+e+"]"), true, "", small.Limits{})
			if len(problems) > 0 || len(items) != 1 {
				panic(fmt.Sprint(e, problems))
			}
			d = small.EntryDigest(items[0])
		}
		digests = append(digests, d)
	}
	if w.kind.unordered() {
		slices.SortFunc(digests, func(a, b small.Digest) int { return bytes.Compare(a[:], b[:]) })
	}
	head := ledger.HeadOf(digests)
	return &head
}

// add adds a commit: a change of its parent's tree, a merge, or a squash of one.
func (w *kindWorld) add(n int, onePlace bool) {
	if n == 0 {
		tree := fileTree{"README.md": {data: "x"}}
		w.parents, w.trees = append(w.parents, nil), append(w.trees, tree)
		for range w.n(4) {
			w.grow(tree, onePlace)
		}
		return
	}
	parent := n - 1
	if w.oneIn(3) {
		parent = w.n(n)
	}
	parents, tree := []int{parent}, maps.Clone(w.trees[parent])
	other := w.n(n)
	switch how := w.n(6); {
	case how == 5 && other != parent:
		tree = w.merge(parent, other)
		if !w.oneIn(3) {
			parents = append(parents, other)
		}
		if w.oneIn(4) {
			w.grow(tree, onePlace)
		}
	case w.evil > 0 && w.oneIn(w.evil):
		w.harm(tree, onePlace)
	case !onePlace && !w.kind.files && w.oneIn(5):
		w.rotate(tree)
	default:
		for range 1 + w.n(3) {
			w.grow(tree, onePlace)
		}
	}
	w.parents, w.trees = append(w.parents, parents), append(w.trees, tree)
}

// place is the path of a log, or a folder of one.
func (w *kindWorld) place(onePlace bool) string {
	n := w.n(6)
	if onePlace || n < 3 {
		return "log/a" + w.kind.suffix
	}
	return []string{"log/b", "log/sub/a", "log/sub/b"}[n%3] + w.kind.suffix
}

func (w *kindWorld) folder(onePlace bool) string {
	n := w.n(6)
	if onePlace || n < 3 {
		return "log/m"
	}
	return []string{"log", "log/m/x", "log/other"}[n%3]
}

// grow makes a change to one log that is mostly allowed.
func (w *kindWorld) grow(tree fileTree, onePlace bool) {
	w.tick++
	if w.kind.files {
		w.growFolder(tree, onePlace)
		return
	}
	at := w.place(onePlace)
	entries, ok := w.kind.read(tree[at].data)
	if !ok {
		entries = nil
	}
	entries = slices.Clone(entries)
	switch i := w.n(len(entries) + 1); {
	case i < len(entries) && !w.kind.plain() && w.oneIn(2):
		if next, may := w.revised(entries[i], i == len(entries)-1); may {
			entries[i] = next
			break
		}
		fallthrough
	default:
		if !w.kind.unordered() {
			i = len(entries)
		}
		entries = slices.Insert(entries, i, w.entry())
	}
	tree[at] = w.write(entries)
}

// growFolder adds a file, or changes what may change.
func (w *kindWorld) growFolder(tree fileTree, onePlace bool) {
	if files := w.logs(tree); len(files) > 0 && !w.kind.plain() && w.oneIn(2) {
		at := files[w.n(len(files))]
		if f := tree[at]; f.mode != "120000" && f.mode != "160000" {
			f.data, _ = w.revised(f.data, false)
			tree[at] = f
		}
		return
	}
	name := []string{"%d_a", "%d_b", "V%d_c", "%03d_d", "s%d"}[w.n(5)/4*w.n(5)]
	at := path.Join(w.folder(onePlace), fmt.Sprintf(name, w.tick)) + w.kind.suffix
	switch {
	case w.oneIn(8):
		at = path.Join(path.Dir(at), "draft"+fmt.Sprint(w.tick%2)+w.kind.suffix)
	case w.kind.Order == policy.ByNumber && w.oneIn(4): // the other half of a migration, or another one
		other := []string{".down", "b", ".no"}[w.n(3)]
		tree[strings.TrimSuffix(at, w.kind.suffix)+other+w.kind.suffix] = blobFile{data: w.content()}
	}
	tree[at] = blobFile{data: w.content(), mode: []string{"", "", "", "100755", "120000"}[w.n(5)]}
	if w.kind.anyEnd {
		for _, p := range w.logs(tree) {
			if w.oneIn(6) && tree[p].mode == "" {
				tree[p] = w.otherEnds(tree[p])
			}
		}
	}
}

func (w *kindWorld) otherEnds(f blobFile) blobFile {
	if strings.Contains(f.data, "\r\n") {
		return blobFile{data: strings.ReplaceAll(f.data, "\r\n", "\n")}
	}
	return blobFile{data: strings.ReplaceAll(f.data, "\n", "\r\n")}
}

func (w *kindWorld) content() string {
	if w.oneIn(6) {
		return "same\n"
	}
	if !w.kind.plain() {
		return fmt.Sprintf("Status: %s\ntext %d\n", w.status(), w.tick)
	}
	return fmt.Sprintf("text %d\nline\n", w.tick)
}

// write writes a log in some style.
func (w *kindWorld) write(entries []string) blobFile {
	f := blobFile{mode: []string{"", "", "", "100755"}[w.n(4)]}
	if w.kind.Entries == policy.ListEntries {
		f.data = `{"of": {"log": [` + strings.Join(entries, []string{",", ",\n  ", ",\r\n"}[w.n(3)]) + `]}, "n": ` + fmt.Sprint(w.n(3)) + "}\n"
		return f
	}
	if w.kind.Order == policy.NewestFirst {
		entries = slices.Clone(entries)
		slices.Reverse(entries)
	}
	end := []string{"\n", "\n", "\r\n", "\n\n"}[w.n(4)]
	f.data = strings.Join(entries, end)
	if len(entries) > 0 && !w.oneIn(4) {
		f.data += end
	}
	if w.kind.Entries == policy.BlockEntries && w.oneIn(3) {
		f.data = fmt.Sprintf("# Title %d\n\n", w.tick) + f.data
	}
	return f
}

// logs are the paths of a tree at which there may be something of a log.
func (w *kindWorld) logs(tree fileTree) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(tree)), func(p string) bool { return !strings.HasPrefix(p, "log/") })
}

// harm makes a change that is mostly not allowed.
func (w *kindWorld) harm(tree fileTree, onePlace bool) {
	all := w.logs(tree)
	if len(all) == 0 {
		return
	}
	at := all[w.n(len(all))]
	f := tree[at]
	how := w.n(12)
	if onePlace && (how == 1 || how == 2 || how == 3) {
		how = 0
	}
	switch how {
	case 0:
		delete(tree, at)
	case 1, 2: // move, or copy
		to := w.place(false)
		if w.kind.files {
			to = path.Join(w.folder(false), path.Base(at))
		}
		if how == 1 {
			delete(tree, at)
		}
		tree[to] = f
	case 3: // a whole folder, perhaps with more
		to := w.folder(false)
		for _, p := range all {
			if path.Dir(p) == path.Dir(at) && path.Dir(at) != to {
				tree[path.Join(to, path.Base(p))] = tree[p]
				delete(tree, p)
			}
		}
		if w.oneIn(2) {
			w.grow(tree, false)
		}
	case 4:
		tree[at] = blobFile{data: f.data, mode: "120000"}
	case 5:
		tree[at] = blobFile{data: hexID(fmt.Sprint(w.tick)), mode: "160000"}
	case 6:
		tree[at] = blobFile{data: "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1" + fmt.Sprint(w.n(3)) + "\n"}
	case 7: // an old version comes back
		if old, known := w.trees[w.n(len(w.trees))][at]; known {
			tree[at] = old
		}
	default:
		w.edit(tree, at)
	}
}

// rotate puts a log at the end of another, mostly whole, and begins it anew.
func (w *kindWorld) rotate(tree fileTree) {
	from, to := w.place(false), w.place(false)
	old, ok := w.kind.read(tree[from].data)
	archive, there := w.kind.read(tree[to].data)
	if _, known := tree[from]; from == to || !ok || !known {
		return
	}
	if !there {
		archive = nil
	}
	if w.evil > 0 && w.oneIn(w.evil) && len(old) > 0 {
		old = slices.Delete(slices.Clone(old), w.n(len(old)), len(old))
	}
	tree[to] = w.write(slices.Concat(archive, old))
	tree[from] = w.write([]string{w.entry()})
	if w.oneIn(3) {
		delete(tree, from)
	}
}

// edit changes entries of one log.
func (w *kindWorld) edit(tree fileTree, at string) {
	f := tree[at]
	if w.kind.files {
		switch w.n(4) {
		case 0:
			f.data += "more\n"
		case 1:
			f.mode = map[string]string{"": "100755", "100755": ""}[f.mode]
		case 2:
			delete(tree, at)
			at = path.Join(path.Dir(at), fmt.Sprintf("%d_z%s", w.n(20), w.kind.suffix))
		case 3:
			at, f = path.Join(path.Dir(at), fmt.Sprintf("%d_y%s", w.n(20), w.kind.suffix)), blobFile{data: w.content()}
		}
		tree[at] = f
		return
	}
	entries, ok := w.kind.read(f.data)
	if !ok || len(entries) == 0 {
		tree[at] = blobFile{data: `{"of"`}
		return
	}
	i, j := w.n(len(entries)), w.n(len(entries))
	switch w.n(6) {
	case 0:
		entries = slices.Delete(entries, i, i+1)
	case 1:
		entries[i] = w.entry()
	case 2:
		entries = slices.Insert(entries, i, w.entry())
	case 3:
		entries[i], entries[j] = entries[j], entries[i]
	case 4:
		entries = append(entries, entries[i])
	case 5:
		entries = entries[:i]
	}
	tree[at] = w.write(entries)
}

// merge joins two trees in one of the ways in which people and programs do.
func (w *kindWorld) merge(ours, theirs int) fileTree {
	a, b := w.trees[ours], w.trees[theirs]
	tree := maps.Clone(b)
	for _, p := range slices.Sorted(maps.Keys(a)) {
		f := a[p]
		other, both := b[p]
		if !both || f == other {
			tree[p] = f
			continue
		}
		x, okX := []string(nil), false
		var y []string
		okY := false
		if !w.kind.files && strings.HasPrefix(p, "log/") {
			x, okX = w.kind.read(f.data)
			y, okY = w.kind.read(other.data)
		}
		how := w.n(8)
		if !okX || !okY || how == 0 {
			tree[p] = []blobFile{f, other}[w.n(2)]
			continue
		}
		common := 0
		for common < min(len(x), len(y)) && x[common] == y[common] {
			common++
		}
		joined := append(slices.Clone(x), y[common:]...)
		if len(w.kind.Identity.Only) > 0 && how != 3 {
			how = 2
		}
		switch how {
		case 1:
			joined = append(slices.Clone(y), x[common:]...)
		case 2: // equal ones once
			joined = slices.Clone(x)
			for _, e := range y[common:] {
				if !slices.ContainsFunc(x, func(has string) bool { return w.kind.identity(has) == w.kind.identity(e) }) {
					joined = append(joined, e)
				}
			}
		case 3:
			joined = append(joined, w.entry())
		case 4:
			joined = slices.Insert(joined, common, w.entry())
		}
		tree[p] = w.write(joined)
	}
	return tree
}

func (w *kindWorld) model() *kindModel {
	m := &kindModel{kind: w.kind, moved: map[[3]int]map[string]string{}, parents: w.parents, since: w.since, rewrite: w.rewrite}
	for _, tree := range w.trees {
		m.logs = append(m.logs, readKind(w.kind, tree))
	}
	return m
}

// stanza writes the kind's stanza as a configuration has it.
func (w *kindWorld) stanza(ids []string) string {
	l := w.kind.Log
	text := fmt.Sprintf("version: 1\nlogs:\n  - path: %q\n    entries: %s\n    exclude: [%q]\n", l.Path, l.Entries, l.Exclude[0])
	if w.since >= 0 {
		l.Since = ids[w.since]
	}
	for _, given := range [][2]string{{"at", l.At}, {"start", l.Start}, {"order", l.Order}, {"frozen", l.Frozen}, {"since", l.Since}, {"open", l.Open}} {
		if given[1] != "" {
			text += fmt.Sprintf("    %s: %q\n", given[0], given[1])
		}
	}
	switch id := l.Identity; {
	case len(id.Only) > 0:
		text += fmt.Sprintf("    identity: {only: [%s]}\n", strings.Join(id.Only, ", "))
	case len(id.Without) > 0:
		text += fmt.Sprintf("    identity: {without: [%s]}\n", strings.Join(id.Without, ", "))
	case id.WithoutLines != "":
		text += fmt.Sprintf("    identity: {without_lines: %q}\n", id.WithoutLines)
	}
	return text
}

func (w *kindWorld) options(ids []string) run.Options {
	opts := testOptions()
	var err error
	if opts.Policy, err = policy.Parse("the test", []byte(w.stanza(ids)), catalogue.Known()); err != nil {
		panic(err)
	}
	opts.Policy.OutsideRepo = w.since >= 0 // it may begin after a commit that the head lacks
	if r := w.rewrite; r != nil {
		opts.Policy.Waivers = []policy.Waiver{{OfLog: true, Path: r.at, From: w.headOf(r.rawFrom), To: w.headOf(r.rawTo), Reason: "x"}}
	}
	return opts
}

func (w *kindWorld) history() (*memoryHistory, []string) {
	h := newMemoryHistory()
	var ids []string
	for i, tree := range w.trees {
		ids = append(ids, h.commit(tree, pick(ids, w.parents[i])...))
	}
	return h, ids
}

func (w *kindWorld) draw() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%+v since %d\n", w.kind.Log, w.since)
	if w.rewrite != nil {
		fmt.Fprintf(&out, "approved: %q -> %q\n", w.rewrite.from, w.rewrite.to)
	}
	for i, tree := range w.trees {
		fmt.Fprintf(&out, "c%d <- %v", i, w.parents[i])
		for _, p := range w.logs(tree) {
			fmt.Fprintf(&out, "  %s%s %q", p, tree[p].mode, tree[p].data)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// judgements are all the ways in which a world is judged, and what the model says about each.
func (w *kindWorld) judgements(visit func(what string, want modelVerdict, judge func(history.History, []string) *finding.Report)) {
	m, last := w.model(), len(w.trees)-1
	visit(fmt.Sprintf("audit of c%d", last), m.audit(last), func(h history.History, ids []string) *finding.Report {
		return gate.Audit(context.Background(), h, ids[last], w.options(ids))
	})
	into := func(ids []string, target, landed int) run.Options {
		opts := w.options(ids)
		opts.Branches = func(context.Context) (out history.Branches, err error) {
			out.Default = history.Tip{ID: ids[landed], Name: "main"}
			if target >= 0 {
				out.Target = history.Tip{ID: ids[target], Name: "main"}
			}
			return out, nil
		}
		return opts
	}
	visit(fmt.Sprintf("audit of c%d, which has landed", last), m.landed(last), func(h history.History, ids []string) *finding.Report {
		return gate.Audit(context.Background(), h, ids[last], into(ids, -1, last))
	})
	for _, pair := range w.pairs {
		if w.since >= 0 && !m.reach(pair[0])[w.since] {
			continue
		}
		visit(fmt.Sprintf("push of c%d over c%d on the default branch", pair[1], pair[0]), m.pushOnDefault(pair[0], pair[1]), func(h history.History, ids []string) *finding.Report {
			return gate.Push(context.Background(), h, history.Update{Ref: "refs/heads/main", Old: ids[pair[0]], New: ids[pair[1]]}, into(ids, pair[0], pair[1]))
		})
		visit(fmt.Sprintf("range c%d..c%d", pair[0], pair[1]), m.inRange(pair[0], pair[1]), func(h history.History, ids []string) *finding.Report {
			return gate.Range(context.Background(), h, ids[pair[0]], ids[pair[1]], w.options(ids))
		})
		visit(fmt.Sprintf("push of c%d over c%d", pair[1], pair[0]), m.push(pair[0], pair[1]), func(h history.History, ids []string) *finding.Report {
			return gate.Push(context.Background(), h, history.Update{Ref: "refs/heads/b", Old: ids[pair[0]], New: ids[pair[1]]}, w.options(ids))
		})
	}
}

// disagree returns the first difference between the gate and the model; "" if there is none.
func (w *kindWorld) disagree(seen *ways) string {
	h, ids := w.history()
	m := w.model()
	wrong := ""
	compare := func(what string, want modelVerdict, r *finding.Report) {
		seen.count(want)
		switch {
		case wrong != "":
		case r.Verdict == finding.Error:
			wrong = fmt.Sprintf("%s could not be judged: %v", what, r.Failure)
		case want != unsure && refuses(r) != (want == bad):
			wrong = fmt.Sprintf("%s is %s in the model, refused by the gate: %v\n%s", what, want, refuses(r), listFindings(r, ids))
		}
	}
	w.judgements(func(what string, want modelVerdict, judge func(history.History, []string) *finding.Report) {
		compare(what, want, judge(h, ids))
	})
	for c := range ids {
		if w.since >= 0 && m.reach(w.since)[c] {
			continue
		}
		h.stage(w.trees[c])
		compare(fmt.Sprintf("c%d as the index", c), m.commit(c), gate.Pending(context.Background(), h, pick(ids, w.parents[c]), w.options(ids)))
	}
	return wrong
}

func kindTape(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 7))
	out := make([]byte, 60+random.IntN(240))
	for i := range out {
		out[i] = byte(random.UintN(256))
	}
	return out
}

// TestKindsModel compares verdicts about random histories of configured logs with the naive model.
// A long run: go test ./internal/gate -run TestKindsModel -kind-histories=5000.
func TestKindsModel(t *testing.T) {
	var seen ways
	for i := range *kindHistories {
		bytes := kindTape(*firstSeed + uint64(i))
		check := func(b []byte) string { return buildKinds(&tape{bytes: b}).disagree(&seen) }
		if check(bytes) == "" {
			continue
		}
		bytes = shrink(bytes, func(b []byte) bool { return check(b) != "" })
		t.Fatalf("seed %d, made simpler:\n%s\n%s", *firstSeed+uint64(i), buildKinds(&tape{bytes: bytes}).draw(), check(bytes))
	}
	pass, fail, open := seen.pass.Load(), seen.fail.Load(), seen.unsure.Load()
	t.Logf("%d histories: %d judgements pass, %d fail, %d may do either", *kindHistories, pass, fail, open)
	if *kindHistories >= 100 && (pass < int64(*kindHistories) || fail < int64(*kindHistories) || open*20 > pass+fail) {
		t.Error("the histories are lopsided: they no longer test much")
	}
}

// TestKindsReaders judges such histories in real repositories, with each reader.
func TestKindsReaders(t *testing.T) {
	gittest.Long(t)
	for i := range *kindRepositories {
		seed := *firstSeed + uint64(i)
		w := buildKinds(&tape{bytes: kindTape(seed)})
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { judgeKindsInRepository(t, w) }) {
			t.Fatal(w.draw())
		}
	}
}

func judgeKindsInRepository(t *testing.T, w *kindWorld) {
	repo := gittest.New(t)
	var script strings.Builder
	for i, tree := range w.trees {
		fmt.Fprintf(&script, "commit refs/heads/c%d\nmark :%d\ncommitter T <t@example.com> %d +0000\ndata 1\nx\n", i, i+1, 1_700_000_000+i)
		for k, p := range w.parents[i] {
			fmt.Fprintf(&script, "%s :%d\n", []string{"from", "merge"}[min(k, 1)], p+1)
		}
		script.WriteString("deleteall\n")
		for _, p := range slices.Sorted(maps.Keys(tree)) {
			f := tree[p]
			switch f.mode {
			case "160000":
				fmt.Fprintf(&script, "M 160000 %s %s\n", f.data, p)
			case "":
				f.mode = "100644"
				fallthrough
			default:
				fmt.Fprintf(&script, "M %s inline %s\ndata %d\n%s\n", f.mode, p, len(f.data), f.data)
			}
		}
		script.WriteString("\n")
	}
	repo.GitInput(script.String(), "fast-import", "--quiet", "--force")
	var ids []string
	for i := range w.trees {
		ids = append(ids, repo.ID(fmt.Sprintf("refs/heads/c%d", i)))
	}
	git, err := githistory.Open(t.Context(), repo.Dir, githistory.Options{Environ: repo.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	own, err := plain.Open(t.Context(), repo.Dir, repo.Environ())
	if err != nil {
		t.Fatal(err)
	}
	w.judgements(func(what string, want modelVerdict, judge func(history.History, []string) *finding.Report) {
		byGit, byOwn := judge(git, ids), judge(own, ids)
		if diff := gocmp.Diff(byGit, byOwn, whole); diff != "" {
			t.Errorf("%s: the readers' reports differ (-git +go-git)\n%s", what, diff)
		}
		if byOwn.Verdict == finding.Error || want != unsure && refuses(byOwn) != (want == bad) {
			t.Errorf("%s is %s in the model, %s in the repository: %v\n%s", what, want, byOwn.Verdict, byOwn.Failure, listFindings(byOwn, ids))
		}
	})
	for _, err := range []error{git.Close(), own.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
}
