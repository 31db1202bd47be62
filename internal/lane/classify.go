package lane

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

// Why says in a sentence why a lane fits.
func Why(signals []Signal) string {
	switch Fits(signals) {
	case Deep:
		return "any one strong signal makes deep right"
	case Standard:
		return "it shows what fast does not allow, and no strong signal"
	}
	return "it is small, what it touches has tests, and it shows no signal that asks for more"
}
