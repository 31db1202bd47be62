package small

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// canonicalNumber writes a number as RFC 8785 does (section 3.2.2.3, that is
// ECMAScript's number to string). ok is false when a double does not hold the
// number: an integer must be equal to the double; a fraction must be the
// shortest decimal that stands for it, so that 0.1, 0.10 and 1e-1 are one
// number and 0.1000000000000000055 is another.
func canonicalNumber(v *Value) (text string, ok bool) {
	if plainInteger(v.Text) {
		return v.Text, true
	}
	exact, ok := rational(v)
	if !ok {
		return "", false
	}
	double, _ := exact.Float64()
	if math.IsInf(double, 0) {
		return "", false
	}
	if exact.IsInt() {
		if new(big.Rat).SetFloat64(double).Cmp(exact) != 0 {
			return "", false
		}
	} else {
		shortest, good := new(big.Rat).SetString(strconv.FormatFloat(double, 'e', -1, 64))
		if !good || shortest.Cmp(exact) != 0 {
			return "", false
		}
	}
	if double == 0 {
		double = 0 // RFC 8785 has no negative zero
	}
	out, err := json.Marshal(double) // encoding/json writes numbers as ECMAScript does
	return string(out), err == nil
}

// plainInteger reports whether text is already a canonical number, as nearly
// all are: a decimal integer of at most 15 digits, without sign and leading
// zeros.
func plainInteger(text string) bool {
	if text == "" || len(text) > 15 || text[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// maxExponent bounds the arithmetic on a number's source text: 1e999999999
// would need a gigabyte as an exact fraction, and no double reaches 1e400.
const maxExponent = 400

// rational reads a number's source text exactly. YAML allows underscores,
// other bases and signs.
func rational(v *Value) (*big.Rat, bool) {
	if v.Tag == intTag {
		var decoded any
		node := yaml.Node{Kind: yaml.ScalarNode, Tag: intTag, Value: v.Text}
		if err := node.Decode(&decoded); err != nil {
			return nil, false
		}
		switch n := decoded.(type) {
		case int:
			return new(big.Rat).SetInt64(int64(n)), true
		case int64:
			return new(big.Rat).SetInt64(n), true
		case uint64:
			return new(big.Rat).SetInt(new(big.Int).SetUint64(n)), true
		}
	}
	text := strings.ReplaceAll(v.Text, "_", "")
	if _, exp, found := strings.Cut(strings.ToLower(text), "e"); found {
		if n, err := strconv.Atoi(exp); err != nil || n > maxExponent || n < -maxExponent {
			return nil, false
		}
	}
	if len(text) > 2*maxExponent {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
