package small

import (
	"strings"
	"testing"
)

// TestNumbers lists how numbers are written in a digest, by how the file writes them.
func TestNumbers(t *testing.T) {
	for canonical, ways := range map[string][]string{
		"0":                               {"0", "-0", "+0", "0.0", "-0.0", "0e5", "0x0", "00", ".0", "0.", "!!float 0", "0e-999"},
		"1":                               {"1", "1.0", "1e0", "1E+0", "0x1", "0o1", "0b1", "+1", "01", "10e-1", "0.1e1", "1.", "!!int \"1\"", "!!float 1", "1.000"},
		"-1":                              {"-1", "-1.0", "-0x1", "-0b1", "-0o1", "-10E-1"},
		"8":                               {"8", "010", "0o10", "!!float 010", "!!float 0x8", "08", "0_8"},
		"1000":                            {"1000", "1_000", "1e3", "1.0e+3", "0x3e8", "0x3_e8", "1000.0", "1_000.0"},
		"485":                             {"485", "0x1e5", "!!float 0x1e5"},
		"0.1":                             {"0.1", "0.10", "1e-1", ".1", "+.1", "0.1e0", "01e-1"},
		"1204":                            {"1204", "1204.0", "0x4b4"},
		"123450000000":                    {"12345e7", "123450000000"},
		"9007199254740991":                {"9007199254740991", "0x1fffffffffffff"},
		"9007199254740992":                {"9007199254740992", "9007199254740992.0"},
		"9007199254740994":                {"9007199254740994"},
		"18446744073709552000":            {"18446744073709551616"}, // 2^64, which a double holds
		"1e+21":                           {"1e21", "1000000000000000000000", "1E+21"},
		"1e+22":                           {"1e22"},
		"1e-7":                            {"1e-7", "0.0000001"},
		"0.000001":                        {"0.000001", "1e-6"},
		"5e-324":                          {"5e-324"},
		"1.5e-300":                        {"1.5e-300", "15e-301"},
		`!!int"9007199254740993"`:         {"9007199254740993"},
		`!!int"18446744073709551615"`:     {"18446744073709551615"},
		`!!int"0x20000000000001"`:         {"0x20000000000001"},
		`!!float"18446744073709551617"`:   {"18446744073709551617"},
		`!!float"18446744073709552000"`:   {"18446744073709552000"},
		`!!float"1e23"`:                   {"1e23"},
		`!!float"1.7976931348623157e308"`: {"1.7976931348623157e308"},
		`!!float"0.1000000000000000055511151231257827"`: {"0.1000000000000000055511151231257827"},
		`!!float"9007199254740992.5"`:                   {"9007199254740992.5"},
		`!!float"2e-324"`:                               {"2e-324"},
		`!!float"1e-400"`:                               {"1e-400"},
		`!!float"1e-401"`:                               {"1e-401"},
		`!!float"1e-999999999"`:                         {"1e-999999999"},
		`!!float"1_0e-99999999999999999999"`:            {"1_0e-99999999999999999999"},
		`!!float".inf"`:                                 {".inf"},
		`!!float"+.Inf"`:                                {"+.Inf"},
		`!!float"-.inf"`:                                {"-.inf"},
		`!!float".NaN"`:                                 {".NaN"},
		`!!timestamp"2026-01-02"`:                       {"2026-01-02"},
		`!!timestamp"2026-01-02T03:04:05.6Z"`:           {"2026-01-02T03:04:05.6Z"},
		// Not a number to the parser.
		`"1e400"`:     {"1e400", "'1e400'"},
		`"-1e400"`:    {"-1e400"},
		`"1:30"`:      {"1:30"},
		`"0x"`:        {"0x"},
		`"08"`:        nil,
		`"1,000"`:     {"1,000"},
		`"१"`:         {"१"},
		`"12345"`:     {"\"12345\"", "!!str 12345", "!note 12345"},
		`"0b12"`:      {"0b12"},
		`"1.2.3"`:     {"1.2.3"},
		`"-"`:         {"\"-\""},
		`"1_000_.5e"`: {"1_000_.5e"},
	} {
		for _, way := range ways {
			if got := parsed(t, "a: "+way).Root.Get("a").Canonical(); got != canonical {
				t.Errorf("%s: %s, want %s", way, got, canonical)
			}
		}
	}
}

// TestNumbersInJSON: a whole number has one canonical form, in YAML and in JSON, with an exponent and without.
func TestNumbersInJSON(t *testing.T) {
	for _, text := range []string{"0", "-0", "-1", "-9223372036854775808", "-10000000000000000000000", "-1e22", "1e22", "18446744073709551616", "-18446744073709551616"} {
		doc, problems := ParseJSONValue([]byte(text), Limits{})
		if doc == nil {
			t.Fatal(problems)
		}
		if got, want := doc.Root.Canonical(), parsed(t, "a: "+text).Root.Get("a").Canonical(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestLongNumbers demands that a number too long for a double is kept as it is, in
// a time that does not grow with its exponent.
func TestLongNumbers(t *testing.T) {
	for _, text := range []string{strings.Repeat("7", 300), "0." + strings.Repeat("3", 900), strings.Repeat("0", 900) + ".5", "-" + strings.Repeat("1", 50) + "e-60"} {
		if got, want := parsed(t, "a: "+text).Root.Get("a").Canonical(), `!!float"`+text+`"`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNumbersDiffer compares the canonical forms of neighbouring doubles and
// of decimals around them: as many forms as numbers.
func TestNumbersDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, group := range [][]string{
		{"0.1", "0.10000000000000001", "0.1000000000000000055511151231257827", "0.10000000000000002"},
		{"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994", "9007199254740992.1"},
		{"18446744073709551615", "18446744073709551616", "18446744073709551617", "18446744073709552000"},
		{"1e22", "10000000000000000000001", "1e23", "99999999999999991611392"},
		{"1", "1.0000000000000001", "1.0000000000000002", "-1", "0", "5e-324", "4e-324", "1e-324"},
	} {
		for _, text := range group {
			got := parsed(t, "a: "+text).Root.Get("a").Canonical()
			if other, twice := seen[got]; twice {
				t.Errorf("%s and %s are both %s", text, other, got)
			}
			seen[got] = text
		}
	}
}
