package gate_test

import "testing"

// FuzzHistory lets a fuzzer choose the histories that TestModel makes at
// random: the bytes are the choices.
func FuzzHistory(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomTape(seed))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) > 1000 {
			t.Skip("longer than any history needs")
		}
		w := buildWorld(&tape{bytes: bytes})
		var seen ways
		if d := disagreement(w, true, &seen); d != "" {
			t.Fatalf("%s\n%s", w.draw(), d)
		}
	})
}
