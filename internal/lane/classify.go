package lane

import (
	"slices"

	"github.com/small-gate/small-gate/internal/policy"
)

// Fits is the lane with the least rigour that allows every signal.
func Fits(signals []Signal) Lane {
	fits := Fast
	for i := range signals {
		fits = Stricter(fits, signals[i].Fits)
	}
	return fits
}

// Refused are the signals that a lane does not allow.
func Refused(l Lane, signals []Signal) []Signal {
	var out []Signal
	for i := range signals {
		if l.Less(signals[i].Fits) {
			out = append(out, signals[i])
		}
	}
	return out
}

// Why says in a sentence why a lane fits a change of files that shows signals.
func Why(signals []Signal, files []File, cfg *policy.Lanes) string {
	switch Fits(signals) {
	case Deep:
		return "any one strong signal makes deep right"
	case Standard:
		return "it shows what fast does not allow, and no strong signal"
	}
	switch {
	case len(files) == 0:
		return "it changes no file that counts"
	case slices.ContainsFunc(files, func(f File) bool { return wantsTests(&f, cfg) }):
		return "it is small, the code that it touches has tests, and it shows no signal that asks for more"
	}
	return "it is small, touches no code that would need tests, and shows no signal that asks for more"
}
