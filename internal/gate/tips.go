package gate

// LogTips is one ledger on two branches: the target that is to be merged into
// and the head that is to be merged.
type LogTips struct {
	Place
	*divergence
	path                 string
	targetName, headName string
	// merge says what to type to join the two.
	merge string
	// switches is true of a job's switch history.
	switches bool
}

// finding begins a finding about the two tips, at the head's first own entry.
func (t *LogTips) finding() Finding {
	f := Finding{Path: t.path, EditFrom: t.target.Head().String(), EditTo: t.head.Head().String()}
	own := t.headOnly
	if len(own) == 0 {
		own = t.inserted
	}
	if len(own) > 0 {
		f.Line, f.Column = own[0].Pos.Line, own[0].Pos.Column
		f.Entry = refOf(own[0])
	}
	return f
}
