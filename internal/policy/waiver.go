package policy

import "github.com/small-gate/small-gate/internal/ledger"

// edit is what tells the edits of waivers apart.
func (w Waiver) edit() string {
	return w.Rule + "\x00" + w.Path + "\x00" + ledger.DigestText(w.From) + "\x00" + ledger.DigestText(w.To)
}
